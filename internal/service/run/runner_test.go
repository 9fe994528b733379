package run_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/service/intake"
)

func TestPausedSupplierPausesItsRun(t *testing.T) {
	onBoth(t, func(t *testing.T, s *fixture) {
		s.book("A", 200, instructed)
		gate := make(chan struct{})
		s.vendor.setAnswer(func(ctx context.Context, _ string) error {
			select {
			case <-gate:
			case <-ctx.Done():
			}
			return nil
		})
		s.work(2)
		run := s.start("A1", landfall.RunPlan{Concurrency: 10})
		s.waitUntil(run.ID, "at work", func(run landfall.Run) bool { return run.State == landfall.RunRunning })
		s.setSupplier(func(supplier *landfall.Supplier) { supplier.Status = landfall.Paused })
		close(gate)
		stopped := s.paused(run.ID, landfall.PauseSupplierPaused)
		if stopped.Tally.Remaining() == 0 {
			t.Error("nothing was left to be paused")
		}
		s.setSupplier(func(supplier *landfall.Supplier) { supplier.Status = landfall.Complete })
		if later := s.paused(run.ID, landfall.PauseSupplierComplete); later.Tally != stopped.Tally {
			t.Errorf("a paused run continues: %+v, then %+v", stopped.Tally, later.Tally)
		}
		s.setSupplier(func(supplier *landfall.Supplier) { supplier.Status = landfall.Ongoing })
		s.finished(run.ID, landfall.RunTally{Selected: 200, Succeeded: 200})
		want := []string{"run.started", "run.paused", "run.finished"}
		if told := s.eventsOf(""); !slices.Equal(told, want) {
			t.Errorf("events: %v", told)
		}
	})
}

// The reason of a pause once stayed when it was over: the window of the run had
// ended while its supplier was paused.
func TestAReasonThatIsOverIsReplaced(t *testing.T) {
	onBoth(t, func(_ *testing.T, s *fixture) {
		s.book("A", 20, "")
		made := s.start("A1", landfall.RunPlan{NotAfter: time.Now().Add(time.Second)})
		s.setSupplier(func(supplier *landfall.Supplier) { supplier.Status = landfall.Paused })
		s.work(1)
		s.paused(made.ID, landfall.PauseSupplierPaused)
		s.waitUntil(made.ID, "after its window", func(run landfall.Run) bool { return run.WindowOver() })
		s.setSupplier(func(supplier *landfall.Supplier) { supplier.Status = landfall.Ongoing })
		s.paused(made.ID, landfall.PauseWindowOver)
	})
}

// Shutdown does not wait for a run that has work left. The workers take no more
// work, and the remaining replicas continue the run.
func TestShutdownDuringARun(t *testing.T) {
	onBoth(t, func(t *testing.T, s *fixture) {
		s.book("B", 200, instructed)
		s.vendor.setAnswer(func(context.Context, string) error {
			time.Sleep(100 * time.Millisecond)
			return nil
		})
		made := s.start("B1", landfall.RunPlan{Concurrency: 4})
		for range 2 {
			ctx, stop := context.WithCancel(t.Context())
			c := s.newRunner(time.Second)
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				c.Run(ctx)
			}()
			s.waitUntil(made.ID, "at work", func(run landfall.Run) bool { return run.State == landfall.RunRunning && run.Tally.Succeeded > 0 })
			stop()
			select {
			case <-ended:
			case <-time.After(30 * time.Second):
				t.Fatal("workers take more accounts of a run after it was cancelled")
			}
		}
		s.vendor.setAnswer(nil)
		s.work(1)
		s.finished(made.ID, landfall.RunTally{Selected: 200, Succeeded: 200})
	})
}

// A pause requested by a caller does not end when the supplier's pause ends.
func TestRequestedPauseStays(t *testing.T) {
	onBoth(t, func(t *testing.T, s *fixture) {
		s.book("A", 5, "")
		s.setSupplier(func(supplier *landfall.Supplier) { supplier.Status = landfall.Ongoing })
		run := s.start("A1", landfall.RunPlan{NotBefore: time.Now().Add(time.Hour)})
		s.work(1)
		if _, err := s.api.Pause(t.Context(), who("A2"), run.ID); err != nil {
			t.Fatal(err)
		}
		s.setSupplier(func(supplier *landfall.Supplier) { supplier.Status = landfall.Paused })
		if _, err := s.api.Resume(t.Context(), who("A2"), run.ID); err == nil || !strings.Contains(err.Error(), landfall.CodeSupplierNotOngoing) {
			t.Errorf("resumed although the supplier is paused: %v", err)
		}
		s.setSupplier(func(supplier *landfall.Supplier) { supplier.Status = landfall.Ongoing })
		time.Sleep(700 * time.Millisecond)
		s.paused(run.ID, landfall.PauseRequested)
	})
}

func TestUnavailableVendorIsRetried(t *testing.T) {
	onBoth(t, func(t *testing.T, s *fixture) {
		s.book("A", 20, instructed)
		s.vendor.setAnswer(func(context.Context, string) error { return away })
		s.work(1)
		run := s.start("A1", landfall.RunPlan{})
		s.waitUntil(run.ID, "tried", func(landfall.Run) bool { return s.runners[0].Figures().Retried >= 40 })
		s.vendor.setAnswer(nil)
		s.finished(run.ID, landfall.RunTally{Selected: 20, Succeeded: 20})
		// The first failure is recorded, as for a single call; the retries after it
		// add nothing.
		want := []string{"account_import.failed", "account_import.completed"}
		if told := s.eventsOf("0003"); !slices.Equal(told, want) {
			t.Errorf("events: %v", told)
		}
	})
}

func TestRevokedKeyPausesItsRun(t *testing.T) {
	onBoth(t, func(t *testing.T, s *fixture) {
		s.book("A", 10, "")
		run := s.start("A1", landfall.RunPlan{})
		s.update(func(tx landfall.Tx) error { return tx.RevokeKey(t.Context(), "A1") })
		time.Sleep(1100 * time.Millisecond) // longer than a key is cached
		s.work(2)
		stopped := s.paused(run.ID, landfall.PauseKeyNotValid)
		if stopped.Tally.Done() != 0 {
			t.Errorf("%+v", stopped.Tally)
		}
		if _, err := s.api.Resume(t.Context(), who("A2"), run.ID); err != nil {
			t.Fatal(err)
		}
		ended := s.finished(run.ID, landfall.RunTally{Selected: 10, Succeeded: 10})
		if ended.CreatedBy.KeyID != "A1" || ended.ActsFor.KeyID != "A2" {
			t.Errorf("created by %+v, acts for %+v", ended.CreatedBy, ended.ActsFor)
		}
		err := s.store.View(t.Context(), func(view landfall.View) error {
			events, err := view.Events(t.Context(), landfall.Key{Supplier: "A", External: "0000"})
			if len(events) != 1 || events[0].By.KeyID != "A2" || events[0].By.RequestID != "request-of-A2" {
				t.Errorf("the account is written by %+v", events)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestRevokedGrantPausesRun(t *testing.T) {
	onBoth(t, func(t *testing.T, s *fixture) {
		s.book("A", 10, "")
		run := s.start("A1", landfall.RunPlan{})
		s.update(func(tx landfall.Tx) error { return tx.Ungrant(t.Context(), "A", "A") })
		s.work(1)
		s.paused(run.ID, landfall.PauseNotGranted)
		s.update(func(tx landfall.Tx) error { return tx.Grant(t.Context(), "A", "A") })
		s.finished(run.ID, landfall.RunTally{Selected: 10, Succeeded: 10})
	})
}

func TestWindow(t *testing.T) {
	onBoth(t, func(t *testing.T, s *fixture) {
		s.book("A", 5, "")
		s.work(1)
		began := time.Now()
		run := s.start("A1", landfall.RunPlan{NotBefore: began.Add(600 * time.Millisecond), NotAfter: began.Add(700 * time.Millisecond)})
		s.book("B", 1, "") // and nothing happens meanwhile
		stopped := s.waitUntil(run.ID, "over", func(run landfall.Run) bool {
			return run.State == landfall.RunFinished || run.State == landfall.RunPaused && run.Reason == landfall.PauseWindowOver
		})
		if stopped.State == landfall.RunPaused {
			if _, err := s.api.Resume(t.Context(), who("A1"), run.ID); err != nil {
				t.Fatal(err)
			}
		}
		ended := s.finished(run.ID, landfall.RunTally{Selected: 5, Succeeded: 5})
		if ended.StartedAt.Before(began.Add(600 * time.Millisecond)) {
			t.Errorf("it started after %s", ended.StartedAt.Sub(began))
		}
	})
}

func TestOtherCallersCreateAccountsOfARun(t *testing.T) {
	onBoth(t, func(t *testing.T, s *fixture) {
		s.book("A", 12, "")
		run := s.start("A1", landfall.RunPlan{})
		for done := false; !done; {
			var err error
			if done, err = s.store.ChooseRun(t.Context(), run.ID); err != nil {
				t.Fatal(err)
			}
		}
		for _, number := range []string{"0001", "0002"} {
			if _, err := s.intake.Process(t.Context(), who("A2"), contract.ProcessRequest{
				Key: landfall.Key{Supplier: "A", External: number}, Team: team,
			}); err != nil {
				t.Fatal(err)
			}
		}
		s.update(func(tx landfall.Tx) error {
			_, err := tx.Skip(t.Context(), landfall.Key{Supplier: "A", External: "0003"}, "no")
			return err
		})
		// Another process died while creating this account: it is free when the
		// lease expires.
		held, err := s.store.Claim(t.Context(), landfall.ClaimRequest{
			Key: landfall.Key{Supplier: "A", External: "0004"}, Team: team, Lease: time.Second,
		})
		if err != nil || held.Verdict != landfall.ClaimGranted {
			t.Fatal(held, err)
		}
		s.work(2)
		s.finished(run.ID, landfall.RunTally{Selected: 12, Succeeded: 9, Refused: 3})
	})
}

// The failure of an account that is first tried on a later pass over its slice
// left no failure and no event.
func TestFailureOnALaterPassIsRecorded(t *testing.T) {
	onBoth(t, func(t *testing.T, s *fixture) {
		s.book("A", 2, instructed)
		// The second account is not tried on the first pass.
		held, err := s.store.Claim(t.Context(), landfall.ClaimRequest{
			Key: landfall.Key{Supplier: "A", External: "0001"}, Team: team, Lease: time.Second,
		})
		if err != nil || held.Verdict != landfall.ClaimGranted {
			t.Fatal(held, err)
		}
		failed := func(external string) int {
			count := 0
			for _, kind := range s.eventsOf(external) {
				if kind == string(landfall.EventImportFailed) {
					count++
				}
			}
			return count
		}
		s.vendor.setAnswer(func(context.Context, string) error {
			if failed("0000") > 0 && failed("0001") > 0 {
				return nil
			}
			return away
		})
		s.work(1)
		run := s.start("A1", landfall.RunPlan{})
		s.finished(run.ID, landfall.RunTally{Selected: 2, Succeeded: 2})
		for _, external := range []string{"0000", "0001"} {
			if got := failed(external); got != 1 {
				t.Errorf("account %s has %d failures on record: %v", external, got, s.eventsOf(external))
			}
		}
	})
}

// When the limits are reached, a run waits for a slot like every other caller.
func TestFullLimitDelaysARun(t *testing.T) {
	onBoth(t, func(t *testing.T, s *fixture) {
		s.book("A", 8, "")
		s.book("B", 1, "")
		held, err := s.store.Claim(t.Context(), landfall.ClaimRequest{
			Key: landfall.Key{Supplier: "B", External: "0000"}, Team: team, Lease: 1500 * time.Millisecond, ServiceLimit: 1,
		})
		if err != nil || held.Verdict != landfall.ClaimGranted {
			t.Fatal(held, err)
		}
		s.work(2)
		began := time.Now()
		run := s.start("A1", landfall.RunPlan{})
		s.finished(run.ID, landfall.RunTally{Selected: 8, Succeeded: 8})
		if took := time.Since(began); took < time.Second {
			t.Errorf("it took %s although the only place was taken", took)
		}
	}, func(options *intake.Options) { options.ServiceLimit = 1 })
}

// A run whose vendor hangs does not keep another organisation's run from
// finishing.
func TestRunsShareTheWorkers(t *testing.T) { shareTheWorkers(t, false) }

// Alongside single calls, one batch runs at a time, and a batch that hangs loses
// its turn.
func TestRunsShareTheirTurns(t *testing.T) { shareTheWorkers(t, true) }

func shareTheWorkers(t *testing.T, interactive bool) {
	t.Helper()
	onBoth(t, func(_ *testing.T, s *fixture) {
		if interactive {
			s.interactive.Record(time.Now().Add(time.Hour)) // Recent from now on
		}
		s.book("A", moreThanASlice, instructed)
		s.book("B", 100, "")
		gate := make(chan struct{})
		s.vendor.setAnswer(func(ctx context.Context, _ string) error {
			select {
			case <-gate:
			case <-ctx.Done():
			}
			return nil
		})
		s.work(1)
		slow := s.start("A1", landfall.RunPlan{})
		s.waitUntil(slow.ID, "at work", func(landfall.Run) bool { return s.runners[0].Figures().Busy > 0 })
		quick := s.start("B1", landfall.RunPlan{})
		s.finished(quick.ID, landfall.RunTally{Selected: 100, Succeeded: 100})
		close(gate)
		s.finished(slow.ID, landfall.RunTally{Selected: moreThanASlice, Succeeded: moreThanASlice})
	}, func(options *intake.Options) { options.Lease = 20 * time.Second }) // long enough that no claim is fenced, however busy the machine is
}

// moreThanASlice is a number of accounts that needs two workers.
const moreThanASlice = landfall.SliceSize + 30

// A failing batch is split in half until the one account that cannot be written
// is isolated; all others are created.
func TestPanicsAndFaultsStayWithTheirAccount(t *testing.T) {
	onBoth(t, func(_ *testing.T, s *fixture) {
		s.book("A", 9, instructed)
		var once sync.Once
		s.vendor.setAnswer(func(context.Context, string) error {
			once.Do(func() { panic("a fault of ours") })
			return nil
		})
		s.work(1)
		run := s.start("A1", landfall.RunPlan{})
		s.finished(run.ID, landfall.RunTally{Selected: 9, Succeeded: 9})
	})
}
