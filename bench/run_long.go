package main

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// shortestOfRun is the number of accounts after which the throughput of a run
// can be measured: ten times as many as are in progress.
const shortestOfRun = 2_000

// measureLongRun compares the throughput at the end of a long run with that at
// the start of another one.
func measureLongRun(ctx context.Context, p plan, m *harness) (measured, error) {
	young, err := m.longRun(ctx, "young_run", p.run)
	if err != nil {
		return measured{}, err
	}
	defer young.stop()
	old, err := m.longRun(ctx, "old_run", p.run)
	if err != nil {
		return measured{}, err
	}
	defer old.stop()
	ratio, last, first, err := tenths(ctx, old, young, p.run, shortestOfRun)
	if err != nil {
		return measured{}, err
	}
	// Wait for the end: a run that left accounts out would look faster.
	if err := old.finish(ctx, p.run); err != nil {
		return measured{}, err
	}
	peak, err := old.memory("VmHWM")
	return measured{
		ratio: ratio, ours: fmt.Sprintf("%.0f accounts/s in the last tenth of %d, %.0f MiB at most", last.rate, p.run, peak),
		raw: fmt.Sprintf("%.0f accounts/s in the first", first.rate),
	}, err
}

// longRun starts a server on its own database and stages the accounts of a run,
// which starts at the first question for its progress.
func (m *harness) longRun(ctx context.Context, name string, accounts int64) (*paced, error) {
	s, err := m.serveNew(ctx, fresh(name))
	if err != nil {
		return nil, err
	}
	if _, err := s.stream(ctx, &counter{}, time.Hour, accounts); err != nil {
		s.stop()
		return nil, err
	}
	var run moved
	// The progress of a run is a sum over its slices, two thousand for a
	// million accounts. Asking more often would measure that.
	return &paced{service: s, every: 50 * time.Millisecond, far: func(ctx context.Context) (done int64, err error) {
		if run.ID == "" {
			run, err = s.startRun(ctx)
		} else {
			run, err = s.ask(ctx, http.MethodGet, runsPath+run.ID+"/", "")
		}
		// Without this, waiting for a run that is stuck would never end.
		if err == nil && run.State != "WAITING" && run.State != "RUNNING" && run.Succeeded != accounts {
			err = fmt.Errorf("the run is %s and created %d of %d accounts", run.State, run.Succeeded, accounts)
		}
		return run.Succeeded, err
	}}, nil
}
