package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"landfall"
)

// errOwn must come back unchanged, so that callers can recognise their own
// errors.
var errOwn = errors.New("the caller's own error")

// transactionChecks are what everything else relies on: all or nothing, one
// snapshot, and data read for a write is still current when it is written.
var transactionChecks = []promiseCheck{
	// All other cases take this for granted.
	{"an update is visible afterwards", func(t *testing.T, store landfall.Store) {
		update(t, store, func(tx landfall.Tx) error { return tx.CreateTeam(t.Context(), "Migration") })
		inView(t, store, func(view landfall.View) error {
			team, err := view.Team(t.Context(), "Migration")
			recent(t, team.CreatedAt)
			return err
		})
	}},
	// Callers decide by their own errors, and half an update is a state that none of
	// their rules expects.
	{"a failed update stores nothing and returns its error", func(t *testing.T, store landfall.Store) {
		err := store.Update(t.Context(), func(tx landfall.Tx) error {
			if err := tx.CreateTeam(t.Context(), "Migration"); err != nil {
				return err
			}
			return errOwn
		})
		wantError(t, err, errOwn)
		inView(t, store, func(view landfall.View) error {
			_, err := view.Team(t.Context(), "Migration")
			wantError(t, err, landfall.ErrNotFound)
			return nil
		})
	}},
	// Otherwise code that creates and then reads would believe that it failed.
	{"an update reads its own writes", func(t *testing.T, store landfall.Store) {
		update(t, store, func(tx landfall.Tx) error {
			if err := tx.CreateTeam(t.Context(), "Migration"); err != nil {
				return err
			}
			_, err := tx.Team(t.Context(), "Migration")
			return err
		})
	}},
	// A bug in one request must not cost the others their connection or leave a lock
	// behind. The update that follows shows that the store still works.
	{"a panic in an update reaches its caller only", func(t *testing.T, store landfall.Store) {
		func() {
			defer func() {
				if got := recover(); got != "as planned" {
					t.Errorf("recovered %v", got)
				}
			}()
			_ = store.Update(t.Context(), func(tx landfall.Tx) error {
				if err := tx.CreateTeam(t.Context(), "Lost"); err != nil {
					return err
				}
				panic("as planned")
			})
		}()
		update(t, store, func(tx landfall.Tx) error {
			_, err := tx.Team(t.Context(), "Lost")
			wantError(t, err, landfall.ErrNotFound)
			return tx.CreateTeam(t.Context(), "Kept")
		})
	}},
	// Updates may share a commit to reduce disk writes. An update that fails must
	// not make the others fail, and one that succeeds must contain nothing of those
	// that failed.
	{"concurrent updates fail separately", func(t *testing.T, store landfall.Store) {
		names := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"}
		atOnce(len(names), func(number int) {
			err := store.Update(t.Context(), func(tx landfall.Tx) error {
				if err := tx.CreateTeam(t.Context(), names[number]); err != nil {
					return err
				}
				if number%2 == 1 {
					return errOwn
				}
				return nil
			})
			if number%2 == 0 && err != nil || number%2 == 1 && !errors.Is(err, errOwn) {
				t.Errorf("update %d: %v", number, err)
			}
		})
		inView(t, store, func(view landfall.View) error {
			teams, err := view.Teams(t.Context())
			if len(teams) != len(names)/2 {
				t.Errorf("%d teams, want %d", len(teams), len(names)/2)
			}
			for at, team := range teams {
				if team.Name != names[2*at] {
					t.Errorf("team %d is %s, want %s", at, team.Name, names[2*at])
				}
			}
			return err
		})
	}},
	// Each of them looked and found nothing. Only the database can decide, and the
	// loser must get ErrExists and not a driver's message.
	{"one of two concurrent creations of a name is refused", func(t *testing.T, store landfall.Store) {
		results := make([]error, 16)
		atOnce(len(results), func(number int) {
			results[number] = store.Update(t.Context(), func(tx landfall.Tx) error {
				return tx.CreateTeam(t.Context(), "Twin")
			})
		})
		created := 0
		for _, err := range results {
			if err == nil {
				created++
			} else {
				wantError(t, err, landfall.ErrExists)
			}
		}
		if created != 1 {
			t.Errorf("%d were created", created)
		}
	}},
	// A page that shows a sum and its rows from two moments shows a state that never
	// existed.
	{"a view is one snapshot", func(t *testing.T, store landfall.Store) {
		inView(t, store, func(view landfall.View) error {
			before, err := view.Teams(t.Context())
			if err != nil {
				return err
			}
			update(t, store, func(tx landfall.Tx) error { return tx.CreateTeam(t.Context(), "Later") })
			after, err := view.Teams(t.Context())
			if len(before) != 0 || len(after) != 0 {
				t.Errorf("saw %d, then %d teams", len(before), len(after))
			}
			return err
		})
	}},
	// Callers tell their own errors from the store's by identity.
	{"a view returns its error", func(t *testing.T, store landfall.Store) {
		wantError(t, store.View(t.Context(), func(landfall.View) error { return errOwn }), errOwn)
	}},
	// A caller that has left does not read the response, so its request must have no
	// effect. The error says that the caller left and not that the database is
	// unavailable: that would raise alarms whenever a client closes a connection.
	{"a cancelled call returns an error and has no effect", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		wantError(t, store.Update(gone, func(tx landfall.Tx) error { return tx.CreateTeam(gone, "Ghost") }), context.Canceled)
		wantError(t, store.View(gone, func(view landfall.View) error { _, err := view.Teams(gone); return err }), context.Canceled)
		_, err := store.Stage(gone, newStaging(testKey, "ghost"))
		wantError(t, err, context.Canceled)
		for _, err := range store.List(gone, landfall.ProcessQuery{Supplier: supplierCode}) {
			wantError(t, err, context.Canceled)
		}
		inView(t, store, func(view landfall.View) error {
			_, err := view.Team(t.Context(), "Ghost")
			wantError(t, err, landfall.ErrNotFound)
			_, err = view.Process(t.Context(), testKey)
			wantError(t, err, landfall.ErrNotFound)
			return nil
		})
	}},
	// The first half was already written. It must be undone, and the connection must
	// stay usable.
	{"cancelling an update rolls it back", func(t *testing.T, store landfall.Store) {
		ctx, cancel := context.WithCancel(t.Context())
		err := store.Update(ctx, func(tx landfall.Tx) error {
			if err := tx.CreateTeam(ctx, "Half"); err != nil {
				return err
			}
			cancel()
			return tx.CreateTeam(ctx, "Whole")
		})
		wantError(t, err, context.Canceled)
		update(t, store, func(tx landfall.Tx) error {
			_, err := tx.Team(t.Context(), "Half")
			wantError(t, err, landfall.ErrNotFound)
			return nil
		})
	}},
	// Unlike a caller that has left, one that ran out of time may still be there and
	// should retry, which is what ErrUnavailable means.
	{"a passed deadline is ErrUnavailable", func(t *testing.T, store landfall.Store) {
		late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
		defer cancel()
		wantError(t, store.Update(late, func(landfall.Tx) error { return nil }), landfall.ErrUnavailable)
	}},
	// The ping decides whether a replica gets requests, so it must not fail while
	// all is well.
	{"a ping succeeds", func(t *testing.T, store landfall.Store) {
		if err := store.Ping(t.Context()); err != nil {
			t.Error(err)
		}
	}},
	// Requests still arrive during shutdown. They must be told to go elsewhere, and
	// must neither panic nor hang.
	{"a closed store is ErrUnavailable", func(t *testing.T, store landfall.Store) {
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		wantError(t, store.Update(t.Context(), func(landfall.Tx) error { return nil }), landfall.ErrUnavailable)
		wantError(t, store.View(t.Context(), func(landfall.View) error { return nil }), landfall.ErrUnavailable)
		_, err := store.Stage(t.Context(), newStaging(testKey, "late"))
		wantError(t, err, landfall.ErrUnavailable)
		wantError(t, store.Ping(t.Context()), landfall.ErrUnavailable)
		for _, err := range store.List(t.Context(), landfall.ProcessQuery{Supplier: supplierCode}) {
			wantError(t, err, landfall.ErrUnavailable)
		}
	}},
}
