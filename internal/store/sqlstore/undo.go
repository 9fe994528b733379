package sqlstore

import (
	"context"
	"maps"
	"slices"

	"landfall"
	"landfall/internal/store/sqlset"
)

// Short names for the calls of a batch.
type (
	undoCall = pendingCall[*undoing, landfall.UndoOutcome]
	openUndo = pendingCalls[*undoing, landfall.UndoOutcome]
)

// undoing is one call of Undo, with what was found about its account.
type undoing struct {
	landfall.UndoRequest
	id      int64
	number  string
	created int64
	now     int64
	inTime  bool
	posted  int    // postings since it was created
	others  int    // those that did not come with its delivery
	erased  bool   // its personal data is gone
	damaged bool   // its document is missing, or not the one that was staged
	run     string // the run that created it
}

// undoWeight is a guess for the rows of an account, whose number is not known
// in advance. It keeps batches small.
const undoWeight = 64 << 10

// Undo undoes the creation of an account.
func (s *Store) Undo(ctx context.Context, wanted landfall.UndoRequest) (landfall.UndoOutcome, error) {
	for _, text := range []string{wanted.Key.Supplier, wanted.Key.External, wanted.Actor, wanted.Reason, wanted.Run} {
		if !storable(text) {
			return landfall.UndoOutcome{}, errUnstorable
		}
	}
	return runVerb(ctx, s, s.undos, wanted.Key, undoWeight, &undoing{UndoRequest: wanted})
}

// undo undoes a batch of accounts and sets the outcome of each. It decides only
// after locking the process, against staging, creation and other undos, and the
// account, against postings.
func (t *tx) undo(ctx context.Context, batch []*undoCall) error {
	open := sqlset.NewPending(batch)
	found, err := t.lockForUndo(ctx, open)
	if err != nil {
		return err
	}
	for _, one := range open.ByKey {
		open.Set(one, landfall.UndoOutcome{Verdict: landfall.UndoNoAccount})
	}
	if err := t.lockUndoAccounts(ctx, found); err != nil {
		return err
	}
	if err := t.readUndoRecords(ctx, found); err != nil {
		return err
	}
	mailed, err := t.mailed(ctx, found)
	if err != nil {
		return err
	}
	delivered, err := t.withDeliveries(ctx, found)
	if err != nil {
		return err
	}
	var gone []*undoCall
	times := map[landfall.KeptReason]int64{}
	for _, one := range found {
		// Undoing a run means the accounts that this run created. An account
		// that was undone and created again since is not one of them.
		if run := one.Wanted.Run; run != "" && run != one.Wanted.run {
			one.Outcome = landfall.UndoOutcome{Verdict: landfall.UndoNoAccount}
			continue
		}
		if u := one.Wanted; u.AllPostings && u.Saved != u.posted {
			one.Outcome = landfall.UndoOutcome{Verdict: landfall.UndoUnsaved, Number: u.number}
			continue
		}
		kept, err := t.keptReason(ctx, one, mailed, delivered)
		if err != nil {
			return err
		}
		one.Outcome = landfall.UndoOutcome{Verdict: landfall.UndoKept, Number: one.Wanted.number, Kept: kept}
		if kept == "" {
			one.Outcome = landfall.UndoOutcome{Verdict: landfall.Undone, Number: one.Wanted.number, At: moment(one.Wanted.now)}
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

// countUndone adds undone accounts to the counters of the runs that created
// them. Like countKept it runs late, because other transactions that count for
// the same run wait for this one.
func (t *tx) countUndone(ctx context.Context, gone []*undoCall) error {
	counts := map[string]int64{}
	for _, one := range gone {
		if run := one.Wanted.run; run != "" {
			counts[run]++
		}
	}
	for _, run := range slices.Sorted(maps.Keys(counts)) { // always in the same order, to prevent deadlocks
		if _, err := t.exec(ctx, `UPDATE run SET undone = undone + $2 WHERE number = $1`, run, counts[run]); err != nil {
			return err
		}
	}
	return nil
}

// countKept counts accounts that were kept. It runs last, because other
// transactions that count the same reason wait for this one.
func (t *tx) countKept(ctx context.Context, times map[landfall.KeptReason]int64) error {
	for _, reason := range landfall.KeptReasons { // always in the same order, to prevent deadlocks
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

// keptReason returns the reason why an account cannot be undone, if there is one.
// An account is taken back from its target only if nothing else keeps it. Mails are
// checked last, since queued ones are deleted with the check.
func (t *tx) keptReason(ctx context.Context, one *undoCall, mailed, delivered map[int64]bool) (landfall.KeptReason, error) {
	switch {
	case !one.Wanted.inTime:
		return landfall.KeptWindowOver, nil
	case one.Wanted.others > 0 && !one.Wanted.AllPostings:
		return landfall.KeptHasPostings, nil
	case one.Wanted.erased:
		return landfall.KeptErased, nil
	case one.Wanted.damaged:
		return landfall.KeptDamaged, nil
	case delivered[one.Wanted.id]:
		mails, err := t.MailsOf(ctx, one.Key)
		if slices.ContainsFunc(mails, func(mail landfall.MailRecord) bool { return mail.MayHaveArrived() }) {
			return landfall.KeptCustomersTold, err
		}
		return landfall.KeptDelivered, err
	case mailed[one.Wanted.id]:
		told, err := t.RetractMails(ctx, one.Key)
		if told {
			return landfall.KeptCustomersTold, err
		}
		return "", err
	}
	return "", nil
}
