package app

import (
	"context"
	"sync"
	"time"

	"landfall"
	"landfall/internal/api/httpapi"
	"landfall/internal/lib/limits"
	"landfall/internal/outbound/target"
)

// targetReadings returns the metrics about targets: the work of this replica, and what
// waits for all replicas.
func (a *App) targetReadings() []httpapi.FuncMetric {
	var mu sync.Mutex
	var found []landfall.TargetFigures
	var read time.Time
	sum := func(get func(landfall.TargetFigures) float64) func() float64 {
		return func() (total float64) {
			mu.Lock()
			defer mu.Unlock()
			if time.Since(read) > limits.MetricsAge {
				if figures, err := a.targetFigures(); err == nil {
					found = figures
				}
				// Set it after a failure too, so that an unavailable database is not
				// queried again for each metric.
				read = time.Now()
			}
			for _, one := range found {
				total += get(one)
			}
			return total
		}
	}
	count := func(get func(target.Counts) int64) func() float64 {
		return func() float64 {
			// The metrics are declared before the dispatcher exists.
			if a.deliveries == nil {
				return 0
			}
			return float64(get(a.deliveries.Counts()))
		}
	}
	when := func(is bool) float64 {
		if is {
			return 1
		}
		return 0
	}
	return []httpapi.FuncMetric{
		{Name: "landfall_target_delivered_total", Help: "Deliveries that targets accepted.", Counts: true,
			Read: count(func(c target.Counts) int64 { return c.Delivered })},
		{Name: "landfall_target_failed_total", Help: "Deliveries to targets that failed and will be retried.", Counts: true,
			Read: count(func(c target.Counts) int64 { return c.Failed })},
		{Name: "landfall_target_refused_total", Help: "Deliveries that targets refused.", Counts: true,
			Read: count(func(c target.Counts) int64 { return c.Refused })},
		{Name: "landfall_targets_failing", Help: "Targets that fail.",
			Read: sum(func(f landfall.TargetFigures) float64 { return when(!f.Target.FailingAt.IsZero()) })},
		{Name: "landfall_target_deliveries_waiting", Help: "Deliveries to targets that wait.",
			Read: sum(func(f landfall.TargetFigures) float64 { return float64(f.Waiting) })},
		{Name: "landfall_target_deliveries_pending", Help: "Deliveries that targets have not confirmed yet.",
			Read: sum(func(f landfall.TargetFigures) float64 { return float64(f.Pending) })},
		{Name: "landfall_target_deliveries_refused", Help: "Deliveries that targets refused and nobody decided about.",
			Read: sum(func(f landfall.TargetFigures) float64 { return float64(f.Refused) })},
	}
}

// targetFigures reads the state of the targets from the database.
func (a *App) targetFigures() (found []landfall.TargetFigures, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), limits.MetricsAge)
	defer cancel()
	err = a.store.View(ctx, func(view landfall.View) (err error) {
		found, err = view.TargetFigures(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}
