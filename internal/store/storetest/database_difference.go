package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"landfall"
)

// databaseDifferences are cases in which the databases would behave differently
// unless the store prevents it.
var databaseDifferences = []promiseCheck{
	// One database cannot store a NUL and the other stores anything. Data
	// staged on one could not be moved to the other, so both refuse it in
	// names, numbers and documents.
	{"a NUL or broken UTF-8 is refused everywhere", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		for _, bad := range []string{"a\x00b", "a\xffb", "a\xed\xa0\x80b"} {
			if err := store.Update(t.Context(), func(tx landfall.Tx) error { return tx.CreateTeam(t.Context(), bad) }); err == nil {
				t.Errorf("team %q was stored", bad)
			}
			if _, err := store.Stage(t.Context(), newStaging(landfall.Key{Supplier: supplierCode, External: bad}, "x")); err == nil {
				t.Errorf("number %q was stored", bad)
			}
			given := newStaging(testKey, "x")
			given.Document = []byte(`{"a":"` + bad + `"}`)
			if _, err := store.Stage(t.Context(), given); err == nil {
				t.Errorf("a document with %q was stored", bad)
			}
		}
		if found := externals(t, store, landfall.ProcessQuery{Supplier: supplierCode}); len(found) != 0 {
			t.Errorf("got %q", found)
		}
	}},
	// A document that cannot be parsed would be noticed only when an account is
	// created from it. The bad ones are sent along with good ones, since they may
	// share a transaction. They are the caller's fault: ErrUnavailable would make
	// the caller send them again forever.
	{"malformed JSON is refused, and only that", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		bad := []string{"", "{", "{]", "{'a':1}", `{"a":01}`, `{"a":1,}`, "nul", `{"a":"` + "\x01" + `"}`, `{"a":NaN}`, "{} {}"}
		atOnce(2*len(bad), func(number int) {
			own := landfall.Key{Supplier: supplierCode, External: fmt.Sprint(number)}
			given := newStaging(own, "good")
			if number%2 == 1 {
				given.Document = []byte(bad[number/2])
			}
			_, err := store.Stage(t.Context(), given)
			if number%2 == 0 && err != nil {
				t.Errorf("a good document in a batch with bad ones: %v", err)
			}
			if number%2 == 1 && (err == nil || errors.Is(err, landfall.ErrUnavailable)) {
				t.Errorf("%q: %v", given.Document, err)
			}
		})
		if found := externals(t, store, landfall.ProcessQuery{Supplier: supplierCode}); len(found) != len(bad) {
			t.Errorf("%d processes, want %d", len(found), len(bad))
		}
	}},
	// Errors end up in logs, which many people may read and which have other
	// retention rules than personal data. Databases often quote the offending
	// row.
	{"an error contains no data", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		given := newStaging(testKey, "x")
		given.Document = []byte(`{"canary": canary}`)
		_, err := store.Stage(t.Context(), given)
		if err == nil || strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), testKey.External) {
			t.Errorf("got %v", err)
		}
	}},
	// Databases sort by the language they were set up with. Pages that continue
	// after a name would skip or repeat rows when the language changes or the
	// data moves.
	{"names sort by bytes", func(t *testing.T, store landfall.Store) {
		names := []string{"b", "B", "a b", "ab", "A", "é", "z", "Z", "_", "1", "10", "9"}
		update(t, store, func(tx landfall.Tx) error {
			for _, name := range names {
				if err := errors.Join(tx.CreateTeam(t.Context(), name), tx.CreateOrganisation(t.Context(), name)); err != nil {
					return err
				}
			}
			return nil
		})
		// Go sorts by bytes, as every store must.
		slices.Sort(names)
		inView(t, store, func(view landfall.View) error {
			teams, err := view.Teams(t.Context())
			if err != nil {
				return err
			}
			organisations, err := view.Organisations(t.Context())
			for at, name := range names {
				if teams[at].Name != name || organisations[at].Name != name {
					t.Errorf("place %d: %q and %q, want %q", at, teams[at].Name, organisations[at].Name, name)
				}
			}
			return err
		})
	}},
	// Suppliers choose their own numbers, and two that merely look alike are two
	// customers. The list contains what a database may consider equal: upper and
	// lower case, trailing blanks, two encodings of one letter, wildcards, and
	// numbers that are numerically equal.
	{"keys differ by case, spaces and accents", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		numbers := []string{"abc", "ABC", "abc ", " abc", "äbc", "a\u0308bc", "%", "_", "a%", "0", "00", "1e0", "1"}
		fill(t, store, numbers...)
		for _, number := range numbers {
			if found := readProcess(t, store, landfall.Key{Supplier: supplierCode, External: number}); found.Revision != 1 {
				t.Errorf("%q: %+v", number, found)
			}
		}
		inView(t, store, func(view landfall.View) error {
			for _, near := range []landfall.Key{{Supplier: "acme", External: "abc"}, {Supplier: supplierCode, External: "Abc"}, {Supplier: supplierCode, External: "a_c"}} {
				_, err := view.Process(t.Context(), near)
				wantError(t, err, landfall.ErrNotFound)
			}
			return nil
		})
	}},
	{"an ignored database error still rolls the update back", func(t *testing.T, store landfall.Store) {
		// One database would commit the statements before the error, the other
		// would not.
		broken := landfall.NewSupplier("BROKEN")
		broken.Status = "Nonsense"
		err := store.Update(t.Context(), func(tx landfall.Tx) error {
			if err := tx.CreateTeam(t.Context(), "Before"); err != nil {
				return err
			}
			if tx.CreateSupplier(t.Context(), broken) == nil {
				t.Error("an invalid status was stored")
			}
			return nil
		})
		if err == nil || errors.Is(err, landfall.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
		inView(t, store, func(view landfall.View) error {
			_, err := view.Team(t.Context(), "Before")
			wantError(t, err, landfall.ErrNotFound)
			return nil
		})
	}},
	// Whatever a supplier sends as a number must be stored as that number, and
	// never be interpreted as part of a statement, a placeholder or a pattern.
	{"SQL in a text is stored as text", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		names := []string{`'; DROP TABLE process; --`, `" OR 1=1`, `$1`, `?`, `{now}`, `\`, `%s`, "\n", "🙂"}
		fill(t, store, names...)
		found := externals(t, store, landfall.ProcessQuery{Supplier: supplierCode})
		slices.Sort(found)
		slices.Sort(names)
		if !slices.Equal(found, names) {
			t.Errorf("got %q", found)
		}
	}},
}
