package landfall

import (
	"context"
	"time"
)

// UndoRequest asks that an account be taken back: that it be as if it had only
// been staged.
type UndoRequest struct {
	Key    Key
	Number string // only the account with this number; "" means whichever there is
	Reason string
	Run    string // only an account that was created in this run; "" means in whichever or none

	Actor, Source, RequestID string // for the audit
}

// UndoVerdict says what became of an Undoing.
type UndoVerdict uint8

// The verdicts. Only Undone changes anything.
const (
	Undone        UndoVerdict = iota + 1
	AlreadyUndone             // the account with the number asked for was taken back earlier
	UndoKept                  // it cannot be taken back any more
	UndoNoAccount             // nothing is imported under the key, or not with the number or in the run
)

// KeptReason is why an account cannot be taken back any more.
type KeptReason string

// The reasons. Where several hold the first one is told.
const (
	KeptWindowOver    KeptReason = CodeWindowOver    // it was created too long ago
	KeptHasPostings   KeptReason = CodeHasPostings   // something was added to it since
	KeptCustomersTold KeptReason = CodeCustomersTold // a mail about it was sent, or is being sent
	KeptErased        KeptReason = CodeErased        // there is nothing left that it could be staged from
)

// KeptReasons lists the reasons in the order they are looked at.
var KeptReasons = []KeptReason{KeptWindowOver, KeptHasPostings, KeptCustomersTold, KeptErased}

// UndoOutcome is the answer to one Undoing.
type UndoOutcome struct {
	Verdict UndoVerdict
	Number  string     // of the account that was taken back or kept
	At      time.Time  // when it was taken back, with Undone and UndoneBefore
	Kept    KeptReason // with UndoKept
}

// UndoForecast is what the undo of a run would come to at this moment, account
// by account and not by rule of thumb.
type UndoForecast struct {
	Undoable      int                // would be taken back
	Kept          map[KeptReason]int // would be kept, by what keeps them
	AlreadyUndone int                // were taken back before
}

// Plus counts another part of the same run in. Neither of the two is changed.
func (f UndoForecast) Plus(part UndoForecast) UndoForecast {
	kept := make(map[KeptReason]int, len(f.Kept)+len(part.Kept))
	for _, counts := range []map[KeptReason]int{f.Kept, part.Kept} {
		for reason, count := range counts {
			kept[reason] += count
		}
	}
	return UndoForecast{Undoable: f.Undoable + part.Undoable, AlreadyUndone: f.AlreadyUndone + part.AlreadyUndone, Kept: kept}
}

// AllKept is how many accounts would be kept, for whatever reason.
func (f UndoForecast) AllKept() (all int) {
	for _, count := range f.Kept {
		all += count
	}
	return all
}

// UndoneAccount is what remains of an account that was taken back: its number,
// which nobody gets again, and who did it why.
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
