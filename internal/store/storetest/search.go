package storetest

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"landfall"
)

// searches find people by name and other terms. An undone or erased account must
// not be found, even if its terms are indexed only later.
var searches = []promiseCheck{
	// A caller on the phone knows a name or a postcode, but rarely a number.
	{"accounts are found by every term", findByEverything},
	// People search for an account right after staging it and cannot wait for the
	// search indexer.
	{"staged accounts are found by their numbers at once", findStaged},
	// A common name must not cost more than a rare one, and a list that is cut
	// off silently looks complete.
	{"a search keeps its limit and reports that there is more", findLimited},
	// Terms are stored in their own tables, which an undo could forget.
	{"undone accounts are not found", findUndone},
	// An index that still contains the name would break the promise of the
	// erasure.
	{"erased accounts are not found, whenever they are indexed", findErased},
	// An account missing from the index goes unnoticed until it is needed.
	{"concurrent indexers leave out no account and index none twice", findEnteredBySeveral},
	// The indexer may have read the account just before it was undone, and must
	// not write its terms afterwards.
	{"accounts undone during indexing are not found", findRacedUndo},
}

// indexAll indexes the terms of all created accounts. It repeats because the log
// may not be complete at once.
func indexAll(t *testing.T, store landfall.Store) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; {
		if _, err := store.IndexTerms(t.Context()); err != nil {
			t.Fatalf("IndexTerms: %v", err)
		}
		if find(t, store, landfall.SearchQuery{}).Unindexed == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatal("the search index does not catch up")
		}
	}
}

// find searches with a limit, since every search has one.
func find(t *testing.T, store landfall.Store, query landfall.SearchQuery) landfall.SearchResult {
	t.Helper()
	if query.Limit == 0 {
		query.Limit = 10
	}
	found, err := store.Search(t.Context(), query)
	if err != nil {
		t.Fatalf("Find(%+v): %v", query, err)
	}
	return found
}

// foundNumbers lists the external numbers found.
func foundNumbers(found landfall.SearchResult) []string {
	list := []string{}
	for _, one := range found.Accounts {
		list = append(list, one.Key.External)
	}
	return list
}

// searchFor returns a query for the words of a name.
func searchFor(text string) landfall.SearchQuery {
	return landfall.SearchQuery{Terms: []landfall.SearchTerm{{Kind: landfall.TermName, Text: text}}}
}

// finds fails unless a query finds exactly the wanted accounts.
func finds(t *testing.T, store landfall.Store, query landfall.SearchQuery, wanted ...string) {
	t.Helper()
	if got := foundNumbers(find(t, store, query)); !slices.Equal(got, wanted) && len(got)+len(wanted) > 0 {
		t.Errorf("Find(%+v) = %q, want %q", query, got, wanted)
	}
}

// otherAccount returns an account different from sampleAccount.
func otherAccount() landfall.Account {
	other := sampleAccount()
	other.Data.BillingName = "Hopper & Sons"
	other.Data.BillingAddress.PostalCode = "M1 1AA"
	other.Data.Customers = []landfall.Customer{{GivenName: "Grace", FamilyName: "Hopper", Email: "grace@mail.co.uk", Mobile: "07400 999999"}}
	other.Data.SupplyAddresses = nil
	return other
}

// findByEverything also checks how far the indexer is behind: a search that finds
// nothing must be able to say that the index is incomplete.
func findByEverything(t *testing.T, store landfall.Store) {
	staged(t, store, "A-1", "A-2", "a-3")
	outcome := create(t, store, claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted), sampleAccount())
	second := landfall.Key{Supplier: supplierCode, External: "A-2"}
	create(t, store, claimFor(t, store, claimRequest(second), landfall.ClaimGranted), otherAccount())
	if behind := find(t, store, landfall.SearchQuery{}).Unindexed; behind == 0 {
		t.Error("nothing was indexed, and the search index is not behind")
	}
	// It is found by its number before anything is indexed.
	finds(t, store, landfall.SearchQuery{Numbers: []string{outcome.Number}}, "A-1")
	indexAll(t, store)
	term := func(kind landfall.TermKind, text string) landfall.SearchQuery {
		return landfall.SearchQuery{Terms: []landfall.SearchTerm{{Kind: kind, Text: text}}}
	}
	// Prefixes cannot be matched where terms are stored as digests.
	begins := func(query landfall.SearchQuery, wanted ...string) {
		t.Helper()
		if find(t, store, query).ExactOnly {
			wanted = nil
		}
		finds(t, store, query, wanted...)
	}
	begins(searchFor("l"), "A-1")
	begins(searchFor("ada lo"), "A-1")
	finds(t, store, searchFor("lovelace"), "A-1")
	finds(t, store, searchFor("lovelace ada"), "A-1")
	finds(t, store, searchFor("hopper"), "A-2")
	finds(t, store, searchFor("lovelacf"))
	finds(t, store, term(landfall.TermEmail, "ada@mail.co.uk"), "A-1")
	begins(term(landfall.TermEmail, "grace@"), "A-2")
	finds(t, store, term(landfall.TermPhone, "447400123456"), "A-1")
	begins(term(landfall.TermPhone, "447400"), "A-1", "A-2")
	finds(t, store, term(landfall.TermPostcode, "SW1Y4JH"), "A-1")
	finds(t, store, term(landfall.TermPostcode, "LS1"), "A-1")
	finds(t, store, term(landfall.TermSupplyPoint, "120002"), "A-1")
	// A term matches only its own kind, or a number would find people.
	finds(t, store, term(landfall.TermName, "120002"))
	found := find(t, store, searchFor("lovelace")).Accounts[0]
	if found.Key != testKey || found.AccountNumber != outcome.Number || found.State != landfall.Imported || found.By != landfall.TermName ||
		found.Failed || found.Name != sampleAccount().Data.BillingName {
		t.Errorf("found %+v", found)
	}
	finds(t, store, landfall.SearchQuery{Numbers: []string{outcome.Number[:5]}, Externals: []string{"A-"},
		Terms: []landfall.SearchTerm{{Kind: landfall.TermName, Text: "ada"}}}, "A-1", "A-2")
}

// findStaged has numbers with common prefixes and one that is not ASCII: the
// databases differ in order and prefixes.
func findStaged(t *testing.T, store landfall.Store) {
	staged(t, store, "12", "123", "1234", "2", "1é")
	other := landfall.NewSupplier("OTHER")
	update(t, store, func(tx landfall.Tx) error { return tx.CreateSupplier(t.Context(), other) })
	stage(t, store, newStaging(landfall.Key{Supplier: "OTHER", External: "12"}, "x"), landfall.StagedFirst, 1)
	found := find(t, store, landfall.SearchQuery{Externals: []string{"12"}})
	if !slices.Equal(foundNumbers(found), []string{"12", "12", "123", "1234"}) || found.Accounts[1].Key.Supplier != "OTHER" {
		t.Errorf("found %+v", found.Accounts)
	}
	if one := found.Accounts[0]; one.State != landfall.Staged || one.By != landfall.ByExternalNumber || one.AccountNumber != "" || one.Name != "" {
		t.Errorf("found %+v", one)
	}
	// Wildcards are plain text, and the middle of a number is not a prefix.
	finds(t, store, landfall.SearchQuery{Externals: []string{"%", "_", "3", "x"}})
	finds(t, store, landfall.SearchQuery{Externals: []string{"1"}}, "12", "123", "1234", "1é", "12")
}

// findLimited has more matches than the limit, all with the same name.
func findLimited(t *testing.T, store landfall.Store) {
	list := accountNumbers(30)
	staged(t, store, list...)
	for _, number := range list {
		create(t, store, claimFor(t, store, claimRequest(landfall.Key{Supplier: supplierCode, External: number}), landfall.ClaimGranted), sampleAccount())
	}
	indexAll(t, store)
	for _, query := range []landfall.SearchQuery{{Externals: []string{"N"}}, searchFor("ada"), {Numbers: []string{"A-"}}} {
		query.Limit = 7
		if found := find(t, store, query); len(found.Accounts) != 7 || !found.More {
			t.Errorf("Find(%+v) gives %d accounts, more: %v", query, len(found.Accounts), found.More)
		}
		query.Limit = 30
		if found := find(t, store, query); len(found.Accounts) != 30 || found.More {
			t.Errorf("Find(%+v) gives %d accounts, more: %v", query, len(found.Accounts), found.More)
		}
	}
}

// findUndone checks that the account is found before the undo, or finding nothing
// afterwards would prove nothing.
func findUndone(t *testing.T, store landfall.Store) {
	staged(t, store, "A-1")
	outcome := create(t, store, claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted), sampleAccount())
	indexAll(t, store)
	finds(t, store, searchFor("lovelace"), "A-1")
	undo(t, store, landfall.UndoRequest{Key: testKey}, landfall.Undone)
	finds(t, store, searchFor("lovelace"))
	finds(t, store, landfall.SearchQuery{Numbers: []string{outcome.Number}})
	// The process is pending, so it is still found by its external number.
	finds(t, store, landfall.SearchQuery{Externals: []string{"A-1"}}, "A-1")
	// Created again from other data, it is found only by the new terms.
	create(t, store, claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted), otherAccount())
	indexAll(t, store)
	finds(t, store, searchFor("lovelace"))
	finds(t, store, searchFor("hopper"), "A-1")
}

// findEnteredBySeveral lets the indexers of several replicas work while accounts
// are created: no account may be left out between two of them.
func findEnteredBySeveral(t *testing.T, store landfall.Store) {
	const count = 40
	list := accountNumbers(count)
	staged(t, store, list...)
	var entered atomic.Int64
	atOnce(count+4, func(number int) {
		if number >= count {
			for range 5 {
				some, err := store.IndexTerms(t.Context())
				if err != nil {
					t.Errorf("IndexTerms: %v", err)
				}
				entered.Add(int64(some.Accounts))
			}
			return
		}
		own := landfall.Key{Supplier: supplierCode, External: list[number]}
		create(t, store, claimFor(t, store, claimRequest(own), landfall.ClaimGranted), sampleAccount())
	})
	indexAll(t, store)
	query := searchFor("lovelace")
	query.Limit = 2 * count
	if found := find(t, store, query); len(found.Accounts) != count || found.More {
		t.Errorf("%d of %d accounts are found", len(found.Accounts), count)
	}
	if entered.Load() > count {
		t.Errorf("%d accounts were entered of %d", entered.Load(), count)
	}
}

// findRacedUndo undoes accounts while their terms are being indexed.
func findRacedUndo(t *testing.T, store landfall.Store) {
	const count = 20
	list := accountNumbers(count)
	staged(t, store, list...)
	for _, number := range list {
		create(t, store, claimFor(t, store, claimRequest(landfall.Key{Supplier: supplierCode, External: number}), landfall.ClaimGranted), sampleAccount())
	}
	atOnce(count+1, func(number int) {
		if number == count {
			if _, err := store.IndexTerms(t.Context()); err != nil {
				t.Errorf("IndexTerms: %v", err)
			}
			return
		}
		undo(t, store, landfall.UndoRequest{Key: landfall.Key{Supplier: supplierCode, External: list[number]}}, landfall.Undone)
	})
	indexAll(t, store)
	finds(t, store, searchFor("lovelace"))
	for inspection, err := range store.Inspect(t.Context()) {
		if err != nil || inspection.Finding != nil {
			t.Errorf("%+v, %v", inspection.Finding, err)
		}
	}
}

// findErased erases one account after its terms were indexed and one before.
func findErased(t *testing.T, store landfall.Store) {
	staged(t, store, "A-1", "A-2")
	for _, number := range []string{"A-1", "A-2"} {
		own := landfall.Key{Supplier: supplierCode, External: number}
		create(t, store, claimFor(t, store, claimRequest(own), landfall.ClaimGranted), sampleAccount())
		// The second account is erased before the indexer has read its creation
		// in the log.
		if number == "A-1" {
			indexAll(t, store)
		}
		update(t, store, func(tx landfall.Tx) error {
			_, err := tx.Erase(t.Context(), own)
			return err
		})
	}
	indexAll(t, store)
	finds(t, store, searchFor("lovelace"))
	// The existence of the account is not personal, and stays known.
	finds(t, store, landfall.SearchQuery{Externals: []string{"A-"}}, "A-1", "A-2")
	inView(t, store, func(view landfall.View) error {
		one, err := view.Revision(t.Context(), testKey, 1)
		if err != nil || one.Document != nil || one.RemovedAt.IsZero() {
			t.Errorf("revision %+v, %v", one, err)
		}
		return nil
	})
}
