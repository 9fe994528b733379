package storetest

import (
	"fmt"
	"slices"
	"testing"

	"landfall"
)

// fill stages numbers one after the other.
func fill(t *testing.T, store landfall.Store, numbers ...string) {
	t.Helper()
	for _, number := range numbers {
		stage(t, store, newStaging(landfall.Key{Supplier: supplierCode, External: number}, number), landfall.StagedFirst, 1)
	}
}

// lists are read while other work goes on. A reader sees each account that
// existed when it began exactly once.
var lists = []promiseCheck{
	// Authorization happens before. The list itself does not check it.
	{"an unknown supplier has an empty list", func(t *testing.T, store landfall.Store) {
		if found := externals(t, store, landfall.ProcessQuery{Supplier: "none"}); len(found) != 0 {
			t.Errorf("got %v", found)
		}
	}},
	// A skipped account needs no more work, so it is listed only on request, and
	// neither among the pending accounts nor among all.
	{"a list shows pending processes and hides skipped ones", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		fill(t, store, "A-1", "A-2")
		update(t, store, func(tx landfall.Tx) error {
			_, err := tx.Skip(t.Context(), testKey, "twin")
			return err
		})
		for filter, wanted := range map[landfall.ProcessFilter][]string{
			landfall.AllProcesses:      {"A-2"},
			landfall.PendingProcesses:  {"A-2"},
			landfall.ImportedProcesses: nil,
			landfall.SkippedProcesses:  {"A-1"},
		} {
			if found := externals(t, store, landfall.ProcessQuery{Supplier: supplierCode, Filter: filter}); !slices.Equal(found, wanted) {
				t.Errorf("filter %d: got %v, want %v", filter, found, wanted)
			}
		}
	}},
	// Pages continue after a position, so the order must be total and the same
	// everywhere: if two accounts had the same position, one of them would be
	// skipped or repeated.
	{"a list is in the order of first staging, then of bytes", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		// These may have the same time when staged at once. In any case the order must
		// match the times and numbers of the entries.
		numbers := []string{"b", "B", "a", "A", "_", "-", "é", "z", "10", "9", "Z", "~"}
		atOnce(len(numbers), func(at int) {
			if _, err := store.Stage(t.Context(), newStaging(landfall.Key{Supplier: supplierCode, External: numbers[at]}, "x")); err != nil {
				t.Error(err)
			}
		})
		var before *landfall.ProcessEntry
		count := 0
		for entry, err := range store.List(t.Context(), landfall.ProcessQuery{Supplier: supplierCode}) {
			if err != nil {
				t.Fatal(err)
			}
			count++
			if before != nil && (entry.FirstStagedAt.Before(before.FirstStagedAt) ||
				entry.FirstStagedAt.Equal(before.FirstStagedAt) && entry.External <= before.External) {
				t.Errorf("%+v stands behind %+v", entry, *before)
			}
			before = &entry
		}
		if count != len(numbers) {
			t.Errorf("%d entries", count)
		}
	}},
	// A reader in the middle of a list would miss an account that moved, or read it
	// twice.
	{"staging again does not move an entry", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		fill(t, store, "A-1")
		first := readProcess(t, store, testKey).FirstStagedAt
		for readProcess(t, store, testKey).StagedAt.Equal(first) { // until the clock has moved on
			stageAny(t, store, newStaging(testKey, fmt.Sprint(len(readRevisions(t, store, testKey)))))
		}
		fill(t, store, "A-0")
		if found := externals(t, store, landfall.ProcessQuery{Supplier: supplierCode}); !slices.Equal(found, []string{"A-1", "A-0"}) {
			t.Errorf("got %v", found)
		}
	}},
	// Use page sizes that divide the list, that do not, and that are larger than it:
	// mistakes happen where pages meet and at the end.
	{"the pages together are the list", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		var numbers []string
		for at := range 23 {
			numbers = append(numbers, fmt.Sprintf("N-%02d", at))
		}
		fill(t, store, numbers...)
		whole := externals(t, store, landfall.ProcessQuery{Supplier: supplierCode})
		for _, size := range []int{1, 5, 23, 100} {
			var pages []string
			query := landfall.ProcessQuery{Supplier: supplierCode, Limit: size}
			for {
				var last *landfall.ProcessEntry
				for entry, err := range store.List(t.Context(), query) {
					if err != nil {
						t.Fatal(err)
					}
					pages, last = append(pages, entry.External), &entry
				}
				if last == nil {
					break
				}
				query.After = &landfall.ProcessCursor{FirstStagedAt: last.FirstStagedAt, External: last.External}
			}
			if !slices.Equal(pages, whole) {
				t.Errorf("pages of %d: %v", size, pages)
			}
		}
	}},
	// Readers break off all the time. If each kept its connection, there would soon
	// be none left.
	{"the store stays usable after a list is left early", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		fill(t, store, "A-1", "A-2", "A-3")
		// Losing one connection makes nothing fail, so repeat this until none would be
		// left.
		for range 50 { // more than there are connections
			for _, err := range store.List(t.Context(), landfall.ProcessQuery{Supplier: supplierCode}) {
				if err != nil {
					t.Fatal(err)
				}
				break
			}
		}
		fill(t, store, "A-4")
	}},
	// Otherwise a reader that stages while it reads would never reach the end.
	{"a list has what was staged when it began", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		fill(t, store, "A-1", "A-2")
		count := 0
		for _, err := range store.List(t.Context(), landfall.ProcessQuery{Supplier: supplierCode}) {
			if err != nil {
				t.Fatal(err)
			}
			fill(t, store, fmt.Sprint("later", count))
			count++
		}
		if count != 2 {
			t.Errorf("%d entries", count)
		}
	}},
}

// stageAny stages, whether for the first time or again.
func stageAny(t *testing.T, store landfall.Store, staging landfall.Staging) {
	t.Helper()
	if _, err := store.Stage(t.Context(), staging); err != nil {
		t.Fatal(err)
	}
}
