package sqlstore_test

import (
	"runtime"
	"testing"
	"time"

	"landfall"
	"landfall/internal/pgtest"
	"landfall/internal/sqlstore"
)

const manyRows = 200_000

// crowded opens a fresh store with many processes.
func crowded(t *testing.T, url string) *sqlstore.Store {
	t.Helper()
	store := staged(t, url)
	force(t, store, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
		INSERT INTO process (supplier_id, external, state, revision, hash, first_staged_at, staged_at)
		SELECT s.id, 'N-' || CAST(n.i AS TEXT), 'staged', 1, CAST('x' AS {bytes}), n.i, n.i FROM n, supplier s`)
	return store
}

// TestListMemoryStaysFlat would see a driver that collects a result first.
func TestListMemoryStaysFlat(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store := crowded(t, url)
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
			if count++; count%50_000 == 0 {
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

// TestListEndsWithItsReader asks the server whether it still works for a
// reader who has left.
func TestListEndsWithItsReader(t *testing.T) {
	url := pgtest.URL(t)
	store := crowded(t, url)
	for _, err := range store.List(t.Context(), landfall.ProcessQuery{Supplier: "S"}) {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	for end := time.Now().Add(time.Second); ; {
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
