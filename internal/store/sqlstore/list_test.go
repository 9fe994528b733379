package sqlstore_test

import (
	"fmt"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
	"landfall/internal/test/tooltest"
)

const manyRows = 100_000

// openWithProcesses opens a fresh store with many processes.
func openWithProcesses(t *testing.T, url string, rows int) *sqlstore.Store {
	t.Helper()
	store := openStaged(t, url)
	const together = 10_000 // so that no statement takes long
	for from := 0; from < rows; from += together {
		force(t, store, fmt.Sprintf(`WITH RECURSIVE n (i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n WHERE i < %d)
			INSERT INTO process (supplier_id, external, state, revision, hash, first_staged_at, staged_at)
			SELECT s.id, 'N-' || CAST(n.i AS TEXT), 'staged', 1, CAST('x' AS {bytes}), n.i, n.i FROM n, supplier s`, from+1, min(from+together, rows)))
	}
	return store
}

// TestListMemoryStaysFlat detects a driver that reads a whole result into memory
// first.
func TestListMemoryStaysFlat(t *testing.T) {
	tooltest.SkipIfShort(t)
	onEach(t, func(t *testing.T, url string) {
		store := openWithProcesses(t, url, manyRows)
		live := func() uint64 {
			var memory runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&memory)
			return memory.HeapAlloc
		}
		before, count := live(), 0
		for _, err := range store.List(t.Context(), landfall.ProcessQuery{Supplier: "S"}) {
			if err != nil {
				t.Fatal(err)
			}
			if count++; count%25_000 == 0 {
				if now := live(); now > before+4<<20 {
					t.Errorf("after %d rows %d KiB more are in use", count, (now-before)>>10)
				}
			}
		}
		if count != manyRows+1 {
			t.Errorf("%d rows", count)
		}
	})
}

// TestListReadSlowly pauses in the middle of a long list: no writer may wait for
// the reader, and every entry that exists throughout is read exactly once and in
// order.
func TestListReadSlowly(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store := openWithProcesses(t, url, 5000)
		count, last := 0, int64(0)
		for entry, err := range store.List(t.Context(), landfall.ProcessQuery{Supplier: "S"}) {
			if err != nil {
				t.Fatal(err)
			}
			at := entry.FirstStagedAt.UnixMicro()
			if at <= last {
				t.Fatalf("%s comes after %d", entry.External, last)
			}
			last = at
			if count++; count == 10 {
				wantNoTransaction(t, store, url)
				stageNumber(t, store, "later")
				force(t, store, `UPDATE process SET state = 'skipped', skip_reason = 'gone' WHERE external = 'N-4000'`)
			}
			if entry.External == "later" || entry.External == "N-4000" {
				t.Errorf("%s is in the list", entry.External)
			}
		}
		if count != 5000 {
			t.Errorf("%d rows", count)
		}
	})
}

// wantNoTransaction fails the test if a transaction is open: PostgreSQL could
// not clean up old rows, and SQLite's write-ahead log would grow as long as it
// lasts.
func wantNoTransaction(t *testing.T, store *sqlstore.Store, url string) {
	t.Helper()
	if file, is := strings.CutPrefix(url, "sqlite:"); is {
		tool := tooltest.Debian(t, "sqlite3")
		said, err := exec.Command(tool, "-batch", file, "PRAGMA wal_checkpoint(TRUNCATE)").CombinedOutput()
		if err != nil || strings.TrimSpace(string(said)) != "0|0|0" {
			t.Errorf("the log cannot be emptied: %s, %v", said, err)
		}
		return
	}
	open, err := store.Count(t.Context(), `SELECT count(*) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL`)
	if err != nil || open != 0 {
		t.Errorf("%d transactions are open, %v", open, err)
	}
}

// TestListEndsWithItsReader checks that the server stops working for a reader
// that has left.
func TestListEndsWithItsReader(t *testing.T) {
	url := dbtest.Postgres(t)
	store := openWithProcesses(t, url, manyRows)
	for _, err := range store.List(t.Context(), landfall.ProcessQuery{Supplier: "S"}) {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	for end := time.Now().Add(30 * time.Second); ; {
		busy, err := store.Count(t.Context(), `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'`)
		if err != nil {
			t.Fatal(err)
		}
		if busy == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d connections are still at work", busy)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
