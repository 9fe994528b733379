package storetest

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"landfall"
)

// searches find people by name and other terms, in every state. An erased account must
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
	// An undo leaves the staged data, so the people are still found.
	{"undone accounts are found as staged ones", findUndone},
	// An index that still contains the name would break the promise of the
	// erasure.
	{"erased accounts are not found, whenever they are indexed", findErased},
	// An account missing from the index goes unnoticed until it is needed.
	{"concurrent indexers leave out no account and index none twice", findEnteredBySeveral},
	// The indexer may have read the account just before it was erased, and must
	// not write its terms afterwards.
	{"accounts erased during indexing are not found", findRacedErasure},
}

// indexAll indexes the terms of all staged and refused accounts. It repeats because the log
// may not be complete at once.
func indexAll(t *testing.T, store landfall.Store) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; {
		if _, err := store.IndexTerms(t.Context()); err != nil {
			t.Fatalf("IndexTerms: %v", err)
		}
		if !find(t, store, landfall.SearchQuery{}).Unindexed {
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
func searchFor(text string) (query landfall.SearchQuery) {
	for word := range strings.FieldsSeq(text) {
		query.Words = append(query.Words, termQuery(landfall.TermName, word).Words...)
	}
	return query
}

func termQuery(kind landfall.TermKind, text string) landfall.SearchQuery {
	return landfall.SearchQuery{Words: []landfall.SearchWord{{Matches: []landfall.TermMatch{{SearchTerm: landfall.SearchTerm{Kind: kind, Text: text}}}}}}
}

// The people of two accounts, as they are staged.
const (
	lovelace = `{"billing_name": "Ada Lovelace", "billing_address1": "12 St James's Square", "billing_address2": "London", "billing_postcode": "SW1Y 4JH",
		"customers": [{"given_name": "Ada", "family_name": "Lovelace", "email": "ada@mail.co.uk", "mobile": "07400 123456"}],
		"supply_addresses": [{"supply_address1": "1 Mill Lane", "supply_postcode": "LS1", "supply_points": [{"identifier": "120002"}]}]}`
	hopper = `{"billing_name": "Hopper & Sons", "billing_postcode": "M1 1AA",
		"customers": [{"given_name": "Grace", "family_name": "Hopper", "email": "grace@mail.co.uk", "mobile": "07400 999999"}]}`
)

// stagePerson stages a document by a key, as every staging is: the indexer reads the audit.
func stagePerson(t *testing.T, store landfall.Store, external, document string, verdict landfall.StageVerdict, revision int) landfall.Key {
	t.Helper()
	key := landfall.Key{Supplier: supplierCode, External: external}
	text := strings.Replace(document, "{", fmt.Sprintf(`{"import_supplier": %q, "external_account_number": %q, `, key.Supplier, external), 1)
	stage(t, store, landfall.Staging{Key: key, Document: []byte(text), Hash: sha256.Sum256([]byte(text)), By: landfall.Author{Operator: "operator:test"}}, verdict, revision)
	return key
}

// createdPerson stages and creates the account of lovelace.
func createdPerson(t *testing.T, store landfall.Store, external string) landfall.CreateOutcome {
	t.Helper()
	key := stagePerson(t, store, external, lovelace, landfall.StagedFirst, 1)
	return create(t, store, claimFor(t, store, claimRequest(key), landfall.ClaimGranted), sampleAccount())
}

// finds fails unless a query finds exactly the wanted accounts.
func finds(t *testing.T, store landfall.Store, query landfall.SearchQuery, wanted ...string) {
	t.Helper()
	if got := foundNumbers(find(t, store, query)); !slices.Equal(got, wanted) && len(got)+len(wanted) > 0 {
		t.Errorf("Find(%+v) = %q, want %q", query, got, wanted)
	}
}

// findByEverything finds accounts in every state. A search that finds nothing must be
// able to say that the index is incomplete.
func findByEverything(t *testing.T, store landfall.Store) {
	staged(t, store)
	outcome := createdPerson(t, store, "A-1")
	stagePerson(t, store, "A-2", hopper, landfall.StagedFirst, 1)
	refused := landfall.Key{Supplier: supplierCode, External: "A-3"}
	refuseWith := func(document string) {
		t.Helper()
		if err := store.Refuse(t.Context(), landfall.Refusal{Key: refused, Failure: landfall.Failure{Code: "account_failed_validation", Detail: "x"}, Document: []byte(document)}); err != nil {
			t.Fatal(err)
		}
	}
	refuseWith(`{"billing_name": "Alan Turing"}`)
	if !find(t, store, landfall.SearchQuery{}).Unindexed {
		t.Error("nothing was indexed, and the search index is not behind")
	}
	// It is found by its number before anything is indexed.
	finds(t, store, landfall.SearchQuery{Numbers: []string{outcome.Number}}, "A-1")
	finds(t, store, landfall.SearchQuery{NumberTails: []string{outcome.Number[5:]}}, "A-1")
	other := "X"
	if strings.HasPrefix(outcome.Number[5:], other) {
		other = "Y"
	}
	finds(t, store, landfall.SearchQuery{NumberTails: []string{other + outcome.Number[6:]}})
	indexAll(t, store)
	term := termQuery
	// Prefixes cannot be matched where terms are stored as digests.
	if step, err := store.CorrectTerms(t.Context(), 0); err != nil || step.Corrected != 0 || step.Seen != 2 || !step.Done {
		t.Errorf("CorrectTerms of a right index: %+v, %v", step, err)
	}
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
	finds(t, store, searchFor("lovelace grace"))
	finds(t, store, searchFor("hopper"), "A-2")
	finds(t, store, searchFor("turing"), "A-3")
	finds(t, store, searchFor("lovelacf"))
	finds(t, store, term(landfall.TermEmail, "ada@mail.co.uk"), "A-1")
	begins(term(landfall.TermEmail, "grace@"), "A-2")
	begins(term(landfall.TermPhone, "447400"), "A-1", "A-2")
	finds(t, store, term(landfall.TermPostcode, "SW1Y4JH"), "A-1")
	finds(t, store, term(landfall.TermAddress, "mill"), "A-1")
	finds(t, store, term(landfall.TermSupplyPoint, "120002"), "A-1")
	begins(term(landfall.TermNumber, "2000"), "A-1")
	// A term matches only its own kind, or a number would find people.
	finds(t, store, term(landfall.TermName, "120002"))
	// Both words, with a mistake in one.
	both := landfall.SearchQuery{Words: append(searchFor("lovlace").Words, term(landfall.TermPostcode, "SW1Y4JH").Words...)}
	finds(t, store, both)
	both.Words[0].Similar = []landfall.SearchTerm{{Kind: landfall.TermName, Text: "lovelace"}}
	finds(t, store, both, "A-1")
	found := find(t, store, searchFor("lovelace")).Accounts[0]
	if found.Key != testKey || found.AccountNumber != outcome.Number || found.State != landfall.Imported || found.By != landfall.TermName ||
		found.Failed || found.Similar || found.Currency != "GBP" || !strings.Contains(string(found.Document), "Square") {
		t.Errorf("found %+v", found)
	}
	if found := find(t, store, searchFor("turing")).Accounts[0]; found.Key != refused || !found.Refused || found.State != "" {
		t.Errorf("found %+v", found)
	}
	query := searchFor("hopper")
	for suppliers, wanted := range map[string][]string{supplierCode: {"A-2"}, "NOBODY": nil} {
		query.Suppliers = []string{suppliers}
		finds(t, store, query, wanted...)
		finds(t, store, landfall.SearchQuery{Externals: []string{"A-2"}, Suppliers: query.Suppliers}, wanted...)
	}
	// Refused again with other data, it is found by that; staged, by what was staged.
	refuseWith(`{"billing_name": "Alan M Turing", "billing_postcode": "CB2 1TN"}`)
	indexAll(t, store)
	finds(t, store, term(landfall.TermPostcode, "CB21TN"), "A-3")
	stagePerson(t, store, "A-3", hopper, landfall.StagedFirst, 1)
	finds(t, store, searchFor("turing"))
	indexAll(t, store)
	finds(t, store, searchFor("hopper"), "A-2", "A-3")
	stagePerson(t, store, "A-3", lovelace, landfall.StagedAgain, 2)
	indexAll(t, store)
	finds(t, store, searchFor("hopper"), "A-2")
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
	if one := found.Accounts[0]; one.State != landfall.Staged || one.By != landfall.ByExternalNumber || one.AccountNumber != "" {
		t.Errorf("found %+v", one)
	}
	// Wildcards are plain text, and the middle of a number is not a prefix.
	finds(t, store, landfall.SearchQuery{Externals: []string{"%", "_", "3", "x"}})
	finds(t, store, landfall.SearchQuery{Externals: []string{"1"}}, "12", "123", "1234", "1é", "12")
}

// findLimited has more matches than the limit, all with the same name.
func findLimited(t *testing.T, store landfall.Store) {
	staged(t, store)
	for _, number := range accountNumbers(30) {
		createdPerson(t, store, number)
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

// findUndone undoes an account: its number is gone, and its people are found as staged.
func findUndone(t *testing.T, store landfall.Store) {
	staged(t, store)
	outcome := createdPerson(t, store, "A-1")
	indexAll(t, store)
	finds(t, store, searchFor("lovelace"), "A-1")
	undo(t, store, landfall.UndoRequest{Key: testKey}, landfall.Undone)
	finds(t, store, landfall.SearchQuery{Numbers: []string{outcome.Number}})
	finds(t, store, landfall.SearchQuery{Externals: []string{"A-1"}}, "A-1")
	finds(t, store, searchFor("lovelace"), "A-1")
	if one := find(t, store, searchFor("lovelace")).Accounts[0]; one.State != landfall.Staged || one.AccountNumber != "" {
		t.Errorf("found %+v", one)
	}
	// Staged and created again with other data, it is found only by that.
	stagePerson(t, store, "A-1", hopper, landfall.StagedAgain, 2)
	create(t, store, claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted), sampleAccount())
	indexAll(t, store)
	finds(t, store, searchFor("lovelace"))
	finds(t, store, searchFor("hopper"), "A-1")
}

// findEnteredBySeveral lets the indexers of several replicas work while accounts
// are staged: no account may be left out between two of them.
func findEnteredBySeveral(t *testing.T, store landfall.Store) {
	const count = 40
	list := accountNumbers(count)
	staged(t, store)
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
		stagePerson(t, store, list[number], lovelace, landfall.StagedFirst, 1)
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

// findRacedErasure erases accounts while their terms are being indexed.
func findRacedErasure(t *testing.T, store landfall.Store) {
	const count = 20
	list := accountNumbers(count)
	staged(t, store)
	for _, number := range list {
		stagePerson(t, store, number, lovelace, landfall.StagedFirst, 1)
	}
	atOnce(count+1, func(number int) {
		if number == count {
			if _, err := store.IndexTerms(t.Context()); err != nil {
				t.Errorf("IndexTerms: %v", err)
			}
			return
		}
		update(t, store, func(tx landfall.Tx) error {
			_, err := tx.Erase(t.Context(), landfall.Key{Supplier: supplierCode, External: list[number]})
			return err
		})
	})
	indexAll(t, store)
	finds(t, store, searchFor("lovelace"))
	for inspection, err := range store.Inspect(t.Context()) {
		if err != nil || inspection.Finding != nil {
			t.Errorf("%+v, %v", inspection.Finding, err)
		}
	}
}

// findErased erases accounts after their terms were indexed and before.
func findErased(t *testing.T, store landfall.Store) {
	staged(t, store)
	refused := landfall.Key{Supplier: supplierCode, External: "A-3"}
	if err := store.Refuse(t.Context(), landfall.Refusal{Key: refused, Failure: landfall.Failure{Code: "x"}, Document: []byte(lovelace)}); err != nil {
		t.Fatal(err)
	}
	for _, number := range []string{"A-1", "A-2", "A-3"} {
		own := landfall.Key{Supplier: supplierCode, External: number}
		if own != refused {
			createdPerson(t, store, number)
		}
		// The second account is erased before the indexer has read its staging.
		if number == "A-1" {
			indexAll(t, store)
			finds(t, store, searchFor("lovelace"), "A-3", "A-1")
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
