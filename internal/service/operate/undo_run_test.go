package operate_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"
	"time"

	"landfall"
	"landfall/internal/lib/calendar"
	"landfall/internal/service/operate"
)

// ranThrough returns a finished run that created count accounts.
func (d fixture) ranThrough(t *testing.T, supplier string, count int) landfall.Run {
	t.Helper()
	ctx := t.Context()
	if _, err := d.CreateSupplier(ctx, supplier, operate.SupplierChange{}); err != nil {
		t.Fatal(err)
	}
	if err := d.CreateTeam(ctx, "T"); err != nil {
		t.Fatal(err)
	}
	for number := range count {
		document := fmt.Appendf(nil, `{"n": %d}`, number)
		if _, err := d.store.Stage(ctx, landfall.Staging{
			Key: landfall.Key{Supplier: supplier, External: fmt.Sprintf("%04d", number)}, Document: document, Hash: sha256.Sum256(document),
			By: landfall.Author{Delivery: "book"},
		}); err != nil {
			t.Fatal(err)
		}
	}
	var run landfall.Run
	change := func(how func(*landfall.Run)) {
		t.Helper()
		if err := d.store.Update(ctx, func(tx landfall.Tx) (err error) {
			if run, err = tx.Run(ctx, run.ID); err != nil {
				return err
			}
			how(&run)
			return tx.SaveRun(ctx, run)
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.store.Update(ctx, func(tx landfall.Tx) (err error) {
		run, err = tx.CreateRun(ctx, landfall.Run{Plan: landfall.RunPlan{Supplier: supplier, Team: "T", Select: landfall.SelectPending}})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for done := false; !done; {
		var err error
		if done, err = d.store.ChooseRun(ctx, run.ID); err != nil {
			t.Fatal(err)
		}
	}
	change(func(run *landfall.Run) { run.Start() })
	for {
		slice, err := d.store.TakeSlice(ctx, landfall.SliceRequest{Run: run.ID, Lease: time.Minute, Concurrency: 64})
		if errors.Is(err, landfall.ErrNotFound) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		d.settle(t, slice)
	}
	if _, err := d.UndoRun(ctx, run.ID, "too early", operate.RunUndoWatch{}); err == nil {
		t.Error("a running run was undone")
	}
	change(func(run *landfall.Run) { run.Finish() })
	return run
}

func (d fixture) settle(t *testing.T, slice landfall.RunSlice) {
	t.Helper()
	today, err := calendar.ParseDay("2026-07-01")
	if err != nil {
		t.Fatal(err)
	}
	requests := make([]landfall.ClaimRequest, len(slice.Members))
	for i, member := range slice.Members {
		requests[i] = landfall.ClaimRequest{Key: member.Key, Team: "T", Lease: time.Minute}
	}
	claims, err := d.store.ClaimSlice(t.Context(), requests)
	if err != nil {
		t.Fatal(err)
	}
	var made []landfall.RunCreation
	for i, claim := range claims {
		made = append(made, landfall.RunCreation{Ordinal: slice.Members[i].Ordinal, Creation: landfall.Creation{
			Claim: claim.Claim, Account: landfall.Account{Periods: []landfall.Period{{FromOn: today}}}, Run: slice.Run.ID,
		}})
	}
	if _, err := d.store.SettleSlice(t.Context(), slice, landfall.Settlement{Created: made}); err != nil {
		t.Fatal(err)
	}
}

// TestRunUndoIsInterruptedAndRepeated stops an undo in the middle. The next one
// must end with the figures of a single uninterrupted undo.
func TestRunUndoIsInterruptedAndRepeated(t *testing.T) {
	each(t, func(t *testing.T, d fixture) {
		const accounts = 90
		run := d.ranThrough(t, "S", accounts)
		d.posted(t, "", "0003", "0050", "0080")
		impatient, stop := context.WithCancel(t.Context())
		defer stop()
		first, err := d.UndoRun(impatient, run.ID, "wrong book", operate.RunUndoWatch{Progress: func(done, of int) {
			if of != accounts {
				t.Errorf("%d of %d", done, of)
			}
			if done == 20 {
				stop()
			}
		}})
		if !errors.Is(err, operate.ErrInterrupted) || first.Undone < 10 || first.Undone > 60 {
			t.Errorf("interrupted: %+v, %v", first, err)
		}
		for range 2 {
			remnants := map[string]landfall.KeptReason{}
			last := 0
			undo, err := d.UndoRun(t.Context(), run.ID, "wrong book", operate.RunUndoWatch{
				Kept:     func(r operate.KeptAccount) error { remnants[r.Key.External] = r.Kept; return r.Err },
				Progress: func(done, _ int) { last = done },
			})
			if err != nil || undo.Created != accounts || undo.Undone != accounts-3 || undo.Kept[landfall.KeptHasPostings] != 3 ||
				undo.Failed != 0 || undo.Left() != 3 || last != accounts {
				t.Errorf("got %+v, %v, %d done", undo, err, last)
			}
			if len(remnants) != 3 || remnants["0050"] != landfall.KeptHasPostings {
				t.Errorf("remnants %v", remnants)
			}
		}
		if lines := d.audit(t, run.ID); len(lines) != 3 || lines[0] != "run.undo: wrong book" {
			t.Errorf("audit %v", lines)
		}
		for seen, err := range d.store.Inspect(t.Context()) {
			if err != nil || seen.Finding != nil {
				t.Errorf("%+v, %v", seen.Finding, err)
			}
		}
		if _, err := d.UndoRun(t.Context(), "no-such-run", "r", operate.RunUndoWatch{}); err == nil {
			t.Error("an unknown run was undone")
		}
		if _, err := d.UndoRun(t.Context(), run.ID, "", operate.RunUndoWatch{}); err == nil {
			t.Error("a run was undone without a reason")
		}
	})
}
