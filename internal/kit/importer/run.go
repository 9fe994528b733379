package importer

import (
	"context"
	"fmt"
	"time"

	"landfall/client"
	"landfall/internal/kit/book"
)

// createAccounts lets the server create the staged accounts, a run for each supplier that
// the book names, and watches until it has ended.
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
			continue // an earlier attempt has seen it end
		}
		if err := m.createSupplier(ctx, i, supplier); err != nil {
			return err
		}
	}
	return m.journal.finish(PhaseRun, m.journal.state.Phases[PhaseRun])
}

// createSupplier starts the run of a supplier, or goes on watching it.
func (m *Importer) createSupplier(ctx context.Context, index int, supplier string) error {
	if len(m.journal.state.Runs) == index {
		id, err := m.startRun(ctx, supplier)
		if err != nil {
			return err
		}
		// The id is saved before the run is watched: cut off behind this, the next
		// attempt watches the same run instead of asking for another.
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

// startRun asks for a run. One that is under way already is taken for ours: it
// creates what we staged, and there can be no other beside it.
func (m *Importer) startRun(ctx context.Context, supplier string) (id string, err error) {
	plan := client.RunPlan{Supplier: supplier, Team: m.options.Team, DryRun: m.options.DryRun, Sample: m.options.Sample}
	if m.options.OnlyFailed {
		plan.Select = "failed"
	}
	err = m.retry(ctx, func(ctx context.Context) (bool, error) {
		run, err := m.client.StartRun(ctx, plan)
		id = run.ID
		if other, is := client.ActiveRun(err); is {
			m.watcher.Notice(fmt.Sprintf("run %s of %s is under way already; watching it", other, supplier))
			id, err = other, nil
		}
		return false, err
	})
	if err != nil {
		err = fmt.Errorf("no run of %s for team %s can be started: %w", supplier, m.options.Team, err)
	}
	return id, err
}

// A run is looked at soon and then more and more seldom, but often again when
// its end is near: everything else waits for that.
const (
	firstPoll = 50 * time.Millisecond
	maxPoll   = 500 * time.Millisecond
)

// watchRun looks at a run until it has ended. A paused one is waited for: whoever
// paused it will know why.
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

// pollDelay is how long one may look away from a run so as not to miss its end by
// much: half of what it will still take, as far as it can tell.
func pollDelay(run client.Run) time.Duration {
	if run.AccountsPerSecond <= 0 || run.State != "RUNNING" {
		return maxPoll
	}
	half := float64(run.Remaining) / run.AccountsPerSecond / 2
	return max(firstPoll, time.Duration(min(half, maxPoll.Seconds())*float64(time.Second)))
}

// recordRun adds what became of a run, all of it in one checkpoint: whatever
// interrupts it, none of its failures is kept twice.
func (m *Importer) recordRun(ctx context.Context, supplier string, run client.Run) error {
	progress := m.journal.state.Phases[PhaseRun]
	before := m.journal.failures.size
	err := m.retry(ctx, func(ctx context.Context) (bool, error) {
		// An attempt that was cut off may have kept some of the failures. Each
		// begins without them.
		if err := m.journal.failures.rewind(before); err != nil {
			// Marked as ours, so that nobody waits for the server to mend it.
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
	// Counted when the list is whole: an attempt that was cut off would have told
	// the watcher of failures that the next one tells again.
	if err := m.journal.failures.each(before, func(one failure, _ int64) error {
		m.countFailure(one)
		return nil
	}); err != nil {
		return err
	}
	// A list that contradicts its own count would make a report in which nothing
	// failed.
	if kept := m.journal.failures.size - before; kept == 0 && run.Failed > 0 {
		return fmt.Errorf("run %s failed for %d accounts but lists none of them", run.ID, run.Failed)
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
