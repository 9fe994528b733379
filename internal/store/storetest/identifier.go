package storetest

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"landfall"
)

// point returns the identifier of a supply point. The days may be empty.
func point(value, from, to string) landfall.Identifier {
	one := landfall.Identifier{Kind: landfall.IdentifierSupplyPoint, Space: "GAS", Value: value, Attr: "supply_addresses.0.supply_points.0.identifier"}
	if from != "" {
		one.FromOn = parseDay(from)
	}
	if to != "" {
		one.ToOn = parseDay(to)
	}
	return one
}

// mandate returns the identifier of a payment instruction.
func mandate(value string) landfall.Identifier {
	return landfall.Identifier{Kind: landfall.IdentifierInstruction, Space: "V", Value: value, Attr: "payment_instructions.0.reference"}
}

// unique makes identifiers refuse an account.
func unique(identifiers ...landfall.Identifier) []landfall.Identifier {
	for i := range identifiers {
		identifiers[i].Unique = true
	}
	return identifiers
}

// identified returns a staging with identifiers.
func identified(key landfall.Key, identifiers ...landfall.Identifier) landfall.Staging {
	staging := newStaging(key, fmt.Sprint(key, identifiers))
	staging.Identifiers = identifiers
	return staging
}

// ownKey is a key of the supplier that most cases use.
func ownKey(external string) landfall.Key {
	return landfall.Key{Supplier: supplierCode, External: external}
}

// createStaged creates a staged account with unique identifiers and returns the
// verdict.
func createStaged(t *testing.T, store landfall.Store, key landfall.Key, identifiers ...landfall.Identifier) landfall.CreateOutcome {
	t.Helper()
	account := sampleAccount()
	account.Key = key
	outcome, err := store.Create(t.Context(), landfall.Creation{
		Claim: claimFor(t, store, claimRequest(key), landfall.ClaimGranted), Account: account, Unique: unique(identifiers...),
	})
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

// conflictsOf returns the other accounts that have identifiers of an account.
func conflictsOf(t *testing.T, store landfall.Store, key landfall.Key, identifiers ...landfall.Identifier) (others []string) {
	t.Helper()
	inView(t, store, func(view landfall.View) error {
		found, err := view.Conflicts(t.Context(), []landfall.ConflictQuery{{Key: key, Identifiers: identifiers}})
		if err != nil {
			return err
		}
		for _, conflict := range found[0] {
			state := "staged"
			if conflict.Created {
				state = "created"
			}
			others = append(others, strings.Join([]string{string(conflict.Identifier.Kind), conflict.Other.Supplier, conflict.Other.External, state}, " "))
		}
		return nil
	})
	return others
}

// pairsOf reads all pages of the duplicates of a supplier, and again in steps of few accounts, which
// must find the same.
func pairsOf(t *testing.T, store landfall.Store, supplier string, limit int) []string {
	t.Helper()
	pairs := readPairs(t, store, supplier, limit, 0)
	if steps := readPairs(t, store, supplier, limit, 1); !slices.Equal(steps, pairs) {
		t.Errorf("in small steps there are the pairs %q, not %q", steps, pairs)
	}
	return pairs
}

func readPairs(t *testing.T, store landfall.Store, supplier string, limit, scan int) (pairs []string) {
	t.Helper()
	query := landfall.DuplicateQuery{Supplier: supplier, Kinds: landfall.IdentifierKinds, Limit: limit, Scan: scan}
	for range 10_000 {
		count, unfinished := 0, false
		for one, err := range store.Duplicates(t.Context(), query) {
			if err != nil {
				t.Fatal(err)
			}
			if unfinished = one.Unfinished; unfinished {
				query.After = &one.Cursor
				continue
			}
			count++
			if query.After != nil && one.First.External < query.After.Name {
				t.Errorf("%s comes after %s", one.First.External, query.After.Name)
			}
			query.After = &one.Cursor
			both := []string{one.First.External, one.Supplier + "/" + one.Second.External}
			if one.Supplier == supplier {
				both = []string{one.First.External, one.Second.External}
				slices.Sort(both)
			}
			pairs = append(pairs, string(one.Identifier.Kind)+" "+one.Identifier.Value+" "+strings.Join(both, " "))
		}
		if limit > 0 && count > limit {
			t.Errorf("%d pairs on a page of %d", count, limit)
		}
		if !unfinished && (limit == 0 || count < limit) {
			slices.Sort(pairs)
			return pairs
		}
	}
	t.Fatal("the pages do not end")
	return nil
}

// grantAll grants suppliers to an organisation, which it creates.
func grantAll(t *testing.T, store landfall.Store, name string, suppliers ...string) {
	t.Helper()
	update(t, store, func(tx landfall.Tx) error { return tx.CreateOrganisation(t.Context(), name) })
	for _, code := range suppliers {
		update(t, store, func(tx landfall.Tx) error { return tx.Grant(t.Context(), code, name) })
	}
}

// addSuppliers creates more suppliers.
func addSuppliers(t *testing.T, store landfall.Store, codes ...string) {
	t.Helper()
	for _, code := range codes {
		update(t, store, func(tx landfall.Tx) error { return tx.CreateSupplier(t.Context(), landfall.NewSupplier(code)) })
	}
}

// identifierChecks are the promises about what belongs to one account only.
var identifierChecks = []promiseCheck{
	{"others with an identifier at the same time are found", func(t *testing.T, store landfall.Store) {
		staged(t, store)
		addSuppliers(t, store, "SISTER", "FOREIGN")
		grantAll(t, store, "Both", supplierCode, "SISTER")
		grantAll(t, store, "Alone", "FOREIGN")
		stageAny(t, store, identified(ownKey("1"), point("p", "2020-01-01", "2020-06-30"), mandate("m")))
		stageAny(t, store, identified(landfall.Key{Supplier: "SISTER", External: "s"}, point("p", "2021-01-01", "")))
		stageAny(t, store, identified(landfall.Key{Supplier: "FOREIGN", External: "f"}, point("p", "", ""), mandate("m"), mandate("x")))
		for _, c := range []struct {
			what   landfall.Identifier
			others string
		}{
			{point("p", "2020-06-30", "2020-12-31"), "supply_point ACME 1 staged"},
			{point("p", "2020-07-01", "2020-12-31"), ""},
			{point("p", "2020-07-01", "2021-01-01"), "supply_point SISTER s staged"},
			{point("p", "", "2019-12-31"), ""},
			{point("other", "", ""), ""},
			{mandate("m"), "payment_instruction ACME 1 staged"},
			{mandate("x"), ""}, // of another organisation
			{landfall.Identifier{Kind: landfall.IdentifierReference, Space: "V", Value: "m"}, ""},
			{landfall.Identifier{Kind: landfall.IdentifierExternalNumber, Value: "s"}, "external_account_number SISTER s staged"},
			{landfall.Identifier{Kind: landfall.IdentifierExternalNumber, Value: "f"}, ""},
		} {
			key := ownKey("2")
			if c.what.Kind == landfall.IdentifierExternalNumber {
				key.External = c.what.Value
			}
			if found := strings.Join(conflictsOf(t, store, key, c.what), ", "); found != c.others {
				t.Errorf("%+v: %q, want %q", c.what, found, c.others)
			}
		}
		if found := conflictsOf(t, store, ownKey("1"), mandate("m")); len(found) > 0 {
			t.Errorf("an account conflicts with itself: %v", found)
		}
		createStaged(t, store, ownKey("1"))
		if found := conflictsOf(t, store, ownKey("2"), mandate("m")); fmt.Sprint(found) != "[payment_instruction ACME 1 created]" {
			t.Errorf("after the creation: %v", found)
		}
	}},
	{"a unique identifier of another account refuses a staging", func(t *testing.T, store landfall.Store) {
		staged(t, store)
		stageAny(t, store, identified(ownKey("1"), mandate("m")))
		outcome, err := store.Stage(t.Context(), identified(ownKey("2"), unique(mandate("m"))...))
		if err != nil || outcome.Verdict != landfall.RefusedDuplicate || len(outcome.Conflicts) != 1 || outcome.Conflicts[0].Other != ownKey("1") {
			t.Errorf("%+v, %v", outcome, err)
		}
		stage(t, store, identified(ownKey("2"), unique(mandate("n"))...), landfall.StagedFirst, 1)
		// Another reason comes first.
		createStaged(t, store, ownKey("2"))
		outcome, err = store.Stage(t.Context(), identified(ownKey("2"), unique(mandate("m"))...))
		if err != nil || outcome.Verdict != landfall.RefusedImported {
			t.Errorf("an account that exists: %+v, %v", outcome, err)
		}
	}},
	{"of many stagings with a unique identifier in one call one is stored", func(t *testing.T, store landfall.Store) {
		staged(t, store)
		var all []landfall.Staging
		for i := range 300 {
			all = append(all, identified(ownKey(fmt.Sprint(i)), unique(point(fmt.Sprint(i/3), "", ""))...))
		}
		verdicts := map[landfall.StageVerdict]int{}
		for _, result := range store.StageAll(t.Context(), all, nil) {
			if result.Err != nil {
				t.Fatal(result.Err)
			}
			verdicts[result.Verdict]++
		}
		if verdicts[landfall.StagedFirst] != 100 || verdicts[landfall.RefusedDuplicate] != 200 {
			t.Errorf("%v", verdicts)
		}
	}},
	{"a unique identifier of an account that exists refuses a creation", func(t *testing.T, store landfall.Store) {
		staged(t, store)
		for _, external := range []string{"1", "2", "3"} {
			stageAny(t, store, identified(ownKey(external), mandate("m")))
		}
		// Accounts that are only staged do not refuse each other, or none of them
		// could be created.
		if outcome := createStaged(t, store, ownKey("1"), mandate("m")); outcome.Verdict != landfall.Created {
			t.Fatalf("the first: %+v", outcome)
		}
		outcome := createStaged(t, store, ownKey("2"), mandate("m"))
		if outcome.Verdict != landfall.CreateDuplicate || len(outcome.Conflicts) != 1 || outcome.Conflicts[0].Other != ownKey("1") || !outcome.Conflicts[0].Created {
			t.Errorf("the second: %+v", outcome)
		}
		if outcome := createStaged(t, store, ownKey("3")); outcome.Verdict != landfall.Created {
			t.Errorf("without a unique identifier: %+v", outcome)
		}
	}},
	{"of many creations with a unique identifier exactly one succeeds", func(t *testing.T, store landfall.Store) {
		staged(t, store)
		addSuppliers(t, store, "SISTER")
		grantAll(t, store, "Both", supplierCode, "SISTER")
		for round := range 5 {
			keys := make([]landfall.Key, callerCount)
			number := landfall.Identifier{Kind: landfall.IdentifierExternalNumber, Value: fmt.Sprint(round)}
			claims := make([]landfall.Claim, callerCount)
			for i := range keys {
				keys[i] = ownKey(fmt.Sprintf("%d-%d", round, i))
				stageAny(t, store, identified(keys[i], mandate(fmt.Sprint(round)), point(fmt.Sprint(round, i%2), "", "")))
				claims[i] = claimFor(t, store, claimRequest(keys[i]), landfall.ClaimGranted)
			}
			var created, refused atomic.Int32
			atOnce(callerCount, func(i int) {
				account := sampleAccount()
				account.Key = keys[i]
				// Not all name them in the same order.
				shared := unique(mandate(fmt.Sprint(round)), point(fmt.Sprint(round, i%2), "", ""), number)
				if i%3 == 0 {
					slices.Reverse(shared)
				}
				outcome, err := store.Create(t.Context(), landfall.Creation{Claim: claims[i], Account: account, Unique: shared})
				switch {
				case err != nil:
					t.Error(err)
				case outcome.Verdict == landfall.Created:
					created.Add(1)
				case outcome.Verdict == landfall.CreateDuplicate:
					refused.Add(1)
				}
			})
			if created.Load() != 1 || refused.Load() != callerCount-1 {
				t.Errorf("%d created, %d refused", created.Load(), refused.Load())
			}
		}
	}},
	{"of two accounts with one number under two suppliers one is created", func(t *testing.T, store landfall.Store) {
		staged(t, store)
		addSuppliers(t, store, "SISTER")
		grantAll(t, store, "Both", supplierCode, "SISTER")
		for round := range 10 {
			keys := []landfall.Key{ownKey(fmt.Sprint(round)), {Supplier: "SISTER", External: fmt.Sprint(round)}}
			claims := make([]landfall.Claim, len(keys))
			for i, key := range keys {
				stageAny(t, store, newStaging(key, "x"))
				claims[i] = claimFor(t, store, claimRequest(key), landfall.ClaimGranted)
			}
			var created atomic.Int32
			atOnce(len(keys), func(i int) {
				account := sampleAccount()
				account.Key = keys[i]
				outcome, err := store.Create(t.Context(), landfall.Creation{Claim: claims[i], Account: account,
					Unique: unique(landfall.Identifier{Kind: landfall.IdentifierExternalNumber, Value: keys[i].External})})
				if err != nil {
					t.Error(err)
				}
				if outcome.Verdict == landfall.Created {
					created.Add(1)
				}
			})
			if created.Load() != 1 {
				t.Errorf("%d created", created.Load())
			}
		}
	}},
	{"a dry run is refused by an account that exists, not by another dry run", func(t *testing.T, store landfall.Store) {
		staged(t, store)
		stageAny(t, store, identified(ownKey("1"), mandate("m")))
		stageAny(t, store, identified(ownKey("2"), mandate("m")))
		try := func(external string) landfall.CreateVerdict {
			request := claimRequest(ownKey(external))
			request.DryRun = true
			outcome, err := store.Create(t.Context(), landfall.Creation{
				Claim: claimFor(t, store, request, landfall.ClaimGranted), Account: sampleAccount(), Unique: unique(mandate("m")),
			})
			if err != nil {
				t.Fatal(err)
			}
			return outcome.Verdict
		}
		if first, second := try("1"), try("2"); first != landfall.CreateRolledBack || second != landfall.CreateRolledBack {
			t.Errorf("verdicts %d and %d", first, second)
		}
		createStaged(t, store, ownKey("1"))
		if verdict := try("2"); verdict != landfall.CreateDuplicate {
			t.Errorf("verdict %d", verdict)
		}
	}},
	{"every pair that shares an identifier is listed once", func(t *testing.T, store landfall.Store) {
		staged(t, store)
		addSuppliers(t, store, "SISTER", "FOREIGN")
		grantAll(t, store, "Both", supplierCode, "SISTER")
		want := []string{}
		for i := range 4 {
			stageAny(t, store, identified(ownKey(fmt.Sprint("a", i)), mandate("m"), point(fmt.Sprint(i), "", "")))
			for j := range i {
				want = append(want, fmt.Sprintf("payment_instruction m a%d a%d", j, i))
			}
		}
		stageAny(t, store, identified(landfall.Key{Supplier: "SISTER", External: "a0"}, point("3", "2020-01-01", "")))
		stageAny(t, store, identified(landfall.Key{Supplier: "FOREIGN", External: "a1"}, mandate("m")))
		want = append(want, "supply_point 3 a3 SISTER/a0", "external_account_number a0 a0 SISTER/a0")
		slices.Sort(want)
		for _, limit := range []int{0, 1, 2, 3, 100} {
			if got := pairsOf(t, store, supplierCode, limit); !slices.Equal(got, want) {
				t.Errorf("pages of %d: %v, want %v", limit, got, want)
			}
		}
		if got := pairsOf(t, store, "SISTER", 10); len(got) != 2 {
			t.Errorf("seen from the other supplier: %v", got)
		}
		if got := pairsOf(t, store, "FOREIGN", 10); len(got) != 0 {
			t.Errorf("another organisation: %v", got)
		}
	}},
	{"identifiers go with their document", func(t *testing.T, store landfall.Store) {
		staged(t, store)
		count := func() int { return len(conflictsOf(t, store, ownKey("other"), mandate("m"))) }
		first := identified(ownKey("1"), mandate("m"), point("p", "2020-01-01", "2020-02-01"))
		stageAny(t, store, first)
		var kept []landfall.Identifier
		inView(t, store, func(view landfall.View) (err error) {
			kept, err = view.Identifiers(t.Context(), ownKey("1"))
			return err
		})
		for i := range first.Identifiers {
			first.Identifiers[i].Attr = ""
		}
		wantEqual(t, kept, first.Identifiers)
		// Another document.
		stageAny(t, store, identified(ownKey("1"), mandate("n")))
		if count() != 0 {
			t.Error("the identifiers of the former document are still found")
		}
		stageAny(t, store, identified(ownKey("1"), mandate("m")))
		// A skipped account does not count, until it is wanted again.
		update(t, store, func(tx landfall.Tx) error { _, err := tx.Skip(t.Context(), ownKey("1"), "no"); return err })
		if count() != 0 {
			t.Error("a skipped account counts")
		}
		update(t, store, func(tx landfall.Tx) error { return tx.Unskip(t.Context(), ownKey("1")) })
		createStaged(t, store, ownKey("1"))
		if count() != 1 {
			t.Error("a created account does not count")
		}
		outcome, err := store.Undo(t.Context(), landfall.UndoRequest{Key: ownKey("1"), Actor: "a", Reason: "r"})
		if err != nil || outcome.Verdict != landfall.Undone {
			t.Fatalf("%+v, %v", outcome, err)
		}
		if count() != 1 {
			t.Error("an undone account is staged, and does not count")
		}
		erase(t, store, ownKey("1"))
		if count() != 0 {
			t.Error("an erased account counts")
		}
	}},
	{"a purge removes the identifiers of documents, not those of accounts", func(t *testing.T, store landfall.Store) {
		staged(t, store)
		stageAny(t, store, identified(ownKey("staged"), mandate("staged"), point("p", "", "")))
		stageAny(t, store, identified(ownKey("skipped"), mandate("skipped")))
		stageAny(t, store, identified(ownKey("created"), mandate("created")))
		createStaged(t, store, ownKey("created"))
		skip(t, store, ownKey("skipped"))
		setRetention(t, store, landfall.Retention{Staged: shortRetention}, 0)
		if gone := purge(t, store, false); gone.Documents != 2 {
			t.Errorf("%+v", gone)
		}
		for external, want := range map[string]int{"staged": 0, "skipped": 0, "created": 1} {
			inView(t, store, func(view landfall.View) error {
				kept, err := view.Identifiers(t.Context(), ownKey(external))
				if len(kept) != want {
					t.Errorf("%s: %d identifiers", external, len(kept))
				}
				return err
			})
		}
		// The document may come again.
		stageAny(t, store, identified(ownKey("staged"), mandate("staged")))
		if found := conflictsOf(t, store, ownKey("other"), mandate("staged")); len(found) != 1 {
			t.Errorf("staged again: %v", found)
		}
	}},
}
