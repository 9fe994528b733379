package sqlstore_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/store/sqlstore"
)

// hashed stores terms as keyed hashes. The second key is the previous one.
type hashed [2]string

func (h hashed) Encode(term landfall.SearchTerm) []string {
	var forms []string
	for _, key := range h {
		mac := hmac.New(sha256.New, []byte(key))
		mac.Write([]byte(string(term.Kind) + term.Text))
		forms = append(forms, hex.EncodeToString(mac.Sum(nil)[:16]))
	}
	return forms
}

func (hashed) ExactOnly() bool { return true }

func openHashed(t *testing.T, url string, form hashed) *sqlstore.Store {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), url, sqlstore.Options{ApplySchema: true, SearchTerms: contract.SearchTerms, Terms: form})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func findWords(t *testing.T, store *sqlstore.Store, words string) landfall.SearchResult {
	t.Helper()
	query := contract.SearchWords(words, []string{"GB"})
	query.Limit = 10
	found, err := store.Search(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestHashedTermsAreFoundWhole checks that the table contains no word of a
// customer, and that terms indexed under an earlier key are found.
func TestHashedTermsAreFoundWhole(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store := openHashed(t, url, hashed{"old", "older"})
		prepareStore(t, store, "1")
		if _, err := store.Create(t.Context(), landfall.Creation{Claim: claimNumber(t, store, "1"), Account: sampleAccount(t)}); err != nil {
			t.Fatal(err)
		}
		if step, err := store.IndexTerms(t.Context()); step.Accounts != 1 || err != nil {
			t.Fatalf("%+v, %v", step, err)
		}
		terms, err := store.Texts(t.Context(), `SELECT term FROM search_term`)
		if err != nil || len(terms) < 10 {
			t.Fatal(terms, err)
		}
		for _, term := range terms {
			if len(term) != 32 || strings.Contains(term, "lovelace") {
				t.Errorf("the term %q is stored in the clear", term)
			}
		}
		for _, form := range []hashed{{"old", "older"}, {"new", "old"}} {
			store := openHashed(t, url, form)
			for _, words := range []string{"lovelace", "Ada Lovelace", "ada.lovelace@mail.co.uk", "07400 654321", "sw1y 4jh", "7501234509"} {
				if found := findWords(t, store, words); len(found.Accounts) != 1 || !found.ExactOnly {
					t.Errorf("%q finds %+v", words, found)
				}
			}
			if found := findWords(t, store, "lovelac"); len(found.Accounts) != 0 {
				t.Errorf("a prefix finds %+v", found)
			}
		}
	})
}

// TestIndexerCatchesUp creates accounts that the indexer has not seen yet.
func TestIndexerCatchesUp(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store := openStore(t, url)
		prepareStore(t, store, "1", "2", "3")
		for _, number := range []string{"1", "2", "3"} {
			if _, err := store.Create(t.Context(), landfall.Creation{Claim: claimNumber(t, store, number), Account: sampleAccount(t)}); err != nil {
				t.Fatal(err)
			}
		}
		if found := findWords(t, store, "lovelace"); len(found.Accounts) != 0 || found.Unindexed == 0 {
			t.Errorf("found %+v", found)
		}
		if step, err := store.IndexTerms(t.Context()); step.Accounts != 3 || err != nil {
			t.Fatalf("%+v, %v", step, err)
		}
		if found := findWords(t, store, "lovelace"); len(found.Accounts) != 3 || found.Unindexed != 0 {
			t.Errorf("found %+v", found)
		}
	})
}

// TestSearchesUseTheirIndexes checks the query plans: no search may scan all
// rows.
func TestSearchesUseTheirIndexes(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store := openStore(t, url)
		prepareStore(t, store)
		for _, text := range []string{
			`INSERT INTO process (supplier_id, external, state, revision, hash, first_staged_at, staged_at, number, account_number, account_created_at)
			SELECT s.id, 'X' || n.value, 'imported', 1, CAST('x' AS {bytes}), n.value, 1, 'A-' || n.value, 'A-' || n.value, 1
			FROM supplier s, {numbers} n`,
			`INSERT INTO account (id, revision, team, account_type, currency, billing_name, open_from_on, balance, ledger_length, note_count,
				statement_count, instruction_count) SELECT id, 1, 'T', '', 'GBP', 'x', '2026-01-01', 0, 0, 0, 0, 0 FROM process`,
			`INSERT INTO search_term (account_id, term) SELECT id, 'nlovelace' || id FROM account`,
			`ANALYZE`,
		} {
			numbers := `(WITH RECURSIVE c (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM c WHERE value < 20000) SELECT value FROM c)`
			if err := store.Force(t.Context(), strings.ReplaceAll(text, "{numbers}", numbers)); err != nil {
				t.Fatal(err)
			}
		}
		for index, query := range map[string][]any{
			"process_number":    {sqlstore.FindNumbersText, "A-1234", "A-1234\U0010FFFF", 40},
			"search_term_found": {sqlstore.FindTermsText, "nlovelace12", "nlovelace12\U0010FFFF", 40},
			"supplier_id":       {sqlstore.FindExternalsText, 1, "X12", "X12\U0010FFFF", 40},
			"process_supplier_id_external_key|(supplier_id=? AND external=?)": {sqlstore.FindExternalText, "X12", 40},
			"process_supplier_id_external_key|sqlite_autoindex_process_1":     {sqlstore.SuppliersWithText, "X12", "X12\U0010FFFF", 40},
		} {
			plan, err := store.Plan(t.Context(), query[0].(string), query[1:]...)
			text := strings.Join(plan, "\n")
			used := false
			for name := range strings.SplitSeq(index, "|") {
				used = used || strings.Contains(text, name)
			}
			if err != nil || !used || strings.Contains(text, "Seq Scan on process") || strings.Contains(text, "SCAN p\n") ||
				strings.Contains(text, "Seq Scan on search_term") {
				t.Errorf("%s: %v\n%s", index, err, text)
			}
		}
		// The indexer looks up a few accounts among all.
		plan, err := store.PlanOfCreatedEvents(t.Context())
		if text := strings.Join(plan, "\n"); err != nil || !strings.Contains(text, "external=") && !strings.Contains(text, "external = ") {
			t.Errorf("entering terms: %v\n%s", err, text)
		}
	})
}
