package app

import (
	"context"
	"sync"
	"time"

	"landfall"
	"landfall/internal/api/httpapi"
	"landfall/internal/lib/limits"
)

// undoFigures caches how many undos there were. Operators undo accounts without
// the server, so it reads them from the database, but not for every metric.
type undoFigures struct {
	store landfall.Transactor
	lock  sync.Mutex
	asked time.Time
	times map[string]float64
}

// The figures are rarely needed and cost a query each, so they may be a little
// old, and the query has a short timeout.
const (
	undoneOutcome = "undone"
)

// read returns how often an outcome occurred. If the database is unavailable, it
// returns the previous count.
func (f *undoFigures) read(outcome string) float64 {
	f.lock.Lock()
	defer f.lock.Unlock()
	if time.Since(f.asked) > limits.MetricsAge {
		f.asked = time.Now()
		ctx, stop := context.WithTimeout(context.Background(), limits.MetricsRead)
		defer stop()
		_ = f.store.View(ctx, func(view landfall.View) error {
			undone, kept, err := view.UndoFigures(ctx)
			if err != nil {
				return err
			}
			// Replace the map as a whole, so that a failure keeps the previous
			// figures.
			f.times = map[string]float64{undoneOutcome: float64(undone)}
			for reason, count := range kept {
				f.times[string(reason)] = float64(count)
			}
			return nil
		})
	}
	return f.times[outcome]
}

// undoReadings returns the metrics about undos and refused undos.
func (a *App) undoReadings() []httpapi.FuncMetric {
	figures := &undoFigures{store: a.store}
	outcomes := []string{undoneOutcome}
	for _, reason := range landfall.KeptReasons {
		outcomes = append(outcomes, string(reason))
	}
	readings := make([]httpapi.FuncMetric, len(outcomes))
	for i, outcome := range outcomes {
		readings[i] = httpapi.FuncMetric{
			Name: "landfall_account_undos_total", Help: "Undo requests for accounts, by outcome.",
			Labels: map[string]string{"outcome": outcome}, Counts: true, Read: func() float64 { return figures.read(outcome) },
		}
	}
	return readings
}
