package storetest

import (
	"testing"
	"time"

	"landfall"
)

// revocationDelay is longer than a store may trust a key without checking it
// again.
const revocationDelay = 1100 * time.Millisecond

// revocations take effect on requests in progress: every kind of write checks its
// key in the transaction that writes.
var revocations = []promiseCheck{
	// A key is revoked because it is in the wrong hands, and requests that were
	// accepted before may run for a long time, so checking at the start of a
	// request is not enough. A store may cache a valid key for a second, which
	// is why the case waits before it tries.
	{"nothing is written for a key that is no longer valid", func(t *testing.T, store landfall.Store) {
		ctx := t.Context()
		importAccounts(t, store, "posted")
		created := landfall.Key{Supplier: supplierCode, External: "created"}
		stage(t, store, newStaging(created, "created"), landfall.StagedFirst, 1)
		held := claimFor(t, store, claimRequest(created), landfall.ClaimGranted)
		update(t, store, func(tx landfall.Tx) error { return tx.CreateOrganisation(ctx, organisation) })
		by := func(id string) landfall.Author { return landfall.Author{Organisation: organisation, KeyID: id} }
		for _, id := range []string{"good", "revoked", "ended"} {
			update(t, store, func(tx landfall.Tx) error {
				return tx.CreateKey(ctx, landfall.APIKey{ID: id, Organisation: organisation, Role: landfall.RoleImporter})
			})
			stage(t, store, landfall.Staging{
				Key: landfall.Key{Supplier: supplierCode, External: id}, Document: []byte("{}"), By: by(id),
			}, landfall.StagedFirst, 1)
		}
		// writes tries everything a key can write and returns the errors.
		writes := func(id, content string) (results [3]error) {
			document := newStaging(landfall.Key{Supplier: supplierCode, External: id}, content)
			document.By = by(id)
			_, results[0] = store.Stage(ctx, document)
			_, results[1] = store.Post(ctx, landfall.Posting{
				Key: landfall.Key{Supplier: supplierCode, External: "posted"}, By: by(id),
				Decide: func(landfall.AccountState) (landfall.Additions, error) { return landfall.Additions{}, nil },
			})
			creation := landfall.Creation{Claim: held, Account: sampleAccount(), By: by(id)}
			if id != "good" {
				_, results[2] = store.Create(ctx, creation)
			}
			return results
		}
		update(t, store, func(tx landfall.Tx) error { return tx.RevokeKey(ctx, "revoked") })
		update(t, store, func(tx landfall.Tx) error { return tx.ExpireKey(ctx, "ended", time.Now().Add(-time.Minute)) })
		time.Sleep(revocationDelay)
		for _, id := range []string{"revoked", "ended"} {
			for _, err := range writes(id, "late") {
				wantError(t, err, landfall.ErrRevoked)
			}
		}
		// Valid writes in the same batch succeed.
		var late, good [8]error
		atOnce(16, func(number int) {
			if number%2 == 0 {
				late[number/2] = writes("revoked", "later")[0]
			} else {
				good[number/2] = writes("good", string(rune('a'+number)))[0]
			}
		})
		for i := range late {
			wantError(t, late[i], landfall.ErrRevoked)
			wantError(t, good[i], nil)
		}
		wantEqual(t, readProcess(t, store, landfall.Key{Supplier: supplierCode, External: "revoked"}).Revision, 1)
		// Disabling an organisation stops all its keys at once and can be
		// undone. After enabling it works at once, since only positive results
		// may be cached.
		update(t, store, func(tx landfall.Tx) error { return tx.SetOrganisationDisabled(ctx, organisation, true) })
		time.Sleep(revocationDelay)
		wantError(t, writes("good", "disabled")[0], landfall.ErrRevoked)
		update(t, store, func(tx landfall.Tx) error { return tx.SetOrganisationDisabled(ctx, organisation, false) })
		wantError(t, writes("good", "enabled")[0], nil)
		// The claim was not changed: an authorised caller can continue with it.
		wantEqual(t, create(t, store, held, sampleAccount()).Verdict, landfall.Created)
	}},
	// Everything an attempt does between its claim and its end is tried with
	// the revoked key, and nothing of it may be recorded. The claims are
	// released all the same: otherwise the cleanup after a theft would first
	// have to wait for the thief's leases.
	{"an attempt whose key is revoked stores nothing and frees its account", func(t *testing.T, store landfall.Store) {
		ctx := t.Context()
		staged(t, store, "claimed", "dry", "counted", "fresh")
		own := func(number string) landfall.Key { return landfall.Key{Supplier: supplierCode, External: number} }
		by := author(t, store)
		asking := func(number string, dry bool) landfall.ClaimRequest {
			request := claimRequest(own(number))
			request.DryRun, request.By = dry, by
			return request
		}
		held := claimFor(t, store, asking("claimed", false), landfall.ClaimGranted)
		looked := claimFor(t, store, asking("dry", true), landfall.ClaimGranted)
		limited := asking("counted", true)
		limited.ServiceLimit = 2 // the claim is counted too
		counted := claimFor(t, store, limited, landfall.ClaimGranted)
		update(t, store, func(tx landfall.Tx) error { return tx.CheckAuthor(ctx, by) })

		update(t, store, func(tx landfall.Tx) error { return tx.RevokeKey(ctx, by.KeyID) })
		time.Sleep(revocationDelay)
		before := map[string]landfall.Process{}
		for _, number := range []string{"dry", "counted", "fresh"} {
			before[number] = readProcess(t, store, own(number))
		}
		for _, dry := range []bool{false, true} {
			_, err := store.Claim(ctx, asking("fresh", dry))
			wantError(t, err, landfall.ErrRevoked)
			request := asking("fresh", dry)
			request.ServiceLimit = 100
			_, err = store.Claim(ctx, request)
			wantError(t, err, landfall.ErrRevoked)
		}
		_, err := store.Create(ctx, landfall.Creation{Claim: looked, Account: sampleAccount(), By: by})
		wantError(t, err, landfall.ErrRevoked)
		for _, mine := range []landfall.Claim{looked, counted, held} {
			wantError(t, store.Release(ctx, mine, landfall.Attempt{
				Failure: &landfall.Failure{Code: "account_failed_validation", DryRun: mine.DryRun},
				Event:   landfall.Event{Type: landfall.EventImportFailed}, By: by,
			}), landfall.ErrRevoked)
		}
		wantError(t, store.Refuse(ctx, landfall.Refusal{
			Key: own("refused"), Failure: landfall.Failure{Code: "account_failed_validation"}, By: by,
		}), landfall.ErrRevoked)
		wantError(t, store.Update(ctx, func(tx landfall.Tx) error { return tx.CheckAuthor(ctx, by) }), landfall.ErrRevoked)

		wantEqual(t, failedNumbers(t, store, landfall.FailureQuery{}), []string(nil))
		for number, left := range before {
			wantEqual(t, readProcess(t, store, own(number)), left)
			wantEqual(t, len(readEvents(t, store, own(number))), 0)
		}
		// The next caller does not wait for a lease or a slot of the limit.
		next := claimRequest(own("claimed"))
		next.ServiceLimit = 1
		wantEqual(t, create(t, store, claimFor(t, store, next, landfall.ClaimGranted), sampleAccount()).Verdict, landfall.Created)
	}},
}
