package sqlstore_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/store/sqlstore"
)

// TestAWipeWaitsForWhoeverStillReads keeps a reader open that began before the
// erasure: rows that it still sees would be copied into the new files.
func TestAWipeWaitsForWhoeverStillReads(t *testing.T) {
	t.Parallel()
	const word = "Kanarienvogel"
	onEach(t, func(t *testing.T, url string) {
		store := open(t, url)
		canaryAccount(t, store, word)
		leave := stillReading(t, url)
		if err := store.Update(t.Context(), func(tx landfall.Tx) error {
			_, err := tx.Erase(t.Context(), whereClaimed)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		wiped := make(chan error, 1)
		go func() { wiped <- sqlstore.Wipe(t.Context(), url) }()
		select {
		case err := <-wiped:
			t.Fatalf("it did not wait: %v", err)
		case <-time.After(time.Second):
		}
		leave()
		if err := <-wiped; err != nil {
			t.Fatal(err)
		}
		file, embedded := strings.CutPrefix(url, "sqlite:")
		if embedded {
			if files := bytesIn(t, filepath.Dir(file), word); len(files) > 0 {
				t.Errorf("the word is still in %v", files)
			}
			return
		}
		wipedOut(t, store, url, word)
	})
}

// stillReading starts a read of the database outside the store, and returns a
// function that ends it.
func stillReading(t *testing.T, url string) (leave func()) {
	t.Helper()
	driver, source := "pgx", url
	if file, embedded := strings.CutPrefix(url, "sqlite:"); embedded {
		driver, source = "sqlite", "file:"+file
	}
	database, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { database.Close() })
	reader, err := database.BeginTx(context.Background(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil && driver == "sqlite" {
		reader, err = database.BeginTx(context.Background(), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	var count int
	if err := reader.QueryRowContext(t.Context(), `SELECT count(*) FROM customer`).Scan(&count); err != nil || count == 0 {
		t.Fatalf("%d customers, %v", count, err)
	}
	return func() {
		if err := reader.Rollback(); err != nil {
			t.Error(err)
		}
	}
}
