package sqlstore_test

import (
	"encoding/hex"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/store/seal"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
)

// unreadableColumns lists the personal columns in which a word is not readable
// even without encryption: digests, packed documents, and a day.
var unreadableColumns = []string{"account_identifier.digest", "customer.born_on", "note.digest", "process.hash", "staging.document", "staging.hash"}

// storedValues returns the values of every personal column of a store that
// writePersonalData has filled. An empty column is an omission of this test.
func storedValues(t *testing.T, store *sqlstore.Store, url string) map[string][]string {
	t.Helper()
	kept := map[string][]string{}
	for _, name := range sqlstore.PersonalColumns() {
		values, err := store.StoredValues(t.Context(), strings.HasPrefix(url, "postgres"), name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(values) == 0 {
			t.Errorf("%s is empty: writePersonalData must write a canary there", name)
		}
		kept[name] = values
	}
	return kept
}

// canaryWords returns what to search the raw files for: the word in upper and
// lower case, and the values of the columns in which it is not readable.
func canaryWords(word string, kept map[string][]string) []string {
	words := []string{word, strings.ToLower(word), strings.ToUpper(word)}
	for _, name := range unreadableColumns {
		for _, value := range kept[name] {
			if bare, is := strings.CutPrefix(value, `\x`); is {
				if raw, err := hex.DecodeString(bare); err == nil {
					value = string(raw)
				}
			}
			if name != "note.digest" { // a number, which every database stores differently
				words = append(words, value)
			}
		}
	}
	return words
}

// TestCanaryInEveryPersonalColumnIsErased is driven by the registry: for every
// column declared personal, writePersonalData must write a canary there. The
// canary must be found in a store without encryption, and neither in an
// encrypted store nor after an erasure.
func TestCanaryInEveryPersonalColumnIsErased(t *testing.T) {
	t.Parallel()
	onFiles(t, func(t *testing.T, url string) {
		word := newCanary()
		bare := openStore(t, url)
		writePersonalData(t, bare, word)
		readable := storedValues(t, bare, url)
		for name, values := range readable {
			if !slices.Contains(unreadableColumns, name) && !strings.Contains(strings.ToLower(strings.Join(values, " ")), strings.ToLower(word)) {
				t.Errorf("%s has %v without the canary", name, values)
			}
		}
		words := canaryWords(word, readable)
		if len(words) < 7 || len(databaseFilesWith(t, bare, url, words...)) == 0 {
			t.Fatalf("the search for %q would not find it in plain data", words)
		}

		sealedURL := dbtest.Fresh[map[bool]string{true: "postgres", false: "sqlite"}[strings.HasPrefix(url, "postgres")]](t)
		sealed := openStore(t, sealedURL, seal.NewKey())
		writePersonalData(t, sealed, word)
		for name, values := range storedValues(t, sealed, sealedURL) {
			for _, value := range values {
				if strings.Contains(strings.ToLower(value), strings.ToLower(word)) || slices.Contains(readable[name], value) {
					t.Errorf("%s has %q in an encrypted store", name, value)
				}
			}
		}

		for _, number := range []string{"1", "2", "3", "4"} {
			if err := bare.Update(t.Context(), func(tx landfall.Tx) error {
				_, err := tx.Erase(t.Context(), landfall.Key{Supplier: "S", External: number})
				return err
			}); err != nil {
				t.Fatalf("erasing %s: %v", number, err)
			}
		}
		for _, name := range sqlstore.PersonalColumns() {
			if left, err := bare.StoredValues(t.Context(), strings.HasPrefix(url, "postgres"), name); err != nil || len(left) > 0 {
				t.Errorf("%s still has %v, %v", name, left, err)
			}
		}
		wipeUntilClean(t, bare, url, words...)
	})
}

// TestPrivacyPageListsAllColumns compares the privacy page with the registry, in
// both directions.
func TestPrivacyPageListsAllColumns(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/privacy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "|---|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	named := map[string]bool{}
	for row := range strings.Lines(table) {
		of := ""
		for _, word := range regexp.MustCompile("`([a-z_.]+)`").FindAllStringSubmatch(strings.Split(row, "|")[2], -1) {
			name := word[1]
			if strings.HasPrefix(name, ".") {
				name = of + name
			}
			of, _, _ = strings.Cut(name, ".")
			named[name] = true
		}
	}
	if len(named) < 15 {
		t.Fatalf("the page names only %v", named)
	}
	used := map[string]bool{}
	for _, name := range sqlstore.PersonalColumns() {
		table, _, _ := strings.Cut(name, ".")
		if !named[name] && !named[table] {
			t.Errorf("docs/privacy.md does not say that %s is personal", name)
		}
		used[name], used[table] = true, true
	}
	for name := range named {
		if !used[name] {
			t.Errorf("docs/privacy.md calls %s personal, and the registry does not", name)
		}
	}
}
