package sqlstore

import (
	"context"
	"time"

	"landfall"
)

// purgeBatch is how many rows one step looks at. On SQLite all other writers
// wait while they are written.
const purgeBatch = 200

// purgePage is a page of an index: a supplier's rows after a cursor.
type purgePage struct {
	supplier int64
	code     string
	keep     time.Duration
	from     landfall.PurgeCursor
	dry      bool
	// unreadable collects the rows that the step could not read.
	unreadable []landfall.UnreadableRow
}

// purgeIndex is one index that a purge walks from beginning to end. A step
// looks at purgeBatch entries, whether they are due or not, so every statement
// is short, no matter how many rows there are and how few of them are due.
type purgeIndex struct {
	keep func(landfall.Retention) time.Duration
	step purgeStep
}

// purgeStep runs one step along an index. It returns what it removed, how far
// it came, and whether there is more.
type purgeStep func(context.Context, *Store, *purgePage) (gone landfall.PurgeCounts, next landfall.PurgeCursor, more bool, err error)

// purgeIndexes lists all indexes, in the order in which they are walked.
var purgeIndexes = []purgeIndex{
	{keepStaged, purgeStaged(stagedPurge{condition: importedStaged, due: supersededLong, documents: superseded})},
	{keepStaged, purgeStaged(stagedPurge{condition: pendingStaged, due: withoutAccount, forget: failWithoutDocument})},
	{keepStaged, purgeStaged(stagedPurge{condition: skippedStaged, due: withoutAccount, forget: clearHash})},
	{keepFailures, purgeFailures(failedAttempts)},
	{keepFailures, purgeFailures(skippedAttempts)},
	{keepFailures, purgeFailures(refusedBefore)},
	{keepFailures, purgeFailures(failedInRuns)},
	{keepFailures, purgeReplies},
	{keepRuns, markRuns},
	{keepRuns, purgeRunRows(runFailureRows)},
	{keepRuns, purgeRunRows(runListedRows)},
	{keepRuns, purgeRunRows(runMemberRows)},
	{keepRuns, purgeRunSlices},
	{keepMails, purgeMails},
	{keepEvents, purgeEvents},
}

func keepStaged(r landfall.Retention) time.Duration   { return r.Staged }
func keepFailures(r landfall.Retention) time.Duration { return r.Failures }
func keepMails(r landfall.Retention) time.Duration    { return r.Mails }
func keepEvents(r landfall.Retention) time.Duration   { return r.Events }
func keepRuns(r landfall.Retention) time.Duration     { return r.Runs }

// Purge runs one step.
func (s *Store) Purge(ctx context.Context, order landfall.PurgeRequest) (landfall.PurgeStep, error) {
	var supplier landfall.Supplier
	part := purgePage{code: order.Supplier, from: order.After, dry: order.DryRun}
	err := s.View(ctx, func(reader landfall.View) (err error) {
		v := reader.(*view) //nolint:forcetypeassert // it is this store's
		if supplier, err = v.Supplier(ctx, order.Supplier); err != nil {
			return err
		}
		part.supplier, _, err = v.supplierNow(ctx, order.Supplier)
		return err
	})
	if err != nil {
		return landfall.PurgeStep{}, err
	}
	if order.After == (landfall.PurgeCursor{}) && !order.DryRun {
		if err := s.forgetUnreadable(ctx, order.Supplier); err != nil {
			return landfall.PurgeStep{}, err
		}
	}
	for at := order.After.Lane; at >= 0 && at < int64(len(purgeIndexes)); at++ {
		if part.keep = purgeIndexes[at].keep(supplier.EffectiveRetention()); part.keep == 0 {
			part.from = landfall.PurgeCursor{}
			continue
		}
		gone, next, more, err := purgeIndexes[at].step(ctx, s, &part)
		if err == nil && !order.DryRun {
			err = s.rememberUnreadable(ctx, part.unreadable)
		}
		if err != nil {
			return landfall.PurgeStep{}, err
		}
		if next.Lane = at; !more {
			next = landfall.PurgeCursor{Lane: at + 1}
		}
		return landfall.PurgeStep{Removed: gone, Next: next, Done: next.Lane == int64(len(purgeIndexes)), Unreadable: part.unreadable}, nil
	}
	return landfall.PurgeStep{Next: landfall.PurgeCursor{Lane: int64(len(purgeIndexes))}, Done: true}, nil
}
