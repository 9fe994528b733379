package console

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/answer"
	"landfall/internal/conductor"
	"landfall/internal/intake"
	"landfall/internal/operate"
	"landfall/internal/specimen"
)

// hostile is what nobody should be called, and somebody will be.
const hostile = `<script>window.hacked=1</script>"><img src=x onerror="window.hacked=1">`

// world is a house with moves in it: one done with failures, one done whole, one
// paused, one that has not begun.
type world struct {
	*house
	api *answer.API
}

func newWorld(t *testing.T) *world {
	t.Helper()
	h := newHouse(t)
	desk := intake.New(h.store, intake.Options{Wake: func() {}})
	baton := conductor.New(h.store, desk, conductor.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { baton.Run(ctx); close(ended) }()
	t.Cleanup(func() { cancel(); <-ended })
	h.console.Wake = baton.Wake
	w := &world{h, answer.New(desk, nil)}
	w.furnish()
	operator := w.operator()
	for code, name := range map[string]string{"WEST": "West Gas", "EAST": "East Coast Energy", "SOUTH": "South " + hostile} {
		if _, err := operator.CreateSupplier(ctx, code, supplierNamed(name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, code := range []string{"NORTH", "WEST", "EAST", "SOUTH"} {
		if err := operator.Grant(ctx, code, "Acme"); err != nil {
			t.Fatal(err)
		}
	}
	if err := operator.CreateTeam(ctx, "Team "+strings.ReplaceAll(hostile, `"`, "'")); err != nil {
		t.Fatal(err)
	}
	w.stage("NORTH", 240, true)
	w.stage("WEST", 40, false)
	w.stage("EAST", 60, false)
	w.run("NORTH", landfall.RunFinished)
	w.run("WEST", landfall.RunFinished)
	return w
}

// stage sends a made-up book.
func (w *world) stage(supplier string, accounts int, faulty bool) {
	w.t.Helper()
	order := specimen.Order{Accounts: accounts, Seed: 7, Supplier: supplier, AsOf: specimen.DefaultAsOf}
	if faulty {
		for _, kind := range specimen.FaultKinds() {
			order.Faults = append(order.Faults, specimen.Fault{Kind: kind[0], Share: 0.01})
		}
	}
	who := landfall.Principal{Organisation: "Acme", Role: landfall.Importer}
	var calls []answer.Call
	for place := range accounts {
		calls = append(calls, answer.Call{Who: who, Body: order.Draw(place).Account})
	}
	for i, told := range w.api.DoAll(w.t.Context(), answer.Stage, calls) {
		if told.Status >= http.StatusInternalServerError {
			w.t.Fatalf("account %d of %s: %d %s", i, supplier, told.Status, told.Body)
		}
	}
}

// run lets the service create what is staged, until the run is in a state.
func (w *world) run(supplier string, state landfall.RunState) landfall.Run {
	w.t.Helper()
	run, err := w.operator().StartRun(w.t.Context(), landfall.RunPlan{Supplier: supplier, Team: "Night Team", Select: landfall.SelectPending})
	if err != nil {
		w.t.Fatal(err)
	}
	w.console.Wake()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		var facts operate.RunFacts
		if facts, err = w.operator().ShowRun(w.t.Context(), run.ID, 0); err != nil {
			w.t.Fatal(err)
		}
		if facts.State == state {
			return facts.Run
		}
		if time.Now().After(end) {
			w.t.Fatalf("run %s is %s", run.ID, facts.State)
		}
	}
}
