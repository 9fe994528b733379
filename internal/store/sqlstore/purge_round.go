package sqlstore

import (
	"context"
	"log/slog"
	"time"

	"landfall"
)

const (
	// purgeEvery is how often everything is gone through.
	purgeEvery = 6 * time.Hour
	// purgeLook is how often a server asks whether it is time.
	purgeLook = time.Minute
	// purgeLease is how long a round may say nothing before another server
	// takes over.
	purgeLease = 5 * time.Minute
	// purgeTries is how often a step is tried in a row: whoever is served comes
	// first, and a round that begins anew each time would never end.
	purgeTries = 10
)

// newPurger takes away now and then what was kept long enough.
func newPurger(store *Store, logger *slog.Logger) *chore {
	return newChore(func(ctx context.Context) time.Duration {
		gone, err := store.PurgeRound(ctx)
		if logger != nil && err != nil && ctx.Err() == nil {
			logger.Warn("things are kept for longer than is set", "error", err)
		}
		if logger != nil && gone != (landfall.PurgeCounts{}) {
			logger.Info("purged", "documents", gone.Documents, "failures", gone.Failures, "mails", gone.Mails, "events", gone.Events)
		}
		return purgeLook
	})
}

// PurgeRound goes through all suppliers, if it is time and nobody else does. It
// rests between its steps far longer than they take: there is no hurry.
func (s *Store) PurgeRound(ctx context.Context) (gone landfall.PurgeCounts, err error) {
	suppliers, due, err := s.purgeable(ctx)
	if err != nil || len(suppliers) == 0 || !due {
		return gone, err
	}
	// Whoever moves the time has the round: to all others it is not due any more. One
	// that dies lets it become due again.
	if mine, err := s.movePurge(ctx, ` AND due_at <= {now}`, purgeLease); err != nil || !mine {
		return gone, err
	}
	renewed, failed := time.Now(), 0
	for _, supplier := range suppliers {
		for order := (landfall.PurgeRequest{Supplier: supplier}); ; {
			began := time.Now()
			step, err := s.Purge(ctx, order)
			took := time.Since(began)
			s.purged.count(step.Removed, took)
			rest := min(longestRest, restBusy*took)
			switch failed++; {
			case err != nil && failed == purgeTries:
				return gone, err // after the lease somebody begins anew
			case err != nil:
				rest = longestRest
			default:
				gone.Add(step.Removed)
				order.After, failed = step.Next, 0
			}
			if err == nil && step.Done {
				break
			}
			if time.Since(renewed) > purgeLease/4 {
				if _, err := s.movePurge(ctx, ``, purgeLease); err != nil {
					return gone, err
				}
				renewed = time.Now()
			}
			select {
			case <-ctx.Done():
				return gone, ctx.Err()
			case <-time.After(rest):
			}
		}
	}
	return gone, s.endPurge(ctx)
}

// purgeable gives the suppliers of whom something goes one day, and says whether
// it is time to look. It writes nothing.
func (s *Store) purgeable(ctx context.Context) (codes []string, due bool, err error) {
	err = s.View(ctx, func(reader landfall.View) error {
		v := reader.(*view) //nolint:forcetypeassert // it is this store's
		suppliers, err := v.Suppliers(ctx)
		if err != nil {
			return err
		}
		codes = nil
		for _, supplier := range suppliers {
			if !supplier.Retention.Forever() {
				codes = append(codes, supplier.Code)
			}
		}
		return v.one(ctx, `SELECT due_at <= {now} FROM purge_schedule WHERE id = 1`, nil, []any{&due})
	})
	if err != nil {
		return nil, false, err
	}
	return codes, due, nil
}

// endPurge says that everything was gone through, and when it is time again.
func (s *Store) endPurge(ctx context.Context) error {
	return s.update(ctx, landfall.Key{}, func(t *tx) error {
		_, err := t.exec(ctx, `UPDATE purge_schedule SET due_at = {now} + $1, ended_at = {now} WHERE id = 1`, purgeEvery.Microseconds())
		return err
	})
}

// PurgeEnded says when everything was last gone through to its end.
func (v *view) PurgeEnded(ctx context.Context) (at time.Time, err error) {
	err = v.one(ctx, `SELECT ended_at FROM purge_schedule WHERE id = 1`, nil, []any{instantInto{&at}})
	return at, err
}

// movePurge moves the time of the next round, and says whether it could.
func (s *Store) movePurge(ctx context.Context, condition string, to time.Duration) (moved bool, err error) {
	err = s.update(ctx, landfall.Key{}, func(t *tx) error {
		count, err := t.exec(ctx, `UPDATE purge_schedule SET due_at = {now} + $1 WHERE id = 1`+condition, to.Microseconds())
		moved = count > 0
		return err
	})
	return moved, err
}
