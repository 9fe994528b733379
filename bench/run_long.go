package main

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// shortestOfRun is how many accounts of a run are enough to take its pace: ten times
// as many as are under way at once.
const shortestOfRun = 2_000

// measureLongRun compares the pace at the end of a long run with that at the
// beginning of another.
func measureLongRun(ctx context.Context, p plan, m *machinery) (result, error) {
	young, err := m.longRun(ctx, "young_run", p.run)
	if err != nil {
		return result{}, err
	}
	defer young.stop()
	old, err := m.longRun(ctx, "old_run", p.run)
	if err != nil {
		return result{}, err
	}
	defer old.stop()
	ratio, last, first, err := tenths(ctx, old, young, p.run, shortestOfRun)
	if err != nil {
		return result{}, err
	}
	// To its end, since a run that left accounts out would look faster than it was.
	if err := old.finish(ctx, p.run); err != nil {
		return result{}, err
	}
	peak, err := old.memory("VmHWM")
	return result{
		ratio: ratio, ours: fmt.Sprintf("%.0f accounts/s in the last tenth of %d, %.0f MiB at most", last.rate, p.run, peak),
		raw: fmt.Sprintf("%.0f accounts/s in the first", first.rate),
	}, err
}

// longRun serves a database of its own and stages the accounts of a run, which
// begins when somebody first asks how far it is.
func (m *machinery) longRun(ctx context.Context, name string, accounts int64) (*paced, error) {
	s, err := m.serveNew(ctx, fresh(name))
	if err != nil {
		return nil, err
	}
	if _, err := s.stream(ctx, &counter{}, time.Hour, accounts); err != nil {
		s.stop()
		return nil, err
	}
	var run moved
	// How far a run is is a sum over its slices, two thousand of a million accounts: who asked for it
	// more often would measure that.
	return &paced{service: s, every: 50 * time.Millisecond, far: func(ctx context.Context) (done int64, err error) {
		if run.ID == "" {
			run, err = s.startRun(ctx)
		} else {
			run, err = s.ask(ctx, http.MethodGet, runsPath+run.ID+"/", "")
		}
		// One that stands still before everything is done would be waited for for ever.
		if err == nil && run.State != "WAITING" && run.State != "RUNNING" && run.Succeeded != accounts {
			err = fmt.Errorf("the run is %s and created %d of %d accounts", run.State, run.Succeeded, accounts)
		}
		return run.Succeeded, err
	}}, nil
}
