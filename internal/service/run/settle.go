package run

import (
	"context"
	"errors"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
)

// settle writes a settlement and counts it. When the database is available but
// refuses the settlement, one of the accounts is the cause, and settle splits the
// accounts until it has found that one.
func (b *batch) settle(ctx context.Context, settlement landfall.Settlement) error {
	settled, err := b.send(ctx, settlement)
	switch {
	case err == nil:
		return b.countSettled(ctx, settlement, settled)
	case errors.Is(err, landfall.ErrFenced), errors.Is(err, landfall.ErrRevoked), transient(err):
		return err
	case len(settlement.Created) == 0:
		return err
	}
	if len(settlement.Created) == 1 {
		for _, t := range b.tries {
			if t.ordinal == settlement.Created[0].Ordinal {
				t.reason = err
				settlement.Created = nil
				b.fail(&settlement, t)
			}
		}
		return b.settle(ctx, settlement)
	}
	half := len(settlement.Created) / 2
	first := settlement
	first.Created = settlement.Created[:half]
	if err := b.settle(ctx, first); err != nil {
		return err
	}
	return b.settle(ctx, landfall.Settlement{Created: settlement.Created[half:]})
}

// transient reports whether an error may go away by itself.
func transient(err error) bool {
	return errors.Is(err, landfall.ErrUnavailable) || errors.Is(err, landfall.ErrUnknownOutcome) || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded)
}

// send writes a settlement, and retries while the database is unavailable and
// the leases may be alive. Retrying is safe: an outcome is not written twice.
func (b *batch) send(ctx context.Context, settlement landfall.Settlement) (landfall.SettleResult, error) {
	end := time.Now().Add(b.shorterLease())
	for pause := limits.RecordRetry; ; pause = min(2*pause, limits.RecordMaxRetry) {
		settled, err := b.store.SettleSlice(ctx, b.slice, settlement)
		if err == nil || !transient(err) || time.Now().Add(pause).After(end) {
			return settled, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return landfall.SettleResult{}, ctx.Err()
		}
	}
}

// countSettled adds a settlement to the progress. Accounts that could not be
// created after all stay open, and their claims are released.
func (b *batch) countSettled(ctx context.Context, settlement landfall.Settlement, settled landfall.SettleResult) error {
	var unused []landfall.Claim
	var refused landfall.Settlement
	for i, outcome := range settled.Created {
		switch outcome.Verdict {
		case landfall.Created, landfall.CreateRolledBack:
			b.succeeded++
		case landfall.CreateNoSupplier:
			b.stop = true
			unused = append(unused, settlement.Created[i].Creation.Claim)
		case landfall.CreateDuplicate:
			b.refuse(ctx, &refused, settlement.Created[i].Ordinal, outcome.Conflicts)
		default:
			b.postpone(0) // the claim was lost
		}
	}
	for _, failed := range settlement.Failed {
		if failed.Final {
			b.failed++
		} else {
			b.postpone(0)
		}
	}
	b.postponed += len(settlement.Released)
	b.refused += len(settlement.Refused)
	b.stop = b.stop || settled.Stop
	if len(unused) > 0 {
		if _, err := b.send(ctx, landfall.Settlement{Released: unused}); err != nil {
			return err
		}
	}
	if len(refused.Failed)+len(refused.Released) == 0 {
		return nil
	}
	return b.settle(ctx, refused)
}

// refuse adds a member to a settlement whose account was not created because
// another account has one of its identifiers.
func (b *batch) refuse(ctx context.Context, into *landfall.Settlement, ordinal int, conflicts []landfall.Conflict) {
	for _, t := range b.tries {
		if t.ordinal == ordinal {
			t.reason = t.RefuseConflicts(ctx, conflicts)
			b.fail(into, t)
		}
	}
}
