package proofread

import (
	"context"
	"iter"
	"runtime"
	"time"

	"landfall"
	"landfall/internal/book"
	"landfall/internal/contract"
)

// check reads and judges the body of one line. Its error is always the
// *landfall.Error a caller of the service would get.
type check func(ctx context.Context, body []byte, settings *landfall.Supplier, now time.Time) (landfall.Key, contract.Verdict, error)

var checks = map[book.Kind]check{
	book.Accounts: func(ctx context.Context, body []byte, settings *landfall.Supplier, now time.Time) (landfall.Key, contract.Verdict, error) {
		account, err := contract.ReadAccount(ctx, body)
		if err != nil {
			return landfall.Key{}, contract.Verdict{}, err
		}
		return judged(account.Key(), account.Check(settings, now))
	},
	book.Notes: func(ctx context.Context, body []byte, settings *landfall.Supplier, now time.Time) (landfall.Key, contract.Verdict, error) {
		request, err := contract.ReadNotes(ctx, body)
		if err != nil {
			return landfall.Key{}, contract.Verdict{}, err
		}
		return judged(request.Key(), request.Check(settings, now))
	},
	book.Transactions: func(ctx context.Context, body []byte, settings *landfall.Supplier, now time.Time) (landfall.Key, contract.Verdict, error) {
		request, err := contract.ReadTransactions(ctx, body)
		if err != nil {
			return landfall.Key{}, contract.Verdict{}, err
		}
		return judged(request.Key(), request.Check(settings, now, true))
	},
	book.Statements: func(ctx context.Context, body []byte, settings *landfall.Supplier, now time.Time) (landfall.Key, contract.Verdict, error) {
		request, err := contract.ReadStatements(ctx, body)
		if err != nil {
			return landfall.Key{}, contract.Verdict{}, err
		}
		return judged(request.Key(), request.Check(settings, now))
	},
	book.Instructions: func(ctx context.Context, body []byte, _ *landfall.Supplier, _ time.Time) (landfall.Key, contract.Verdict, error) {
		request, err := contract.ReadInstruction(ctx, body)
		return request.Key, contract.Verdict{}, err
	},
}

func judged(key landfall.Key, verdict contract.Verdict) (landfall.Key, contract.Verdict, error) {
	if err := verdict.Err(); err != nil {
		return key, verdict, err
	}
	return key, verdict, nil
}

// checked reads a file on all cores and gives what was read in order. A few
// blocks wait for their turn at most, however long the file is.
func checked(
	ctx context.Context, file book.File, check func(context.Context, book.Kind, book.Line) reading,
) iter.Seq2[[]reading, error] {
	type outcome struct {
		lines []reading
		err   error
	}
	return func(yield func([]reading, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		turns := make(chan chan outcome, runtime.GOMAXPROCS(0))
		go func() {
			defer close(turns)
			for block, err := range file.Blocks() {
				turn := make(chan outcome, 1)
				select {
				case turns <- turn:
				case <-ctx.Done():
					return
				}
				if err != nil {
					turn <- outcome{err: err}
					return
				}
				go func() {
					var lines []reading
					for line := range block.Lines() {
						lines = append(lines, check(ctx, file.Kind, line))
					}
					turn <- outcome{lines: lines}
				}()
			}
		}()
		for turn := range turns {
			done := <-turn
			if !yield(done.lines, done.err) {
				return
			}
		}
	}
}

// where names a line for people.
func where(of *book.Book, at place) string {
	return of.Files[at.file].At(int(at.line))
}
