package landfall

import "time"

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
	AlreadyUndone              // the account with the number asked for was taken back earlier
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
	Undoable int                // would be taken back
	Kept     map[KeptReason]int // would be kept, by what keeps them
	AlreadyUndone     int                // were taken back before
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
