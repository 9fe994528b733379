package importer

import (
	"context"
	"fmt"
	"time"

	"landfall/client"
	"landfall/internal/kit/book"
)

// createAccounts starts a run for each supplier of the book and waits for it.
func (m *Importer) createAccounts(ctx context.Context) error {
	if m.journal.state.Phases[PhaseRun].Over {
		return nil
	}
	suppliers := m.journal.state.Supplier
	if m.options.Supplier != "" {
		suppliers = []string{m.options.Supplier}
	}
	m.watcher.Begin(PhaseRun, 0)
	defer m.watcher.End(PhaseRun)
	for i, supplier := range suppliers {
		if i < m.journal.state.Counted {
			continue // already counted by an earlier attempt
		}
		if err := m.createSupplier(ctx, i, supplier); err != nil {
			return err
		}
	}
	return m.journal.finish(PhaseRun, m.journal.state.Phases[PhaseRun])
}

// createSupplier starts the run of a supplier, or continues to watch it.
func (m *Importer) createSupplier(ctx context.Context, index int, supplier string) error {
	if len(m.journal.state.Runs) == index {
		id, err := m.startRun(ctx, supplier)
		if err != nil {
			return err
		}
		// Saved before watching, so that the next attempt does not start another run.
		m.journal.state.Runs = append(m.journal.state.Runs, id)
		if err := m.journal.save(); err != nil {
			return err
		}
	}
	run, err := m.watchRun(ctx, m.journal.state.Runs[index])
	if err != nil {
		return err
	}
	return m.recordRun(ctx, supplier, run)
}

// startRun starts a run. If one is active, it is used instead: it creates what was staged, and
// there cannot be another.
func (m *Importer) startRun(ctx context.Context, supplier string) (id string, err error) {
	plan := client.RunPlan{Supplier: supplier, Team: m.options.Team, DryRun: m.options.DryRun, Sample: m.options.Sample}
	if m.options.OnlyFailed {
		plan.Select = "failed"
	}
	err = m.retry(ctx, func(ctx context.Context) (bool, error) {
		run, err := m.client.StartRun(ctx, plan)
		id = run.ID
		if other, is := client.ActiveRun(err); is {
			m.watcher.Notice(fmt.Sprintf("run %s of %s is already active; watching it", other, supplier))
			id, err = other, nil
		}
		return false, err
	})
	if err != nil {
		err = fmt.Errorf("cannot start a run of %s for team %s: %w", supplier, m.options.Team, err)
	}
	return id, err
}

// A run is polled at growing intervals, but often again near its end, because everything else waits
// for it.
const (
	firstPoll = 50 * time.Millisecond
	maxPoll   = 500 * time.Millisecond
)

// watchRun waits until a run has ended, also while it is paused.
func (m *Importer) watchRun(ctx context.Context, id string) (run client.Run, err error) {
	previous := ""
	for delay := firstPoll; ; delay = min(2*delay, maxPoll, pollDelay(run)) {
		err = m.retry(ctx, func(ctx context.Context) (bool, error) {
			run, err = m.client.Run(ctx, id)
			return err == nil, err
		})
		if err != nil {
			return run, err
		}
		m.watcher.Begin(PhaseRun, run.Selected)
		m.watcher.Progress(PhaseRun, run.Selected-run.Remaining, run.Failed)
		if run.Ended() {
			return run, nil
		}
		if run.State != previous && (run.State == "PAUSED" || run.State == "WAITING") {
			m.watcher.Notice("run " + id + " is " + run.State)
		}
		previous = run.State
		select {
		case <-ctx.Done():
			return run, ctx.Err()
		case <-time.After(delay):
		}
	}
}

// pollDelay is half of the remaining time of a run, so that its end is noticed soon.
func pollDelay(run client.Run) time.Duration {
	if run.AccountsPerSecond <= 0 || run.State != "RUNNING" {
		return maxPoll
	}
	half := float64(run.Remaining) / run.AccountsPerSecond / 2
	return max(firstPoll, time.Duration(min(half, maxPoll.Seconds())*float64(time.Second)))
}

// recordRun records the result of a run in one checkpoint, so that no failure is stored twice.
func (m *Importer) recordRun(ctx context.Context, supplier string, run client.Run) error {
	progress := m.journal.state.Phases[PhaseRun]
	before := m.journal.failures.size
	err := m.retry(ctx, func(ctx context.Context) (bool, error) {
		// Drop the failures of an interrupted attempt.
		if err := m.journal.failures.rewind(before); err != nil {
			// Marked as local: waiting for the server does not help.
			return false, localError{err}
		}
		for failed, err := range m.client.RunFailures(ctx, run.ID) {
			if err != nil {
				return false, err
			}
			one := failure{Kind: book.Accounts.Stem, Supplier: supplier, External: failed.External, Failure: *failureOf(&client.Error{
				Code: failed.Code, Detail: failed.Detail, Violations: failed.Violations,
			})}
			one.Failure.DryRun = run.DryRun
			if err := m.recordFailure(one); err != nil {
				return false, localError{err}
			}
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	// Counted when the list is complete, so that the watcher is not told twice.
	if err := m.journal.failures.each(before, func(one failure, _ int64) error {
		m.countFailure(one)
		return nil
	}); err != nil {
		return err
	}
	// Otherwise the report would show no failures.
	if kept := m.journal.failures.size - before; kept == 0 && run.Failed > 0 {
		return fmt.Errorf("run %s failed for %d accounts but lists none", run.ID, run.Failed)
	}
	progress.Tally.Lines += run.Selected
	progress.Tally.Done += run.Succeeded
	progress.Tally.Failed += run.Failed
	progress.Tally.Existing += run.Refused
	progress.Tally.NotReached += run.Remaining
	m.journal.state.Phases[PhaseRun] = progress
	m.journal.state.Counted++
	return m.journal.save()
}
