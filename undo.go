package landfall

import (
	"context"
	"time"
)

// UndoRequest asks to undo the creation of an account, so that it is only staged
// again.
type UndoRequest struct {
	Key    Key
	Number string // only the account with this number; "" means any
	Reason string
	Run    string // only an account that was created in this run; "" means any
	// TakenBack says that the account was deleted at its target after HoldDeliveries.
	TakenBack bool

	Actor, Source, RequestID string // for the audit
}

// UndoVerdict is the result of an UndoRequest.
type UndoVerdict uint8

// The verdicts. Only Undone changes anything.
const (
	Undone        UndoVerdict = iota + 1
	AlreadyUndone             // the account with this number was undone earlier
	UndoKept                  // it can no longer be undone
	UndoNoAccount             // no account is imported with the key, the number or in the run
)

// KeptReason is why an account can no longer be undone.
type KeptReason string

// The reasons. When several apply, the first one is reported.
const (
	KeptWindowOver    KeptReason = CodeWindowOver    // it was created too long ago
	KeptHasPostings   KeptReason = CodeHasPostings   // something was added to it since
	KeptCustomersTold KeptReason = CodeCustomersTold // a mail about it was sent, or is being sent
	KeptErased        KeptReason = CodeErased        // there is nothing left to stage it from
	KeptDelivered     KeptReason = CodeDelivered     // it was delivered to a target, or may have been
)

// KeptReasons lists the reasons in the order they are checked.
var KeptReasons = []KeptReason{KeptWindowOver, KeptHasPostings, KeptErased, KeptCustomersTold, KeptDelivered}

// UndoOutcome is the answer to one UndoRequest.
type UndoOutcome struct {
	Verdict UndoVerdict
	Number  string     // of the account that was undone or kept
	At      time.Time  // when it was undone, with Undone and AlreadyUndone
	Kept    KeptReason // with UndoKept
}

// UndoForecast is what the undo of a run would do now, counted account by
// account.
type UndoForecast struct {
	Undoable      int                // would be undone
	Kept          map[KeptReason]int // would be kept, by reason
	AlreadyUndone int                // were undone before
}

// Plus returns the sum of two parts of a run and changes neither.
func (f UndoForecast) Plus(part UndoForecast) UndoForecast {
	kept := make(map[KeptReason]int, len(f.Kept)+len(part.Kept))
	for _, counts := range []map[KeptReason]int{f.Kept, part.Kept} {
		for reason, count := range counts {
			kept[reason] += count
		}
	}
	return UndoForecast{Undoable: f.Undoable + part.Undoable, AlreadyUndone: f.AlreadyUndone + part.AlreadyUndone, Kept: kept}
}

// AllKept is how many accounts would be kept for any reason.
func (f UndoForecast) AllKept() (all int) {
	for _, count := range f.Kept {
		all += count
	}
	return all
}

// UndoneAccount is what remains of an account that was undone: its number, which
// is never assigned again, and who undid it and why.
type UndoneAccount struct {
	Key       Key
	Number    string
	CreatedAt time.Time
	UndoneAt  time.Time
	Actor     string
	Reason    string
	Run       string // in which it had been created, "" for none
}

// UndoReader reads what was undone and what could be.
type UndoReader interface {
	// UndoneAccount returns the undone account that had a number, or ErrNotFound.
	UndoneAccount(ctx context.Context, number string) (UndoneAccount, error)
	// UndoneAccounts returns the undone accounts of a process, oldest first.
	UndoneAccounts(ctx context.Context, key Key) ([]UndoneAccount, error)
	// UndoneOf returns how often an account of a supplier was undone.
	UndoneOf(ctx context.Context, supplier string) (int, error)
	// UndoneInRun returns how many of the accounts that a run created were undone.
	UndoneInRun(ctx context.Context, run string) (int, error)
	// UndoForecast returns what Undo would answer now for accounts that a run
	// created: for at most limit of its members, starting with member from, counted
	// from 0. After the last member it counts nothing.
	UndoForecast(ctx context.Context, run string, from, limit int) (UndoForecast, error)
	// UndoFigures returns how many accounts were ever undone, and how often one was
	// kept for each reason.
	UndoFigures(ctx context.Context) (undone int, kept map[KeptReason]int, err error)
}
