package sqlstore_test

import (
	"path/filepath"
	"testing"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/store/seal"
	"landfall/internal/store/sqlstore"
	"landfall/internal/store/storetest"
	"landfall/internal/test/dbtest"
	"landfall/internal/test/pgtest"
	"landfall/internal/test/tooltest"
)

// empty maps each kind of database to a function that creates one without a
// schema and returns its URL.
var empty = map[string]func(testing.TB) string{
	"sqlite":   func(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "landfall.db") },
	"postgres": pgtest.URL,
}

func openStore(t testing.TB, url string, keys ...seal.Key) *sqlstore.Store {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), url, sqlstore.WithLongQueue(sqlstore.Options{ApplySchema: true, SearchTerms: contract.SearchTerms, Keys: keys}))
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

func TestStorePromises(t *testing.T) {
	for name, fresh := range dbtest.Fresh {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, func(t *testing.T) landfall.Store { return openStore(t, fresh(t)) })
		})
	}
}

// TestSealedStorePromises checks the promises that concern encrypted data on a
// store that encrypts.
func TestSealedStorePromises(t *testing.T) { testSealedPromises(t, dbtest.SQLite) }

func TestSealedStorePromisesOnPostgres(t *testing.T) {
	tooltest.SkipIfShort(t) // encryption does not depend on the database
	testSealedPromises(t, dbtest.Postgres)
}

func testSealedPromises(t *testing.T, fresh func(testing.TB) string) {
	t.Helper()
	key := seal.NewKey()
	storetest.RunSealed(t, func(t *testing.T) landfall.Store { return openStore(t, fresh(t), key) })
}

// TestTwoInstallationsHadTheSameSource creates two databases from nothing. Their events must not look
// as if they came from one service.
func TestTwoInstallationsHadTheSameSource(t *testing.T) {
	for kind, fresh := range empty {
		t.Run(kind, func(t *testing.T) {
			names := map[string]bool{}
			for range 2 {
				store := openStore(t, fresh(t))
				for range 2 { // the name stays
					if err := store.View(t.Context(), func(view landfall.View) error {
						name, err := view.Instance(t.Context())
						if len(name) != 16 {
							t.Errorf("an installation is called %q", name)
						}
						names[name] = true
						return err
					}); err != nil {
						t.Fatal(err)
					}
				}
			}
			if len(names) != 2 {
				t.Errorf("two installations are called %v", names)
			}
		})
	}
}
