package check

import (
	"context"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/kit/book"
)

// lineVerdict is the result of checking one line: its account, its figures, and what is wrong. err
// is the *landfall.Error that a caller of the service would get.
type lineVerdict struct {
	key      landfall.Key
	figures  landfall.Figures
	warnings []landfall.Violation
	err      error

	identifiers []landfall.Identifier
}

type checkFunc func(ctx context.Context, schema *contract.Schema, body []byte, settings *landfall.Supplier, now time.Time) lineVerdict

var checkers = map[book.Kind]checkFunc{
	book.Accounts: func(ctx context.Context, schema *contract.Schema, body []byte, settings *landfall.Supplier, now time.Time) lineVerdict {
		account, err := schema.ReadAccount(ctx, body)
		if err != nil {
			return lineVerdict{figures: unreadableFigures(book.Accounts), err: err}
		}
		defer account.Release()
		verdict := newLineVerdict(account.Key(), account.Figures(settings.Currency), account.Check(settings, now))
		verdict.identifiers = account.Identifiers(settings)
		return verdict
	},
	book.Notes: func(ctx context.Context, schema *contract.Schema, body []byte, settings *landfall.Supplier, now time.Time) lineVerdict {
		request, err := schema.ReadNotes(ctx, body)
		if err != nil {
			return lineVerdict{err: err}
		}
		defer request.Release()
		return newLineVerdict(request.Key(), request.Figures(), request.Check(settings, now))
	},
	book.Transactions: func(ctx context.Context, schema *contract.Schema, body []byte, settings *landfall.Supplier, now time.Time) lineVerdict {
		request, err := schema.ReadTransactions(ctx, body)
		if err != nil {
			return lineVerdict{err: err}
		}
		defer request.Release()
		return newLineVerdict(request.Key(), request.Figures(), request.Check(settings, now, true))
	},
	book.Statements: func(ctx context.Context, schema *contract.Schema, body []byte, settings *landfall.Supplier, now time.Time) lineVerdict {
		request, err := schema.ReadStatements(ctx, body)
		if err != nil {
			return lineVerdict{err: err}
		}
		defer request.Release()
		return newLineVerdict(request.Key(), request.Figures(), request.Check(settings, now))
	},
	book.Instructions: func(ctx context.Context, _ *contract.Schema, body []byte, _ *landfall.Supplier, _ time.Time) lineVerdict {
		request, err := contract.ReadInstruction(ctx, body)
		return lineVerdict{key: request.Key, figures: landfall.Figures{Instructions: 1}, err: err,
			identifiers: []landfall.Identifier{contract.InstructionIdentifier(request.Instruction)}}
	},
}

func newLineVerdict(key landfall.Key, figures landfall.Figures, verdict contract.Verdict) lineVerdict {
	judgement := lineVerdict{key: key, figures: figures, warnings: verdict.Warnings}
	if err := verdict.Err(); err != nil {
		judgement.err = err
	}
	return judgement
}

// unreadableFigures are the figures of a line that cannot be parsed: a line of accounts still
// counts as an account.
func unreadableFigures(kind book.Kind) (figures landfall.Figures) {
	if kind == book.Accounts {
		figures.Accounts = 1
	}
	return figures
}

func describe(of *book.Book, at location) string {
	return of.Files[at.file].At(int(at.line))
}
