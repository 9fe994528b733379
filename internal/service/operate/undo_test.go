package operate_test

import (
	"crypto/sha256"
	"errors"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/lib/calendar"
	"landfall/internal/service/operate"
)

// createAccount stages and creates a minimal account.
func (d fixture) createAccount(t *testing.T, key landfall.Key) landfall.CreateOutcome {
	t.Helper()
	document := []byte(`{}`)
	if _, err := d.store.Stage(t.Context(), landfall.Staging{Key: key, Document: document, Hash: sha256.Sum256(document)}); err != nil {
		t.Fatal(err)
	}
	claimed, err := d.store.Claim(t.Context(), landfall.ClaimRequest{Key: key, Team: "T", Lease: time.Minute})
	if err != nil || claimed.Verdict != landfall.ClaimGranted {
		t.Fatalf("claim: %+v, %v", claimed, err)
	}
	today, err := calendar.ParseDay("2026-07-01")
	if err != nil {
		t.Fatal(err)
	}
	made, err := d.store.Create(t.Context(), landfall.Creation{
		Claim: claimed.Claim, Account: landfall.Account{Periods: []landfall.Period{{FromOn: today}}},
	})
	if err != nil || made.Verdict != landfall.Created {
		t.Fatalf("create: %+v, %v", made, err)
	}
	return made
}

func TestUndoIsAuditedAndShown(t *testing.T) {
	each(t, func(t *testing.T, d fixture) {
		if _, err := d.CreateSupplier(t.Context(), "S", operate.SupplierChange{}); err != nil {
			t.Fatal(err)
		}
		if err := d.CreateTeam(t.Context(), "T"); err != nil {
			t.Fatal(err)
		}
		key := landfall.Key{Supplier: "S", External: "1"}
		refused := func(want string, reason string) {
			t.Helper()
			_, err := d.Undo(t.Context(), key, reason)
			if known, ok := errors.AsType[*landfall.Error](err); !ok || known.Code != want {
				t.Errorf("got %v, want %s", err, want)
			}
		}
		refused(landfall.CodeProcessUnknown, "r")
		made := d.createAccount(t, key)
		refused(landfall.CodeValidationFailed, "")
		refused(landfall.CodeValidationFailed, "over\nlines")

		never := time.Duration(0)
		if _, err := d.SetSupplier(t.Context(), "S", operate.SupplierChange{UndoWindow: &never}); err != nil {
			t.Fatal(err)
		}
		refused(landfall.CodeWindowOver, "r")
		usual := 72 * time.Hour
		if _, err := d.SetSupplier(t.Context(), "S", operate.SupplierChange{UndoWindow: &usual}); err != nil {
			t.Fatal(err)
		}
		if lines := strings.Join(d.audit(t, "S"), "\n"); !strings.Contains(lines, "supplier.set: undo_window=0s") {
			t.Errorf("audit:\n%s", lines)
		}

		outcome, err := d.Undo(t.Context(), key, "the wrong one")
		if err != nil || outcome.Number != made.Number {
			t.Fatalf("got %+v, %v", outcome, err)
		}
		if lines := strings.Join(d.audit(t, "S/1"), "\n"); lines != "account.undo: "+made.Number+": the wrong one" {
			t.Errorf("audit:\n%s", lines)
		}
		refused(landfall.CodeAccountNotFound, "again")
		shown, err := d.ShowAccount(t.Context(), key)
		if err != nil || shown.Account != nil || len(shown.Undone) != 1 || shown.Undone[0].Reason != "the wrong one" {
			t.Errorf("shown %+v, %v", shown, err)
		}
		if _, err := d.ShowAccountByNumber(t.Context(), made.Number); err == nil || !strings.Contains(err.Error(), "was undone") ||
			!strings.Contains(err.Error(), `"1" of supplier S`) {
			t.Errorf("by its number: %v", err)
		}
		for _, window := range []time.Duration{-time.Second, 4000 * 24 * time.Hour} {
			if _, err := d.SetSupplier(t.Context(), "S", operate.SupplierChange{UndoWindow: &window}); err == nil {
				t.Errorf("a window of %s was taken", window)
			}
		}
	})
}
