package sqlstore

import (
	"context"
	"maps"
	"slices"

	"landfall"
)

// Short names for what travels together.
type (
	undoCall = pendingCall[*undoing, landfall.UndoOutcome]
	openUndo = pendingCalls[*undoing, landfall.UndoOutcome]
)

// undoing is one call of Undo with what was found of its account.
type undoing struct {
	landfall.UndoRequest
	id      int64
	number  string
	created int64
	now     int64
	inTime  bool
	posted  bool   // something was added to it
	erased  bool   // what is personal of it is gone
	madeIn  string // the run
}

// undoWeight stands for the rows of an account, of which nobody knows the
// number beforehand: not too many go together.
const undoWeight = 64 << 10

// Undo takes an account back.
func (s *Store) Undo(ctx context.Context, wanted landfall.UndoRequest) (landfall.UndoOutcome, error) {
	for _, text := range []string{wanted.Key.Supplier, wanted.Key.External, wanted.Number, wanted.Actor, wanted.Reason, wanted.Run} {
		if !storable(text) {
			return landfall.UndoOutcome{}, errUnstorable
		}
	}
	return s.undos.do(ctx, wanted.Key, undoWeight, &undoing{UndoRequest: wanted})
}

// undo takes a batch of accounts back, and says of each what became of it. It
// decides only when it holds the process, against whoever stages, creates or
// undoes, and the account, against whoever adds to it.
func (t *tx) undo(ctx context.Context, batch []*undoCall) error {
	open := newPendingCalls(batch)
	found, err := t.holdImported(ctx, open)
	if err != nil {
		return err
	}
	if err := t.undoneBefore(ctx, open); err != nil {
		return err
	}
	if err := t.holdUndone(ctx, found); err != nil {
		return err
	}
	mailed, err := t.mailed(ctx, found)
	if err != nil {
		return err
	}
	var gone []*undoCall
	times := map[landfall.KeptReason]int64{}
	for _, one := range found {
		// Who takes a run back means what that run made. An account that was taken
		// back and created again since is not among it.
		if run := one.wanted.Run; run != "" && run != one.wanted.madeIn {
			one.outcome = landfall.UndoOutcome{Verdict: landfall.UndoNoAccount}
			continue
		}
		kept, err := t.keeps(ctx, one, mailed)
		if err != nil {
			return err
		}
		one.outcome = landfall.UndoOutcome{Verdict: landfall.UndoKept, Number: one.wanted.number, Kept: kept}
		if kept == "" {
			one.outcome = landfall.UndoOutcome{Verdict: landfall.Undone, Number: one.wanted.number, At: moment(one.wanted.now)}
			gone = append(gone, one)
		} else {
			times[kept]++
		}
	}
	if err := t.removeUndone(ctx, gone); err != nil {
		return err
	}
	if err := t.countUndone(ctx, gone); err != nil {
		return err
	}
	return t.countKept(ctx, times)
}

// countUndone counts accounts that are gone with the runs that had created them.
// Like what follows it comes late, for whoever counts with the same run waits.
func (t *tx) countUndone(ctx context.Context, gone []*undoCall) error {
	counts := map[string]int64{}
	for _, one := range gone {
		if run := one.wanted.madeIn; run != "" {
			counts[run]++
		}
	}
	for _, run := range slices.Sorted(maps.Keys(counts)) { // in one order for everybody
		if _, err := t.exec(ctx, `UPDATE run SET undone = undone + $2 WHERE number = $1`, run, counts[run]); err != nil {
			return err
		}
	}
	return nil
}

// countKept counts accounts that were kept. It comes last, since whoever counts
// the same waits from here on.
func (t *tx) countKept(ctx context.Context, times map[landfall.KeptReason]int64) error {
	for _, reason := range landfall.KeptReasons { // in one order for everybody
		if times[reason] == 0 {
			continue
		}
		if _, err := t.exec(ctx, `INSERT INTO undo_refusal (reason, times) VALUES ($1, $2)
			ON CONFLICT (reason) DO UPDATE SET times = undo_refusal.times + excluded.times`, string(reason), times[reason]); err != nil {
			return err
		}
	}
	return nil
}

// keeps says what keeps an account from being taken back, if anything does.
// Its mails are looked at last, since those that wait are withdrawn with it.
func (t *tx) keeps(ctx context.Context, one *undoCall, mailed map[int64]bool) (landfall.KeptReason, error) {
	switch {
	case !one.wanted.inTime:
		return landfall.KeptWindowOver, nil
	case one.wanted.posted:
		return landfall.KeptHasPostings, nil
	case one.wanted.erased:
		return landfall.KeptErased, nil
	case mailed[one.wanted.id]:
		told, err := t.RetractMails(ctx, one.key)
		if told {
			return landfall.KeptCustomersTold, err
		}
		return "", err
	}
	return "", nil
}
