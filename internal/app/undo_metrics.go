package app

import (
	"context"
	"sync"
	"time"

	"landfall"
	"landfall/internal/api/httpapi"
)

// undoFigures remembers what was taken back. Operators do that beside the
// servers, so the database is asked, though not for every reading.
type undoFigures struct {
	store landfall.Transactor
	lock  sync.Mutex
	asked time.Time
	times map[string]float64
}

// Figures of undos are asked for rarely and cost a query each, so they may be a
// little old, and nobody waits long for them.
const (
	undoFiguresAge  = 10 * time.Second
	undoFiguresWait = 2 * time.Second
	undoneOutcome   = "undone"
)

// read gives how often an outcome came; what is not known now is as it was.
func (f *undoFigures) read(outcome string) float64 {
	f.lock.Lock()
	defer f.lock.Unlock()
	if time.Since(f.asked) > undoFiguresAge {
		f.asked = time.Now()
		ctx, stop := context.WithTimeout(context.Background(), undoFiguresWait)
		defer stop()
		_ = f.store.View(ctx, func(view landfall.View) error {
			undone, kept, err := view.UndoFigures(ctx)
			if err != nil {
				return err
			}
			// A map of its own, put in place as a whole: a failure leaves the former
			// figures alone.
			f.times = map[string]float64{undoneOutcome: float64(undone)}
			for reason, count := range kept {
				f.times[string(reason)] = float64(count)
			}
			return nil
		})
	}
	return f.times[outcome]
}

// undoReadings are the figures about accounts that were taken back or kept.
func (a *App) undoReadings() []httpapi.FuncMetric {
	figures := &undoFigures{store: a.store}
	outcomes := []string{undoneOutcome}
	for _, reason := range landfall.KeptReasons {
		outcomes = append(outcomes, string(reason))
	}
	readings := make([]httpapi.FuncMetric, len(outcomes))
	for i, outcome := range outcomes {
		readings[i] = httpapi.FuncMetric{
			Name: "landfall_account_undos_total", Help: "Accounts that somebody wanted to take back, by what became of them.",
			Labels: map[string]string{"outcome": outcome}, Counts: true, Read: func() float64 { return figures.read(outcome) },
		}
	}
	return readings
}
