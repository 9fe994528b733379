package sqlstore_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
)

// TestEveryColumnIsClassified fails when a column was added without declaring
// whether it is personal.
func TestEveryColumnIsClassified(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, url string) {
		columns, err := openStore(t, url).Columns(t.Context(), strings.HasPrefix(url, "postgres"))
		if err != nil || len(columns) < 100 {
			t.Fatalf("%d columns, %v", len(columns), err)
		}
		for _, wrong := range sqlstore.Unclassified(columns) {
			t.Errorf("%s: this belongs in personal.go", wrong)
		}
	})
}

// filesWith returns the files of a folder that contain a text.
func filesWith(t *testing.T, folder, word string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		if bytes.Contains(text, []byte(word)) {
			files = append(files, filepath.Base(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// canary is a word that no other data contains.
const canary = "Kanarienvogel"

// canaryAccount creates an account with the word in its personal data.
func canaryAccount(t *testing.T, store *sqlstore.Store) {
	t.Helper()
	prepareStore(t, store, "1")
	createCanary(t, store, "1")
}

// createCanary creates a staged account with the word in its personal data.
func createCanary(t *testing.T, store *sqlstore.Store, number string) {
	t.Helper()
	creation := landfall.Creation{Claim: claimNumber(t, store, number), Account: sampleAccount(t), Mails: []landfall.Mail{{Kind: "k", To: canary + "@mail.co.uk"}}}
	data := &creation.Account.Data
	data.BillingName = canary
	for i := range data.Customers {
		data.Customers[i].FamilyName = canary
	}
	data.Notes = []landfall.Note{{Body: strings.Repeat(canary+" ", 500), HasBody: true}}
	if outcome, err := store.Create(t.Context(), creation); err != nil || outcome.Verdict != landfall.Created {
		t.Fatalf("got %+v, %v", outcome, err)
	}
}

// TestNothingErasedIsLeftInTheFiles searches the raw files of SQLite.
func TestNothingErasedIsLeftInTheFiles(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	url := "sqlite:" + filepath.Join(folder, "landfall.db")
	store := openStore(t, url)
	canaryAccount(t, store)
	if len(filesWith(t, folder, canary)) == 0 {
		t.Fatal("the test would not detect the fault")
	}
	if err := store.Update(t.Context(), func(tx landfall.Tx) error {
		_, err := tx.Erase(t.Context(), testKey)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := sqlstore.Wipe(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	if files := filesWith(t, folder, canary); len(files) > 0 {
		t.Errorf("the word is still in %v", files)
	}
	if found, _ := inspect(t, store); len(found) != 0 {
		t.Errorf("found %v", found)
	}
}

// TestNothingErasedIsLeftInTheTables searches the raw files of PostgreSQL's
// tables. The files they had before the wipe are gone.
func TestNothingErasedIsLeftInTheTables(t *testing.T) {
	t.Parallel()
	url := dbtest.Postgres(t)
	store := openStore(t, url)
	canaryAccount(t, store)
	// The planner keeps samples of the columns.
	force(t, store, `ANALYZE`)
	force(t, store, `CHECKPOINT`)
	if tablesWith(t, store) == 0 {
		t.Fatal("the test would not detect the fault")
	}
	if err := store.Update(t.Context(), func(tx landfall.Tx) error {
		_, err := tx.Erase(t.Context(), testKey)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if err := sqlstore.Wipe(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	wantWiped(t, store, url)
}

// tablesWith counts the tables of PostgreSQL whose files contain the word.
func tablesWith(t *testing.T, store *sqlstore.Store) int {
	t.Helper()
	found, err := store.Texts(t.Context(), `SELECT relname::text FROM pg_class WHERE relkind IN ('r', 't') AND (relnamespace IN (current_schema()::regnamespace, 'pg_toast'::regnamespace) OR relname = 'pg_statistic')
		AND pg_relation_filepath(oid) IS NOT NULL AND relpages >= 0
		AND position(convert_to('`+canary+`', 'UTF8') IN coalesce(pg_read_binary_file(pg_relation_filepath(oid), 0, 1 << 28, true), '')) > 0`)
	if err != nil {
		t.Skipf("the server's files cannot be read by its users: %v", err)
	}
	return len(found)
}

// wantWiped fails unless a wipe has removed the word from all files. Wipe waits for
// readers, but some are in no list of transactions, such as a copy of the
// database being made at the same time. It may then have to run again.
func wantWiped(t *testing.T, store *sqlstore.Store, url string) {
	t.Helper()
	left := tablesWith(t, store)
	for end := time.Now().Add(30 * time.Second); left > 0 && time.Now().Before(end); left = tablesWith(t, store) {
		if err := sqlstore.Wipe(t.Context(), url); err != nil {
			t.Fatal(err)
		}
	}
	if left > 0 {
		t.Errorf("the word is still in the files of %d tables", left)
	}
}
