package storetest

import (
	"testing"

	"landfall"
)

// packChecks are about packs: what was accepted under a version must mean the same
// for ever.
var packChecks = []promiseCheck{
	{"a version of a pack never changes", func(t *testing.T, store landfall.Store) {
		first := landfall.Pack{Code: "own", Version: 2, Text: []byte("pack: own\nversion: 2\n")}
		update(t, store, func(tx landfall.Tx) error { return tx.AddPack(t.Context(), first) })
		wantError(t, store.Update(t.Context(), func(tx landfall.Tx) error {
			return tx.AddPack(t.Context(), landfall.Pack{Code: "own", Version: 2, Text: []byte("other")})
		}), landfall.ErrExists)
		update(t, store, func(tx landfall.Tx) error {
			return tx.AddPack(t.Context(), landfall.Pack{Code: "own", Version: 10, Text: []byte("x")})
		})
		inView(t, store, func(view landfall.View) error {
			found, err := view.Pack(t.Context(), "own", 2)
			recent(t, found.CreatedAt)
			if string(found.Text) != string(first.Text) || found.Code != "own" || found.Version != 2 {
				t.Errorf("the pack is %+v", found)
			}
			if err != nil {
				return err
			}
			all, err := view.Packs(t.Context())
			if len(all) != 2 || all[0].Version != 2 || all[1].Version != 10 {
				t.Errorf("the packs are %+v", all)
			}
			return err
		})
		wantError(t, store.View(t.Context(), func(view landfall.View) error {
			_, err := view.Pack(t.Context(), "own", 1)
			return err
		}), landfall.ErrNotFound)
	}},
}
