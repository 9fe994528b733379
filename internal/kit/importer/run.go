package importer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"landfall"
	"landfall/client"
	"landfall/internal/api/rules"
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
		if refusal, refused := errors.AsType[*client.Error](err); refused && client.IsCode(err, landfall.CodeSupplierUnknown, landfall.CodeSupplierNotOngoing) {
			return m.failSupplier(supplier, failureOf(refusal))
		}
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

// failSupplier records that no account of a supplier can be created, because it was paused since
// they were staged. Their lines fail like any other, and the other suppliers go on.
func (m *Importer) failSupplier(supplier string, refused *landfall.Failure) error {
	m.watcher.Notice("no account of " + supplier + " can be created: " + refused.Detail)
	progress := m.journal.state.Phases[PhaseRun]
	for i, file := range m.options.Book.Of(book.Accounts) {
		for line, err := range file.Lines() {
			if err != nil {
				return err
			}
			code, external, _ := rules.Peek(line.Text, "import_supplier", "external_account_number")
			if code != supplier || m.failed.has(code, external) {
				continue
			}
			one := failure{Kind: book.Accounts.Stem, File: i, Line: line.Number, Supplier: code, External: external, Failure: *refused}
			if err := m.recordFailure(one); err != nil {
				return err
			}
			m.countFailure(one)
			progress.Tally.Lines++
			progress.Tally.Failed++
		}
	}
	m.journal.state.Phases[PhaseRun] = progress
	m.journal.state.Runs = append(m.journal.state.Runs, "")
	m.journal.state.Counted++
	return m.journal.save()
}

// plan is the run of a supplier: over the accounts of this book, or over everything staged.
func (m *Importer) plan(supplier string) client.RunPlan {
	plan := client.RunPlan{Supplier: supplier, Team: m.options.Team, DryRun: m.options.DryRun, Sample: m.options.Sample}
	if m.options.OnlyFailed {
		plan.Select.State = "failed"
	}
	if !m.options.AllStaged {
		plan.Select.Delivery = m.journal.state.Delivery
	}
	return plan
}

// startRun starts the run of a supplier. If another run is active, it waits for that, because there
// cannot be two.
func (m *Importer) startRun(ctx context.Context, supplier string) (id string, err error) {
	m.noticeOthers(ctx, supplier)
	plan := m.plan(supplier)
	for id == "" && err == nil {
		active := ""
		err = m.retry(ctx, func(ctx context.Context) (bool, error) {
			run, err := m.client.StartRun(ctx, plan)
			id = run.ID
			if other, is := client.ActiveRun(err); is {
				active, err = other, nil
			}
			return false, err
		})
		if err == nil && active != "" {
			id, err = m.joinRun(ctx, supplier, active)
		}
	}
	if err != nil {
		err = fmt.Errorf("cannot start a run of %s for team %s: %w", supplier, m.options.Team, err)
	}
	return id, err
}

// joinRun uses an active run if it creates what this import wants, as after a lost response.
// Otherwise it waits until that run has ended and returns "".
func (m *Importer) joinRun(ctx context.Context, supplier, active string) (id string, err error) {
	var other client.Run
	err = m.retry(ctx, func(ctx context.Context) (bool, error) {
		other, err = m.client.Run(ctx, active)
		return err == nil, err
	})
	if err != nil || other.Ended() {
		return "", err
	}
	if m.options.AllStaged || other.Select.Delivery == m.journal.state.Delivery {
		m.watcher.Notice(fmt.Sprintf("run %s of %s is already active; watching it", active, supplier))
		return active, nil
	}
	m.watcher.Notice(fmt.Sprintf("run %s of %s is active; waiting until it ends", active, supplier))
	_, err = m.watchRun(ctx, active)
	return "", err
}

// noticeOthers says how many accounts of a supplier are staged that are not in this book, and what
// happens to them. It is only a notice, so a failure to count them stops nothing.
func (m *Importer) noticeOthers(ctx context.Context, supplier string) {
	found, err := m.client.Reconciliation(ctx, supplier)
	if err != nil {
		return
	}
	waiting := 0
	for _, measure := range found.Measures {
		for _, reason := range []string{"pending", "failed"} {
			if count := measure.Explained[reason].Count; measure.Name == "accounts" && count != nil {
				waiting += int(*count)
			}
		}
	}
	// Accounts of this book that were refused may be known from before, and count as failed there.
	if others := waiting - m.journal.state.Staged[supplier] - m.failedOf[supplier]; others > 0 && m.options.AllStaged {
		m.watcher.Notice(fmt.Sprintf("%d other accounts of %s are staged and will be created as well", others, supplier))
	} else if others > 0 {
		m.watcher.Notice(fmt.Sprintf("%d other accounts of %s are staged; they are left alone (--all-staged creates them too)", others, supplier))
	}
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
