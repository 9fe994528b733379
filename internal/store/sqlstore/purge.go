package sqlstore

import (
	"context"
	"time"

	"landfall"
)

// purgeBatch is how many rows one step looks at: on SQLite everybody else waits
// while they are written.
const purgeBatch = 200

// stretch is a page of a lane: a supplier's rows behind a place.
type stretch struct {
	supplier int64
	code     string
	keep     time.Duration
	from     landfall.PurgeCursor
	dry      bool
}

// lane is one index that a purge walks along, from its beginning to its end. It
// looks at purgeBatch entries at a time, whether they are to go or not: so every
// statement is short, however many rows there are and however few of them go.
type lane struct {
	keep func(landfall.Retention) time.Duration
	step walk
}

// walk takes a step along a lane. It says what went, how far it came, and whether
// there is more.
type walk func(context.Context, *Store, stretch) (gone landfall.PurgeCounts, next landfall.PurgeCursor, more bool, err error)

// lanes are all of them, in the order in which they are walked.
var lanes = []lane{
	{keepStaged, stagedLane(`held.account_number IS NOT NULL`, forgetHash)},
	{keepStaged, stagedLane(`held.account_number IS NULL AND held.skip_reason IS NULL`, askAgain)},
	{keepStaged, stagedLane(`held.skip_reason IS NOT NULL`, forgetHash)},
	{keepFailures, failureLane(failedAttempts)},
	{keepFailures, failureLane(skippedAttempts)},
	{keepFailures, failureLane(refusedBefore)},
	{keepFailures, failureLane(failedInRuns)},
	{keepMails, mailLane},
	{keepEvents, eventLane},
}

func keepStaged(r landfall.Retention) time.Duration   { return r.Staged }
func keepFailures(r landfall.Retention) time.Duration { return r.Failures }
func keepMails(r landfall.Retention) time.Duration    { return r.Mails }
func keepEvents(r landfall.Retention) time.Duration   { return r.Events }

// Purge takes one step.
func (s *Store) Purge(ctx context.Context, order landfall.PurgeRequest) (landfall.PurgeStep, error) {
	var supplier landfall.Supplier
	part := stretch{code: order.Supplier, from: order.After, dry: order.DryRun}
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
	for at := order.After.Lane; at >= 0 && at < int64(len(lanes)); at++ {
		if part.keep = lanes[at].keep(supplier.EffectiveRetention()); part.keep == 0 {
			part.from = landfall.PurgeCursor{}
			continue
		}
		gone, next, more, err := lanes[at].step(ctx, s, part)
		if err != nil {
			return landfall.PurgeStep{}, err
		}
		if next.Lane = at; !more {
			next = landfall.PurgeCursor{Lane: at + 1}
		}
		return landfall.PurgeStep{Removed: gone, Next: next, Done: next.Lane == int64(len(lanes))}, nil
	}
	return landfall.PurgeStep{Next: landfall.PurgeCursor{Lane: int64(len(lanes))}, Done: true}, nil
}
