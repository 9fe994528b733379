package run_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"landfall"
	"landfall/internal/lib/admission"
	"landfall/internal/service/intake"
	"landfall/internal/service/run"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
)

// fixture is a service with two suppliers of two organisations, a fake vendor, and
// one or more runners.
type fixture struct {
	t           *testing.T
	store       landfall.Store
	intake      *intake.Service
	api         *run.Runner // starts and changes runs, but executes none
	vendor      *vendor
	runners     []*run.Runner
	lease       time.Duration
	interactive admission.Activity
}

// vendor is a fake payment vendor that answers about payment instructions.
type vendor struct {
	mu     sync.Mutex
	answer func(ctx context.Context, reference string) error
	asked  int
}

func (v *vendor) Verify(
	ctx context.Context, _ string, _ landfall.Vendor, instruction landfall.Instruction,
) (landfall.InstructionDetails, error) {
	v.mu.Lock()
	v.asked++
	answer := v.answer
	v.mu.Unlock()
	if answer == nil {
		return landfall.InstructionDetails{Status: "active"}, nil
	}
	return landfall.InstructionDetails{Status: "active"}, answer(ctx, instruction.Reference)
}

func (v *vendor) setAnswer(answer func(context.Context, string) error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.answer = answer
}

var away = &landfall.Error{Kind: landfall.UpstreamUnavailable, Code: landfall.CodeVendorUnavailable, Detail: "Away."}

const team = "Team"

// onBoth runs a test on both kinds of database, beside other tests: most of them wait.
func onBoth(t *testing.T, test func(t *testing.T, s *fixture), adjust ...func(*intake.Options)) {
	t.Helper()
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, database string) { test(t, newFixture(t, database, adjust...)) })
}

func newFixture(t *testing.T, database string, adjust ...func(*intake.Options)) *fixture {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), database, sqlstore.Options{Server: true, ApplySchema: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	s := &fixture{t: t, store: store, vendor: &vendor{}}
	options := intake.Options{Lease: time.Second, Verifier: s.vendor}
	for _, change := range adjust {
		change(&options)
	}
	s.intake, s.lease = intake.New(store, options), options.Lease
	s.api = run.New(store, s.intake, run.Options{})
	ctx := t.Context()
	s.update(func(tx landfall.Tx) error { return tx.CreateTeam(ctx, team) })
	s.update(func(tx landfall.Tx) error { return tx.SaveVendor(ctx, landfall.Vendor{Code: "V", Adapter: "sandbox"}) })
	for _, name := range []string{"A", "B"} {
		s.update(func(tx landfall.Tx) error { return tx.CreateOrganisation(ctx, name) })
		s.update(func(tx landfall.Tx) error { return tx.CreateSupplier(ctx, landfall.NewSupplier(name)) })
		s.update(func(tx landfall.Tx) error { return tx.Grant(ctx, name, name) })
		for _, key := range []string{"1", "2"} {
			s.update(func(tx landfall.Tx) error {
				return tx.CreateKey(ctx, landfall.APIKey{ID: name + key, Organisation: name, Role: landfall.RoleImporter})
			})
		}
	}
	return s
}

// work starts runners that share the runs, as replicas do.
func (s *fixture) work(replicas int) {
	s.t.Helper()
	var working sync.WaitGroup
	ctx, stop := context.WithCancel(s.t.Context())
	for range replicas {
		c := s.newRunner(s.lease)
		s.runners = append(s.runners, c)
		working.Go(func() { c.Run(ctx) })
	}
	s.t.Cleanup(func() {
		stop()
		working.Wait()
	})
}

func (s *fixture) newRunner(lease time.Duration) *run.Runner {
	return run.New(s.store, s.intake, run.Options{Lease: lease, Workers: 3, Interactive: &s.interactive})
}

func (s *fixture) update(fn func(landfall.Tx) error) {
	s.t.Helper()
	if err := s.store.Update(s.t.Context(), fn); err != nil {
		s.t.Fatal(err)
	}
}

func who(key string) landfall.Principal {
	return landfall.Principal{Organisation: key[:1], KeyID: key, Role: landfall.RoleImporter, RequestID: "request-of-" + key}
}

// book stages accounts of a supplier; more is added to each of them.
func (s *fixture) book(supplier string, count int, more string) {
	s.t.Helper()
	for i := range count {
		body := fmt.Sprintf(`{"import_supplier":"%s","external_account_number":"%04d","customers":[{"family_name":"N"}]%s}`, supplier, i, more)
		if _, err := s.intake.Stage(s.t.Context(), who(supplier+"1"), []byte(body)); err != nil {
			s.t.Fatal(err)
		}
	}
}

const instructed = `,"payment_instructions":[{"vendor":"V","reference":"r","type":"CARD"}]`

func (s *fixture) start(key string, plan landfall.RunPlan) landfall.Run {
	s.t.Helper()
	plan.Supplier, plan.Team = key[:1], team
	if plan.Select == "" {
		plan.Select = landfall.SelectPending
	}
	run, err := s.api.Start(s.t.Context(), who(key), plan)
	if err != nil {
		s.t.Fatal(err)
	}
	return run
}

// waitUntil waits until a run meets a condition.
func (s *fixture) waitUntil(id, what string, holds func(landfall.Run) bool) landfall.Run {
	s.t.Helper()
	for end := time.Now().Add(3 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		var run landfall.Run
		err := s.store.View(s.t.Context(), func(view landfall.View) (err error) {
			run, err = view.Run(s.t.Context(), id)
			return err
		})
		if err != nil {
			s.t.Fatal(err)
		}
		if holds(run) {
			return run
		}
		if time.Now().After(end) {
			s.t.Fatalf("the run is never %s: %+v", what, run)
		}
	}
}

func (s *fixture) finished(id string, want landfall.RunTally) landfall.Run {
	s.t.Helper()
	run := s.waitUntil(id, "finished", func(run landfall.Run) bool { return run.State == landfall.RunFinished })
	if run.Tally != want {
		s.t.Errorf("the run ends with %+v, want %+v", run.Tally, want)
	}
	return run
}

func (s *fixture) paused(id string, reason landfall.PauseReason) landfall.Run {
	s.t.Helper()
	return s.waitUntil(id, "paused for "+string(reason), func(run landfall.Run) bool {
		return run.State == landfall.RunPaused && run.Reason == reason
	})
}

func (s *fixture) setSupplier(change func(*landfall.Supplier)) {
	s.t.Helper()
	s.update(func(tx landfall.Tx) error {
		supplier, err := tx.Supplier(s.t.Context(), "A")
		if err != nil {
			return err
		}
		change(&supplier)
		return tx.SaveSupplier(s.t.Context(), supplier)
	})
}

// eventsOf lists the events about supplier A, or about one of its accounts.
func (s *fixture) eventsOf(external string) (kinds []string) {
	s.t.Helper()
	err := s.store.View(s.t.Context(), func(view landfall.View) error {
		events, err := view.Events(s.t.Context(), landfall.Key{Supplier: "A", External: external})
		for _, event := range events {
			kinds = append(kinds, string(event.Type))
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return kinds
}
