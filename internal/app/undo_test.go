package app

import (
	"crypto/sha256"
	"testing"
	"time"

	"landfall"
	"landfall/internal/lib/calendar"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
)

// TestUndosOfEveryActorAreCounted undoes accounts without the server, as
// operators do, and checks the server's metrics.
func TestUndosOfEveryActorAreCounted(t *testing.T) {
	ctx := t.Context()
	store, err := sqlstore.Open(ctx, dbtest.SQLite(t), sqlstore.Options{ApplySchema: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	setWindow := func(window time.Duration) error {
		return store.Update(ctx, func(tx landfall.Tx) error {
			supplier, err := tx.Supplier(ctx, "S")
			if err != nil {
				return err
			}
			supplier.UndoWindow = window
			return tx.SaveSupplier(ctx, supplier)
		})
	}
	key := landfall.Key{Supplier: "S", External: "1"}
	if err := store.Update(ctx, func(tx landfall.Tx) error {
		if err := tx.CreateTeam(ctx, "T"); err != nil {
			return err
		}
		return tx.CreateSupplier(ctx, landfall.NewSupplier("S"))
	}); err != nil {
		t.Fatal(err)
	}
	document := []byte(`{}`)
	if _, err := store.Stage(ctx, landfall.Staging{Key: key, Document: document, Hash: sha256.Sum256(document)}); err != nil {
		t.Fatal(err)
	}
	claimed, err := store.Claim(ctx, landfall.ClaimRequest{Key: key, Team: "T", Lease: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	account := landfall.Account{Periods: []landfall.Period{{FromOn: calendar.Date(2026, time.July, 1)}}}
	if _, err := store.Create(ctx, landfall.Creation{Claim: claimed.Claim, Account: account}); err != nil {
		t.Fatal(err)
	}
	figures := &undoFigures{store: store}
	if err := setWindow(0); err != nil {
		t.Fatal(err)
	}
	if outcome, err := store.Undo(ctx, landfall.UndoRequest{Key: key}); err != nil || outcome.Verdict != landfall.UndoKept {
		t.Fatalf("got %+v, %v", outcome, err)
	}
	received := func(outcome string) float64 {
		figures.asked = time.Time{}
		return figures.read(outcome)
	}
	if received("window_over") != 1 || received("undone") != 0 || received("has_postings") != 0 {
		t.Errorf("figures %v", figures.times)
	}
	if err := setWindow(time.Hour); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Undo(ctx, landfall.UndoRequest{Key: key}); err != nil {
		t.Fatal(err)
	}
	if received("undone") != 1 || received("window_over") != 1 {
		t.Errorf("figures %v", figures.times)
	}
	// While the database is unavailable, the last figures remain.
	_ = store.Close()
	if received("undone") != 1 {
		t.Errorf("figures %v", figures.times)
	}
}
