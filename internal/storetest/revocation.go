package storetest

import (
	"testing"
	"time"

	"landfall"
)

// felt is longer than a store may believe in a key without asking.
const felt = 1100 * time.Millisecond

var revocations = []check{
	{"nothing is written for a key that is good no more", func(t *testing.T, store landfall.Store) {
		ctx := t.Context()
		imported(t, store, "posted")
		created := landfall.Key{Supplier: code, External: "created"}
		stage(t, store, document(created, "created"), landfall.StagedFirst, 1)
		held := claim(t, store, wish(created), landfall.ClaimGranted)
		update(t, store, func(tx landfall.Tx) error { return tx.CreateOrganisation(ctx, organisation) })
		by := func(id string) landfall.Author { return landfall.Author{Organisation: organisation, KeyID: id} }
		for _, id := range []string{"good", "revoked", "ended"} {
			update(t, store, func(tx landfall.Tx) error {
				return tx.CreateKey(ctx, landfall.APIKey{ID: id, Organisation: organisation, Role: landfall.Importer})
			})
			stage(t, store, landfall.Staging{
				Key: landfall.Key{Supplier: code, External: id}, Document: []byte("{}"), By: by(id),
			}, landfall.StagedFirst, 1)
		}
		// writes tries everything a key can write, and gives what became of it.
		writes := func(id, content string) (results [3]error) {
			document := document(landfall.Key{Supplier: code, External: id}, content)
			document.By = by(id)
			_, results[0] = store.Stage(ctx, document)
			_, results[1] = store.Post(ctx, landfall.Posting{
				Key: landfall.Key{Supplier: code, External: "posted"}, By: by(id),
				Decide: func(landfall.AccountBooks) (landfall.Additions, error) { return landfall.Additions{}, nil },
			})
			creation := landfall.Creation{Claim: held, Account: house(), By: by(id)}
			if id != "good" {
				_, results[2] = store.Create(ctx, creation)
			}
			return results
		}
		update(t, store, func(tx landfall.Tx) error { return tx.RevokeKey(ctx, "revoked") })
		update(t, store, func(tx landfall.Tx) error { return tx.ExpireKey(ctx, "ended", time.Now().Add(-time.Minute)) })
		time.Sleep(felt)
		for _, id := range []string{"revoked", "ended"} {
			for _, err := range writes(id, "late") {
				want(t, err, landfall.ErrRevoked)
			}
		}
		// In one batch with them, others get through.
		var late, good [8]error
		together(16, func(number int) {
			if number%2 == 0 {
				late[number/2] = writes("revoked", "later")[0]
			} else {
				good[number/2] = writes("good", string(rune('a'+number)))[0]
			}
		})
		for i := range late {
			want(t, late[i], landfall.ErrRevoked)
			want(t, good[i], nil)
		}
		same(t, process(t, store, landfall.Key{Supplier: code, External: "revoked"}).Revision, 1)
		update(t, store, func(tx landfall.Tx) error { return tx.SetOrganisationDisabled(ctx, organisation, true) })
		time.Sleep(felt)
		want(t, writes("good", "disabled")[0], landfall.ErrRevoked)
		update(t, store, func(tx landfall.Tx) error { return tx.SetOrganisationDisabled(ctx, organisation, false) })
		want(t, writes("good", "enabled")[0], nil)
		// The claim was not touched: whoever may write goes on with it.
		same(t, create(t, store, held, house()).Verdict, landfall.Created)
	}},
}
