package sqlstore_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"landfall"
	"landfall/internal/store/seal"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
)

// databaseFilesWith returns the files of a database that contain one of the
// words.
func databaseFilesWith(t *testing.T, store *sqlstore.Store, url string, words ...string) (found []string) {
	t.Helper()
	if file, is := strings.CutPrefix(url, "sqlite:"); is {
		for _, word := range words {
			found = append(found, filesWith(t, filepath.Dir(file), word)...)
		}
		return found
	}
	force(t, store, `CHECKPOINT`)
	// Search its tables and indexes, its write-ahead log, temporary files and the
	// server log.
	sought := make([]string, len(words))
	for i, word := range words {
		sought[i] = `position('\x` + hex.EncodeToString([]byte(word)) + `' IN f.bytes) > 0`
	}
	found, err := store.Texts(t.Context(), `SELECT f.name FROM (SELECT n.name, coalesce(pg_read_binary_file(n.name, 0, 1 << 28, true), '') AS bytes FROM (
			SELECT pg_relation_filepath(oid) AS name FROM pg_class WHERE relkind IN ('r', 't', 'i') AND pg_relation_filepath(oid) IS NOT NULL
			UNION ALL SELECT 'pg_wal/' || name FROM pg_ls_waldir()
			UNION ALL SELECT 'base/pgsql_tmp/' || name FROM pg_ls_tmpdir()
			UNION ALL SELECT pg_current_logfile() WHERE pg_current_logfile() IS NOT NULL) n OFFSET 0) f
		WHERE `+strings.Join(sought, " OR "))
	if err != nil {
		t.Skipf("the server's files cannot be read by its users: %v", err)
	}
	return found
}

// onFiles is like onEach, with the SQLite file alone in its folder.
func onFiles(t *testing.T, test func(t *testing.T, url string)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, dbtest.SQLite(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, dbtest.Postgres(t))
	})
}

func newCanary() string {
	return "Kanari" + strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return 'a' + r - '0'
		}
		return -1
	}, fmt.Sprint(time.Now().UnixNano()))
}

// rekey seals everything with the current key.
func rekey(t *testing.T, store *sqlstore.Store) landfall.RekeyStep {
	t.Helper()
	for range 10_000 {
		step, err := store.Rekey(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if step.Done {
			return step
		}
	}
	t.Fatal("it never ends")
	return landfall.RekeyStep{}
}

// TestNothingSealedIsInTheFiles fills a store that has a key and searches the raw
// files.
func TestNothingSealedIsInTheFiles(t *testing.T) {
	t.Parallel()
	onFiles(t, func(t *testing.T, url string) {
		word, key := newCanary(), seal.NewKey()
		store := openStore(t, url, key)
		writePersonalData(t, store, word)
		checkPersonalData(t, store, word)
		if found := databaseFilesWith(t, store, url, word); len(found) > 0 {
			t.Errorf("the word is in %v", found)
		}
		// Check that the search finds a word that leaks.
		force(t, store, `UPDATE customer SET title = '`+word+`'`)
		if found := databaseFilesWith(t, store, url, word); len(found) == 0 {
			t.Error("the test would not detect the fault")
		}
	})
}

// wipeUntilClean wipes a database until its files contain none of the words.
// PostgreSQL's write-ahead log is ignored, since it keeps earlier writes.
func wipeUntilClean(t *testing.T, store *sqlstore.Store, url string, words ...string) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; {
		if err := sqlstore.Wipe(t.Context(), url); err != nil {
			t.Fatal(err)
		}
		left := slices.DeleteFunc(databaseFilesWith(t, store, url, words...), func(name string) bool { return strings.HasPrefix(name, "pg_wal/") })
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("a word is in %v", left)
		}
	}
}

// TestEncryptionTurnedOnLater fills a store without a key, continues with one,
// and changes it.
func TestEncryptionTurnedOnLater(t *testing.T) {
	t.Parallel()
	onFiles(t, func(t *testing.T, url string) {
		word, first, second := newCanary(), seal.NewKey(), seal.NewKey()
		bare := openStore(t, url)
		writePersonalData(t, bare, word)
		if found := databaseFilesWith(t, bare, url, word); len(found) == 0 {
			t.Error("the test would not detect the fault")
		}
		if err := bare.Close(); err != nil {
			t.Fatal(err)
		}
		store := openStore(t, url, first)
		checkPersonalData(t, store, word) // unsealed data is read, and existing data is found
		if found, err := store.Encryption(t.Context()); err != nil || !found.HasPlaintext {
			t.Errorf("got %+v, %v", found, err)
		}
		step := rekey(t, store)
		if step.Encrypted == 0 || len(step.DroppedKeys) != 0 {
			t.Errorf("got %+v", step)
		}
		checkPersonalData(t, store, word)
		if again := rekey(t, store); again.Encrypted != 0 {
			t.Errorf("the second time: %+v", again)
		}
		wipeUntilClean(t, store, url, word)
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}

		turning := openStore(t, url, second, first)
		checkPersonalData(t, turning, word)
		if found, err := turning.Encryption(t.Context()); err != nil || len(found.Keys) != 2 || found.HasPlaintext {
			t.Errorf("got %+v, %v", found, err)
		}
		if _, err := sqlstore.Open(t.Context(), url, sqlstore.Options{Keys: []seal.Key{second}}); !errors.Is(err, sqlstore.ErrLocked) {
			t.Errorf("opened without the old key: %v", err)
		}
		if step := rekey(t, turning); len(step.DroppedKeys) != 1 || step.DroppedKeys[0] != first.ID() {
			t.Errorf("got %+v", step)
		}
		if err := turning.Close(); err != nil {
			t.Fatal(err)
		}
		checkPersonalData(t, openStore(t, url, second), word)
	})
}

// TestEncryptedDatabaseNeedsItsKey tries to open sealed data without the right
// key.
func TestEncryptedDatabaseNeedsItsKey(t *testing.T) {
	t.Parallel()
	onFiles(t, func(t *testing.T, url string) {
		key := seal.NewKey()
		openStore(t, url, key)
		for name, keys := range map[string][]seal.Key{"none": nil, "wrong": {seal.NewKey()}} {
			_, err := sqlstore.Open(t.Context(), url, sqlstore.Options{Keys: keys})
			if !errors.Is(err, sqlstore.ErrLocked) || !strings.Contains(err.Error(), key.ID()) {
				t.Errorf("%s: got %v", name, err)
			}
		}
	})
}

// TestRekeyDuringWrites changes the key while accounts are staged and created.
func TestRekeyDuringWrites(t *testing.T) {
	t.Parallel()
	onFiles(t, func(t *testing.T, url string) {
		first, second := seal.NewKey(), seal.NewKey()
		before := openStore(t, url, first)
		prepareStore(t, before)
		const accounts = 120
		stageAll := func(store *sqlstore.Store, from, until int) {
			for number := from; number < until; number++ {
				if _, err := store.Stage(t.Context(), stagingWithWord(fmt.Sprint(number), "word")); err != nil {
					t.Error(err)
				}
			}
		}
		stageAll(before, 0, accounts)
		if err := before.Close(); err != nil {
			t.Fatal(err)
		}
		during := openStore(t, url, second, first)
		var writers sync.WaitGroup
		writers.Go(func() { stageAll(during, accounts, 2*accounts) })
		writers.Go(func() {
			for number := range accounts / 4 {
				create(t, during, fmt.Sprint(number), sampleAccount(t), fmt.Sprint(number))
			}
		})
		rekey(t, during)
		writers.Wait()
		rekey(t, during)
		if err := during.Close(); err != nil {
			t.Fatal(err)
		}
		after := openStore(t, url, second)
		if found, count := inspect(t, after); len(found) != 0 || count != 2*accounts {
			t.Errorf("found %v of %d", found, count)
		}
		if err := after.View(t.Context(), func(reader landfall.View) error {
			for number := range accounts / 4 {
				if _, err := reader.Account(t.Context(), landfall.Key{Supplier: "S", External: fmt.Sprint(number)}); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	})
}

// TestServersCheckTheirKeyDuringAKeyChange lists two keys. Each server checks with the key
// that it writes with, whichever is listed first.
func TestServersCheckTheirKeyDuringAKeyChange(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		first, second := seal.NewKey(), seal.NewKey()
		before := openStore(t, url, first, second)
		after := openStore(t, url, second, first)
		for name, store := range map[string]*sqlstore.Store{"before": before, "after": after} {
			if err := store.RecordKey(t.Context()); err != nil {
				t.Errorf("the server %s the change: %v", name, err)
			}
		}
	})
}
