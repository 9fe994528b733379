package upkeep

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
)

// PurgeStore is a store that purges. All servers share one schedule.
type PurgeStore interface {
	landfall.Transactor
	landfall.Purger
	// PurgeDue reports whether the next purge is due. It writes nothing.
	PurgeDue(ctx context.Context) (bool, error)
	// StartPurge postpones a purge that is due by a lease. It reports false when it was
	// not due: another server has it.
	StartPurge(ctx context.Context, lease time.Duration) (bool, error)
	// ExtendPurge renews the lease.
	ExtendPurge(ctx context.Context, lease time.Duration) error
	// EndPurge records that a purge is complete and when the next one is due.
	EndPurge(ctx context.Context, next time.Duration) error
}

const (
	// purgeTries is how often a step is tried in a row. Callers come first, and a purge
	// that started over after each failure would never end.
	purgeTries = 10
)

// purger removes data past its retention.
type purger struct {
	store PurgeStore
	log   *slog.Logger

	mu  sync.Mutex
	sum landfall.PurgeFigures
}

func (p *purger) figures() landfall.PurgeFigures {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sum
}

func (p *purger) count(step landfall.PurgeStep, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sum.Removed.Add(step.Removed)
	p.sum.Unreadable += int64(len(step.Unreadable))
	p.sum.Steps++
	p.sum.Took += took
	p.sum.Longest = max(p.sum.Longest, took)
}

func (p *purger) step(ctx context.Context) time.Duration {
	removed, err := p.purge(ctx)
	if err != nil && ctx.Err() == nil {
		p.log.Warn("purge failed; data is kept past its retention", "error", err)
	}
	if removed != (landfall.PurgeCounts{}) {
		p.log.Info("purged", "documents", removed.Documents, "failures", removed.Failures, "mails", removed.Mails, "events", removed.Events, "runs", removed.Runs)
	}
	return limits.PurgePoll
}

// PurgeIfDue purges all suppliers if a purge is due and no other server has it.
func PurgeIfDue(ctx context.Context, store PurgeStore) (landfall.PurgeCounts, error) {
	return (&purger{store: store, log: slog.New(slog.DiscardHandler)}).purge(ctx)
}

// purge pauses between its steps far longer than they take: there is no hurry.
func (p *purger) purge(ctx context.Context) (removed landfall.PurgeCounts, err error) {
	suppliers, err := p.suppliers(ctx)
	if err != nil || len(suppliers) == 0 {
		return removed, err
	}
	if due, err := p.store.PurgeDue(ctx); err != nil || !due {
		return removed, err
	}
	if mine, err := p.store.StartPurge(ctx, limits.PurgeLease); err != nil || !mine {
		return removed, err
	}
	renewed := time.Now()
	var failures []error
	for _, supplier := range suppliers {
		failed := 0
		for request := (landfall.PurgeRequest{Supplier: supplier}); ; {
			began := time.Now()
			step, err := p.store.Purge(ctx, request)
			took := time.Since(began)
			p.count(step, took)
			p.warnUnreadable(step.Unreadable)
			pause := min(limits.UpkeepMaxRest, pauseBusy*took)
			switch failed++; {
			case err != nil && failed == purgeTries && errors.Is(err, landfall.ErrUnavailable):
				return removed, err // once the lease has ended, a server starts over
			case err != nil && failed == purgeTries:
				// Only this supplier is affected. The others are purged all the same.
				failures = append(failures, fmt.Errorf("supplier %s: %w", supplier, err))
			case err != nil:
				pause = limits.UpkeepMaxRest
			default:
				removed.Add(step.Removed)
				request.After, failed = step.Next, 0
			}
			if err == nil && step.Done || failed == purgeTries {
				break
			}
			if time.Since(renewed) > limits.PurgeLease/4 {
				if err := p.store.ExtendPurge(ctx, limits.PurgeLease); err != nil {
					return removed, err
				}
				renewed = time.Now()
			}
			if err := wait(ctx, pause); err != nil {
				return removed, err
			}
		}
	}
	if len(failures) > 0 {
		return removed, errors.Join(failures...) // once the lease has ended, a server tries again
	}
	return removed, p.store.EndPurge(ctx, limits.Purge)
}

// warnUnreadable logs rows that could not be read.
func (p *purger) warnUnreadable(rows []landfall.UnreadableRow) {
	for _, row := range rows {
		p.log.Warn("cannot read a row; it is kept past its retention", "supplier", row.Key.Supplier, "account", row.Key.External, "location", row.Location)
	}
}

// suppliers returns the suppliers that do not keep everything forever.
func (p *purger) suppliers(ctx context.Context) (codes []string, err error) {
	err = p.store.View(ctx, func(view landfall.View) error {
		all, err := view.Suppliers(ctx)
		codes = nil
		for _, supplier := range all {
			if !supplier.Retention.Forever() {
				codes = append(codes, supplier.Code)
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return codes, nil
}
