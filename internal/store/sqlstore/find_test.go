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
		prepareStore(t, store)
		stagePerson(t, store, "1", lovelaceDocument)
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
			for _, words := range []string{"lovelace", "Ada Lovelace", "ada.lovelace@mail.co.uk", "07400 654321", "sw1y 4jh", "7501234509", "lovelaec", "jmaes square lovelace"} {
				if found := findWords(t, store, words); len(found.Accounts) != 1 || !found.ExactOnly {
					t.Errorf("%q finds %+v", words, found)
				}
			}
			if found := findWords(t, store, "lovel"); len(found.Accounts) != 0 {
				t.Errorf("a prefix finds %+v", found)
			}
		}
	})
}

const lovelaceDocument = `{"billing_name": "Ada Lovelace", "billing_address1": "12 St James Square", "billing_address2": "London", "billing_postcode": "SW1Y 4JH",
	"customers": [{"given_name": "Ada", "family_name": "Lovelace", "email": "ada.lovelace@mail.co.uk", "mobile": "07400 654321", "landline": "020 7946 0123"}],
	"supply_addresses": [{"supply_address1": "3 Mill Lane", "supply_address2": "Norwich", "supply_postcode": "NR2 1AB",
		"supply_points": [{"identifier": "7501234509", "meters": [{"serial_number": "E6S-10770"}]}]}],
	"payment_instructions": [{"vendor": "V", "reference": "MD-000-77120"}]}`

// stagePerson stages a document as an operator does: the indexer reads the audit.
func stagePerson(t testing.TB, store landfall.Store, number, document string) {
	t.Helper()
	text := []byte(strings.Replace(document, "{", `{"import_supplier": "S", "external_account_number": "`+number+`", `, 1))
	if _, err := store.Stage(t.Context(), landfall.Staging{
		Key: landfall.Key{Supplier: "S", External: number}, Document: text, Hash: sha256.Sum256(text), By: landfall.Author{Operator: "operator:a"},
	}); err != nil {
		t.Fatal(err)
	}
}

// TestCallersAreFound types what callers say, with mistakes, in every combination that
// the console promises. Others have similar data.
func TestCallersAreFound(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store := openStore(t, url)
		prepareStore(t, store)
		stagePerson(t, store, "OLD-000123", lovelaceDocument)
		stagePerson(t, store, "OLD-000456", strings.NewReplacer("Lovelace", "Phillips", "lovelace", "phillips", "654321", "111111", "0123", "4567",
			"7501234509", "7501239999", "77120", "88231", "SW1Y 4JH", "NR2 4AA", "Square", "Street", "E6S-10770", "E6S-2").Replace(lovelaceDocument))
		if found := findWords(t, store, "lovelace"); len(found.Accounts) != 0 || !found.Unindexed {
			t.Errorf("found %+v", found)
		}
		indexAll(t, store)
		for _, words := range []string{
			"lovelace", "LOVE", "Lovelace, Ada", "ada lovelace london", "lovelace nr2", "lovelace nr2 1ab", "norwich lovelace", "12 square",
			"ada.lovelace@mail.co.uk", "ada.lovel", "07400 654321", "+44 7400 654321", "654321", "4006", "0065", "6543", "543 21", "020 7946 0123", "79460123",
			"7501234509", "4509", "000123", "OLD-000123", "0-77120", "10770", "lovelace 4321",
			"lovlace", "loveelace", "lovelqce", "lvoelace", "ada.lovelace@mail.co.ku", "sw1y 4jg", "lovelase nr2", "adda lovelace", "norwihc lovelace", "07400 654312", "7501234590",
		} {
			found := findWords(t, store, words)
			if len(found.Accounts) != 1 || found.Accounts[0].Key.External != "OLD-000123" || found.Unindexed {
				t.Errorf("%q finds %+v", words, found)
			}
		}
		// A number that exists does not find its neighbours.
		stagePerson(t, store, "OLD-000124", `{"billing_name": "Grace Hopper"}`)
		indexAll(t, store)
		if found := findWords(t, store, "OLD-000124"); len(found.Accounts) != 1 {
			t.Errorf("found %+v", found)
		}
		for _, words := range []string{"mill lane", "norwich", "ada", "7400", "nr2"} {
			if found := findWords(t, store, words); len(found.Accounts) != 2 {
				t.Errorf("%q finds %+v", words, found)
			}
		}
		for _, words := range []string{"lovelace phillips", "velace", "740", "9876", "hawking", "%"} {
			if found := findWords(t, store, words); len(found.Accounts) != 0 {
				t.Errorf("%q finds %+v", words, found)
			}
		}
	})
}

// TestCommonWordsAreCombined has more accounts with each word than are looked at.
func TestCommonWordsAreCombined(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store := openStore(t, url)
		prepareStore(t, store)
		numbers := `(WITH RECURSIVE c (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM c WHERE value < 9000) SELECT value FROM c)`
		for _, text := range []string{
			`INSERT INTO process (supplier_id, external, state, revision, hash, first_staged_at, staged_at)
				SELECT s.id, 'X' || n.value, 'staged', 1, CAST('x' AS {bytes}), n.value, 1 FROM supplier s, ` + numbers + ` n`,
			`INSERT INTO search_term (term, supplier_id, account_id) SELECT 'njohn', supplier_id, id FROM process`,
			`INSERT INTO search_term (term, supplier_id, account_id) SELECT 'dlondon', supplier_id, id FROM process WHERE first_staged_at % 3000 = 0`,
			`INSERT INTO search_term (term, supplier_id, account_id) SELECT 'dleeds', supplier_id, id FROM process WHERE first_staged_at % 3 = 0`,
		} {
			if err := store.Force(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
		for words, want := range map[string]int{"john london": 3, "john leeds": 10, "jhon london": 3, "leeds london": 3} {
			if found := findWords(t, store, words); len(found.Accounts) != want {
				t.Errorf("%q finds %d accounts, want %d", words, len(found.Accounts), want)
			}
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
			`INSERT INTO search_term (term, supplier_id, account_id) SELECT 'nlovelace' || id, supplier_id, id FROM process`,
			`ANALYZE`,
		} {
			numbers := `(WITH RECURSIVE c (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM c WHERE value < 20000) SELECT value FROM c)`
			if err := store.Force(t.Context(), strings.ReplaceAll(text, "{numbers}", numbers)); err != nil {
				t.Fatal(err)
			}
		}
		for index, query := range map[string][]any{
			"process_number":      {sqlstore.FindNumbersText, "A-1234", "A-1234\U0010FFFF", 40},
			"process_number_tail": {sqlstore.FindTailsText, "1234", "1234", 40},
			"search_term_pkey|sqlite_autoindex_search_term_1|t USING PRIMARY KEY":   {sqlstore.FindTermsText, "nlovelace12", "nlovelace12\U0010FFFF", "%", 40},
			"search_term_pkey|sqlite_autoindex_search_term_1|t USING PRIMARY KEY (": {sqlstore.FindTermsOfText, "nlovelace12", "nlovelace12\U0010FFFF", "%", 40, 100},
			"supplier_id": {sqlstore.FindExternalsText, 1, "X12", "X12\U0010FFFF", 40},
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
	})
}

// An account that was refused and then skipped has a process without a document. Its
// erasure removes the person of the refusal from the search too.
func TestErasedRefusalsAreNotFound(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store := openStore(t, url)
		prepareStore(t, store)
		key := landfall.Key{Supplier: "S", External: "OLD-000123"}
		if err := store.Refuse(t.Context(), landfall.Refusal{Key: key, Failure: landfall.Failure{Code: "x"}, Document: []byte(lovelaceDocument)}); err != nil {
			t.Fatal(err)
		}
		indexAll(t, store)
		if found := findWords(t, store, "lovelace"); len(found.Accounts) != 1 {
			t.Fatalf("found %+v", found)
		}
		if err := store.Update(t.Context(), func(tx landfall.Tx) error {
			if _, err := tx.Skip(t.Context(), key, "by the operator"); err != nil {
				return err
			}
			_, err := tx.Erase(t.Context(), key)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		// It fails if there is a term: each needs an account.
		if err := store.Force(t.Context(), `UPDATE search_term SET account_id = NULL`); err != nil {
			t.Errorf("terms are left: %v", err)
		}
	})
}
