package sqlstore_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/service/audit"
	"landfall/internal/store/seal"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
)

// scrubbed checks everything as servers do in the background, without the pauses.
func scrubbed(t *testing.T, store *sqlstore.Store) (found []string) {
	t.Helper()
	for at := (landfall.InspectionPosition{}); ; {
		step, err := store.InspectStep(t.Context(), at)
		if err != nil {
			found = append(found, "cannot be checked: "+err.Error())
		}
		for _, one := range step.Findings {
			found = append(found, one.Key.Supplier+" "+one.Key.External+": "+one.What)
		}
		if step.Done {
			break
		}
		if at == step.Next {
			t.Fatalf("it stays at %+v: %v", at, found)
		}
		at = step.Next
	}
	verdict, err := audit.Verify(t.Context(), store, audit.Evidence{})
	switch {
	case err != nil:
		found = append(found, "the audit cannot be read: "+err.Error())
	case verdict.Problem != "":
		found = append(found, verdict.Problem)
	}
	return found
}

// manyAccounts fills a store with accounts that have a row in every table.
func manyAccounts(t *testing.T, store *sqlstore.Store, count int) {
	t.Helper()
	var numbers []string
	for i := range count {
		numbers = append(numbers, fmt.Sprint(i+1))
	}
	prepareStore(t, store)
	for i, number := range numbers {
		word := fmt.Sprintf("Kanarienvogel%d", i)
		staging := stagingWithWord(number, strings.Repeat(word+" ", 30))
		if _, err := store.Stage(t.Context(), staging); err != nil {
			t.Fatal(err)
		}
		if i%4 > 0 {
			create(t, store, number, accountWithWord(t, word), word)
		}
	}
	for range 5 {
		if err := store.Update(t.Context(), func(tx landfall.Tx) error {
			return tx.AppendAudit(t.Context(), landfall.AuditEntry{Actor: "operator:ada", Action: "supplier.set", Subject: "S"})
		}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.IndexTerms(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := store.ChainAudit(t.Context(), landfall.Watermark{}); err != nil {
		t.Fatal(err)
	}
}

// TestFlippedBytesInAPageAreNoticed flips 64 bytes in one page of a SQLite file,
// twelve times, each in a fresh copy. Without a key, nothing has a checksum of
// names and addresses, so flips inside such texts are not noticed.
func TestFlippedBytesInAPageAreNoticed(t *testing.T) {
	t.Parallel()
	const tries = 36 // many, because where the data lies in the file differs from run to run
	for name, expect := range map[string]struct {
		keys []seal.Key
		want int
	}{"without a key": {nil, 7}, "encrypted": {[]seal.Key{seal.NewKey()}, 20}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := dbtest.SQLite(t)
			store := openStore(t, url, expect.keys...)
			manyAccounts(t, store, 80)
			if found := scrubbed(t, store); len(found) != 0 {
				t.Fatalf("nothing is damaged, and yet %v", found)
			}
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
			whole, err := os.ReadFile(strings.TrimPrefix(url, "sqlite:"))
			if err != nil {
				t.Fatal(err)
			}
			random := rand.New(rand.NewPCG(12, 12))
			noticed := 0
			for try := range tries {
				found := flipped(t, whole, random, expect.keys)
				t.Logf("case %d: %.200q", try, found)
				if len(found) > 0 {
					noticed++
				}
			}
			t.Logf("%d of %d are noticed", noticed, tries)
			if noticed < expect.want {
				t.Errorf("%d of %d are noticed, want at least %d", noticed, tries, expect.want)
			}
		})
	}
}

// flipped flips bytes in a copy of a database and returns what is found in it.
func flipped(t *testing.T, whole []byte, random *rand.Rand, keys []seal.Key) []string {
	t.Helper()
	const page, count = 4096, 64
	damaged := append([]byte{}, whole...)
	// Choose a page with content: free pages and empty space do not matter.
	for {
		at := page*(1+random.IntN(len(whole)/page-1)) + random.IntN(page-count)
		if strings.Trim(string(damaged[at:at+count]), "\x00") == "" {
			continue
		}
		for i := range count {
			damaged[at+i] ^= byte(1 + random.IntN(255))
		}
		break
	}
	file := filepath.Join(t.TempDir(), "landfall.db")
	if err := os.WriteFile(file, damaged, 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := sqlstore.Open(t.Context(), "sqlite:"+file, sqlstore.Options{Keys: keys})
	if err != nil {
		return []string{"it does not open: " + err.Error()}
	}
	defer store.Close()
	return scrubbed(t, store)
}

// changedRows are changes to a row that someone could make in the database.
var changedRows = map[string]string{
	"a document":            `UPDATE staging SET document = CAST('{"other":1}' AS {bytes})`,
	"its hash":              `UPDATE staging SET hash = CAST('0123456789abcdef0123456789abcdef' AS {bytes})`,
	"the hash of a process": `UPDATE process SET hash = CAST('0123456789abcdef0123456789abcdef' AS {bytes})`,
	"an amount":             `UPDATE ledger_entry SET signed = signed + 1`,
	"a balance":             `UPDATE account SET balance = balance + 1`,
	"a state":               `UPDATE process SET state = 'skipped', skip_reason = 'x', account_number = NULL, account_created_at = NULL WHERE state = 'imported'`,
	"a lost note":           `DELETE FROM note WHERE ordinal = 1`,
	"a lost event":          `DELETE FROM event`,
	"an audit entry":        `UPDATE audit SET actor = 'nobody'`,
	"a lost audit entry":    `DELETE FROM audit WHERE id = (SELECT min(id) FROM audit)`,
	"a sum":                 `DELETE FROM tally`,
	"a name":                `UPDATE customer SET family_name = 'Other'`,
}

// TestChangedRowsAreNoticed changes one thing after the other, on both databases.
func TestChangedRowsAreNoticed(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][]seal.Key{"without a key": nil, "encrypted": {seal.NewKey()}} {
		t.Run(name, func(t *testing.T) {
			for what, change := range changedRows {
				t.Run(what, func(t *testing.T) {
					onFiles(t, func(t *testing.T, url string) {
						store := openStore(t, url, keys...)
						manyAccounts(t, store, 3)
						if found := scrubbed(t, store); len(found) != 0 {
							t.Fatalf("nothing is changed, and yet %v", found)
						}
						force(t, store, change)
						found := scrubbed(t, store)
						// Without a key, nothing has a checksum of a name.
						if noticed := len(found) > 0; noticed != (what != "a name" || keys != nil) {
							t.Errorf("found %q", found)
						}
					})
				})
			}
		})
	}
}
