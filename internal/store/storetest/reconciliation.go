package storetest

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"landfall"
	"landfall/internal/lib/money"
)

// accountsBehind lists the accounts that contribute to a figure, with their
// contributions.
func accountsBehind(t *testing.T, store landfall.Store, measure landfall.Measure, reason landfall.Reason, after *landfall.ProcessCursor, limit int) (found []string, last landfall.ProcessCursor) {
	t.Helper()
	query := landfall.ContributionQuery{Supplier: supplierCode, Measure: measure, Reason: reason, After: after, Limit: limit}
	for one, err := range store.Contributions(t.Context(), query) {
		if err != nil {
			t.Fatal(err)
		}
		text := one.External
		if one.Value.Count != nil {
			text += " " + one.Value.Count.Digits()
		}
		if one.Value.Amount != nil {
			text += " " + one.Value.Amount.String()
		}
		found, last = append(found, text), landfall.ProcessCursor{FirstStagedAt: one.FirstStagedAt, External: one.External}
	}
	return found, last
}

// These are the measures that most cases use.
var (
	customers      = landfall.Measure{Kind: landfall.MeasureCustomers}
	balances       = landfall.Measure{Kind: landfall.MeasureBalances, Currency: "GBP"}
	accountMeasure = landfall.Measure{Kind: landfall.MeasureAccounts}
)

// reconciliations compare sums with rows: every figure has exactly the accounts
// that it counts, and a signed report never changes.
var reconciliations = []promiseCheck{
	// A figure that cannot be broken down into accounts cannot be explained to a
	// supplier. Every list must add up to its figure, so it omits accounts that
	// contribute nothing to the measure, but includes those that were refused or
	// marked without ever being staged.
	{"the accounts that contribute to a figure are listed", func(t *testing.T, store landfall.Store) {
		staged(t, store)
		for i, number := range []string{"P-1", "P-2", "P-3", "F-1", "S-1"} {
			stageWithFigures(t, store, number, "{}", landfall.Figures{Currency: "GBP", Customers: int64(i), Balance: money.Amount(1000 * i)})
		}
		fail(t, store, landfall.Key{Supplier: supplierCode, External: "F-1"}, landfall.Failure{Code: "x"})
		// It was never staged, so it has no customers and no balance, but it is
		// still an account.
		refuse(t, store, "F-0", "x")
		update(t, store, func(tx landfall.Tx) error {
			for _, number := range []string{"S-1", "S-0"} {
				if _, err := tx.Skip(t.Context(), landfall.Key{Supplier: supplierCode, External: number}, "gone"); err != nil {
					return err
				}
			}
			return nil
		})
		sent := sampleFigures()
		sent.Notes += 3
		stageWithFigures(t, store, "A-1", "{}", sent)
		create(t, store, claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted), sampleAccount())
		// P-1 has no customers, so it does not contribute to them.
		for _, c := range []struct {
			measure landfall.Measure
			reason  landfall.Reason
			want    []string
		}{
			{customers, landfall.ReasonPending, []string{"P-2 1", "P-3 2"}},
			{balances, landfall.ReasonPending, []string{"P-2 1.00", "P-3 2.00"}},
			{accountMeasure, landfall.ReasonPending, []string{"P-1 1", "P-2 1", "P-3 1"}},
			{accountMeasure, landfall.ReasonFailed, []string{"F-0 1", "F-1 1"}},
			{customers, landfall.ReasonFailed, []string{"F-1 3"}},
			{accountMeasure, landfall.ReasonSkipped, []string{"S-0 1", "S-1 1"}},
			{balances, landfall.ReasonSkipped, []string{"S-1 4.00"}},
			{landfall.Measure{Kind: landfall.MeasureNotes}, landfall.ReasonOtherFigures, []string{"A-1 3"}},
			{accountMeasure, landfall.ReasonOtherFigures, nil},
		} {
			found, _ := accountsBehind(t, store, c.measure, c.reason, nil, 0)
			if c.reason == landfall.ReasonSkipped && len(found) == 2 && found[0] > found[1] {
				found[0], found[1] = found[1], found[0] // they may have been first seen in either order
			}
			if fmt.Sprint(found) != fmt.Sprint(c.want) {
				t.Errorf("behind %s of %s: %v, want %v", c.reason, c.measure, found, c.want)
			}
		}
		first, place := accountsBehind(t, store, accountMeasure, landfall.ReasonPending, nil, 2)
		second, _ := accountsBehind(t, store, accountMeasure, landfall.ReasonPending, &place, 2)
		if fmt.Sprint(first, second) != "[P-1 1 P-2 1] [P-3 1]" {
			t.Errorf("pages %v and %v", first, second)
		}
		if found, _ := accountsBehind(t, store, landfall.Measure{Kind: landfall.MeasureBalances, Currency: "EUR"}, landfall.ReasonPending, nil, 0); found != nil {
			t.Errorf("%v in a currency nobody has", found)
		}
	}},
	// Suppliers correct their control totals, and afterwards it matters what they
	// claimed before and who changed it. One amount needs more than 32 bits.
	{"the newest control totals apply, and earlier ones are kept", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		by := author(t, store)
		total := func(number int64) *money.Total { wide := money.TotalOf(number); return &wide }
		inView(t, store, func(view landfall.View) error {
			_, err := view.ControlTotals(t.Context(), supplierCode)
			wantError(t, err, landfall.ErrNotFound)
			return nil
		})
		for i := range int64(3) {
			update(t, store, func(tx landfall.Tx) error {
				kept, err := tx.SetControlTotals(t.Context(), supplierCode, landfall.ControlTotals{By: by, Claims: map[landfall.Measure]landfall.Value{
					accountMeasure: {Count: total(i)}, balances: {Amount: total(-i)},
					{Kind: landfall.MeasureTransactions, Currency: "GBP", Type: landfall.Payment}: {Count: total(7), Amount: total(1 << 60)},
				}})
				recent(t, kept.SetAt)
				return err
			})
		}
		inView(t, store, func(view landfall.View) error {
			newest, err := view.ControlTotals(t.Context(), supplierCode)
			if err != nil {
				return err
			}
			former, err := view.ControlTotalsHistory(t.Context(), supplierCode)
			if len(former) != 3 || former[0].SetAt != newest.SetAt || newest.By != by {
				t.Errorf("newest %+v of %+v", newest, former)
			}
			for i, totals := range former {
				if *totals.Claims[accountMeasure].Count != money.TotalOf(int64(2-i)) || *totals.Claims[balances].Amount != money.TotalOf(int64(i-2)) || len(totals.Claims) != 3 {
					t.Errorf("totals %d: %+v", i, totals.Claims)
				}
			}
			return err
		})
		err := store.Update(t.Context(), func(tx landfall.Tx) error {
			_, err := tx.SetControlTotals(t.Context(), "NOBODY", landfall.ControlTotals{})
			return err
		})
		wantError(t, err, landfall.ErrNotFound)
	}},
	// A person signed these exact bytes, so they are stored and never
	// regenerated. The list omits them, since each may be long.
	{"a sign-off does not change", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		var ids []int64
		for _, text := range []string{"first", "second"} {
			update(t, store, func(tx landfall.Tx) error {
				id, err := tx.CreateSignOff(t.Context(), landfall.SignOff{Supplier: supplierCode, Actor: undoActor, Report: []byte(text), Page: []byte("<p>" + text)})
				ids = append(ids, id)
				if err != nil {
					return err
				}
				return tx.AppendAudit(t.Context(), landfall.AuditEntry{Action: landfall.SignOffAction, Subject: supplierCode,
					Detail: landfall.SignOffDetail(id, sha256.Sum256([]byte(text)), sha256.Sum256([]byte("<p>"+text)))})
			})
		}
		inView(t, store, func(view landfall.View) error {
			for _, supplier := range []string{supplierCode, ""} {
				listed, err := view.SignOffs(t.Context(), supplier)
				if err != nil || len(listed) != 2 || listed[0].ID != ids[len(ids)-1] || listed[0].Report != nil || listed[0].Actor != undoActor {
					t.Errorf("listed %+v, %v", listed, err)
				}
			}
			signed, err := view.SignOff(t.Context(), ids[0])
			if string(signed.Report) != "first" || string(signed.Page) != "<p>first" || signed.Supplier != supplierCode {
				t.Errorf("signed %+v", signed)
			}
			_, missing := view.SignOff(t.Context(), ids[0]+1000)
			wantError(t, missing, landfall.ErrNotFound)
			return err
		})
	}},
}
