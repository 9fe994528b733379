package check

import (
	"context"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/kit/book"
)

// judgement is what the rules say about the body of one line, whose it is and
// what it brings. Its error is the *landfall.Error a caller of the service would
// get.
type judgement struct {
	key      landfall.Key
	figures  landfall.Figures
	warnings []landfall.Violation
	err      error
}

// check reads and judges one line.
type check func(ctx context.Context, body []byte, settings *landfall.Supplier, now time.Time) judgement

var checks = map[book.Kind]check{
	book.Accounts: func(ctx context.Context, body []byte, settings *landfall.Supplier, now time.Time) judgement {
		account, err := contract.ReadAccount(ctx, body)
		if err != nil {
			return judgement{figures: unread(book.Accounts), err: err}
		}
		defer account.Release()
		return judged(account.Key(), account.Figures(settings.Currency), account.Check(settings, now))
	},
	book.Notes: func(ctx context.Context, body []byte, settings *landfall.Supplier, now time.Time) judgement {
		request, err := contract.ReadNotes(ctx, body)
		if err != nil {
			return judgement{err: err}
		}
		defer request.Release()
		return judged(request.Key(), request.Figures(), request.Check(settings, now))
	},
	book.Transactions: func(ctx context.Context, body []byte, settings *landfall.Supplier, now time.Time) judgement {
		request, err := contract.ReadTransactions(ctx, body)
		if err != nil {
			return judgement{err: err}
		}
		defer request.Release()
		return judged(request.Key(), request.Figures(), request.Check(settings, now, true))
	},
	book.Statements: func(ctx context.Context, body []byte, settings *landfall.Supplier, now time.Time) judgement {
		request, err := contract.ReadStatements(ctx, body)
		if err != nil {
			return judgement{err: err}
		}
		defer request.Release()
		return judged(request.Key(), request.Figures(), request.Check(settings, now))
	},
	book.Instructions: func(ctx context.Context, body []byte, _ *landfall.Supplier, _ time.Time) judgement {
		request, err := contract.ReadInstruction(ctx, body)
		return judgement{key: request.Key, figures: landfall.Figures{Instructions: 1}, err: err}
	},
}

func judged(key landfall.Key, figures landfall.Figures, verdict contract.Verdict) judgement {
	judgement := judgement{key: key, figures: figures, warnings: verdict.Warnings}
	if err := verdict.Err(); err != nil {
		judgement.err = err
	}
	return judgement
}

// unread is what is known of a line that nobody can read: one of an account is
// an account all the same.
func unread(kind book.Kind) (figures landfall.Figures) {
	if kind == book.Accounts {
		figures.Accounts = 1
	}
	return figures
}

// where names a line for people.
func where(of *book.Book, at place) string {
	return of.Files[at.file].At(int(at.line))
}
