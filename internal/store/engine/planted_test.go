package engine

import (
	"testing"
	"time"

	"landfall/internal/test/pgtest"
)

// TestPlantedFaultsAreFound puts each fault back that this room was built
// against. A suite that does not notice it is worth nothing.
func TestPlantedFaultsAreFound(t *testing.T) {
	for name, planted := range map[string]func(testing.TB) error{
		"a call is forgotten when its group falls": func(t testing.TB) error {
			return failing(t, Options{planted: forgetsJob}, "INSERT INTO commit_mark", errIO, false)
		},
		"a lost commit is looked up over the connections that lost it": func(t testing.TB) error {
			return losing(t, Options{planted: settlesInUse, Connections: 5})
		},
		"a locked row refuses its neighbours": func(t testing.TB) error {
			return neighbours(t, Options{planted: blamesAll})
		},
		"what a write depends on is read without a lock": func(t testing.TB) error {
			return adding(t, pgtest.URL(t), Options{planted: holdsNothing})
		},
		"a write that returned rows is not committed": func(t testing.TB) error {
			r := enter(t, pgtest.URL(t), Options{planted: uncommitted})
			_, err := r.crowd(t.Context(), "", 12)
			return err
		},
		"a write that returned rows is not committed on SQLite": func(t testing.TB) error {
			r := enter(t, file(t), Options{planted: uncommitted})
			_, err := r.crowd(t.Context(), "", 12)
			return err
		},
		"tenants who read take no turns": func(t testing.TB) error {
			return readingBeside(t, pgtest.URL(t), Options{planted: readsUnordered})
		},
		"tenants who read take no turns on SQLite": func(t testing.TB) error {
			return readingBeside(t, file(t), Options{planted: readsUnordered})
		},
		"a read waits as long as its disk does": func(t testing.TB) error {
			return hanging(t, Options{planted: waitsForDisk}, 3*time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := planted(t); err == nil {
				t.Error("nobody noticed")
			} else {
				t.Logf("found: %.300v", err)
			}
		})
	}
}
