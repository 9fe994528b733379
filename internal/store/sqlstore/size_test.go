package sqlstore_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"landfall"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/tooltest"
)

// TestStagedAccountsTakeHalfOfTheirBytes stages accounts as a migration does and
// measures the size on disk, including indexes and SQLite's write-ahead log.
func TestStagedAccountsTakeHalfOfTheirBytes(t *testing.T) {
	tooltest.SkipIfShort(t)
	sample, err := os.ReadFile("../pack/testdata/account.json")
	if err != nil {
		t.Fatal(err)
	}
	// SQLite's write-ahead log has a fixed size. Stage enough accounts that it
	// does not dominate the result; a real book has even more.
	const accounts, writers = 50_000, 64
	onEach(t, func(t *testing.T, url string) {
		store := openStore(t, url)
		prepareStore(t, store)
		var all sync.WaitGroup
		for writer := range writers {
			all.Go(func() {
				for n := writer; n < accounts; n += writers {
					text := bytes.Replace(sample, []byte("1000000000042"), fmt.Appendf(nil, "%013d", n*7919), 1)
					if _, err := store.Stage(t.Context(), landfall.Staging{
						Key: landfall.Key{Supplier: "S", External: fmt.Sprintf("EXT-%013d", n*7919)}, Document: text, Hash: sha256.Sum256(text),
						By: landfall.Author{KeyID: "m55mcv9nwx", RequestID: "aecb4ef8cfefcb6a69d22224243a4c77"},
					}); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		all.Wait()
		sent := accounts * len(sample)
		kept := weigh(t, store, url)
		t.Logf("%d bytes sent, %d kept: %d per account, %.2f", sent, kept, kept/accounts, float64(kept)/float64(sent))
		if kept*2 > sent {
			t.Errorf("%d bytes take %d", sent, kept)
		}
	})
}

func weigh(t *testing.T, store *sqlstore.Store, url string) int {
	t.Helper()
	if file, is := strings.CutPrefix(url, "sqlite:"); is {
		size := 0
		for _, name := range []string{file, file + "-wal"} {
			found, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: %d", name[strings.LastIndex(name, "/")+1:], found.Size())
			size += int(found.Size())
		}
		return size
	}
	size, err := store.Count(t.Context(), `SELECT pg_total_relation_size('process') + pg_total_relation_size('staging')`)
	if err != nil {
		t.Fatal(err)
	}
	return size
}
