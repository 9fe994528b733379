package storetest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"landfall"
)

// Who sends mails shares them with all other servers, and suppliers share what
// these can send.
var sharedMails = []promiseCheck{
	// Every replica may send. Two that took the same mail would both send it.
	{"of many senders each mail goes to one", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		writing(t, store, supplierCode)
		var addresses []string
		for i := range 40 {
			addresses = append(addresses, fmt.Sprintf("c%d@mail.co.uk", i))
		}
		createWithMails(t, store, testKey, addresses...)
		var mu sync.Mutex
		var taken []string
		atOnce(callerCount, func(int) {
			supply, err := store.ClaimMails(t.Context(), landfall.MailRequest{Max: 3, PerMinute: abundance, Lease: time.Minute})
			// Whoever is turned away because of the crowd has taken nothing, which is
			// no fault.
			if err != nil && !errors.Is(err, landfall.ErrUnavailable) {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, mail := range supply.Mails {
				taken = append(taken, mail.To)
			}
		})
		slices.Sort(taken)
		if len(taken) == 0 || len(slices.Compact(slices.Clone(taken))) != len(taken) {
			t.Errorf("taken %v", taken)
		}
	}},
	// A mail server blocks whoever sends too fast, and then nobody gets anything. The
	// pace is that of the service and not of a replica, and the wait is told so that
	// nobody has to keep asking.
	{"all senders together keep the pace", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		writing(t, store, supplierCode)
		createWithMails(t, store, testKey, "a@mail.co.uk", "b@mail.co.uk", "c@mail.co.uk")
		// One a minute, so that even a slow machine asks again before the next is
		// allowed.
		slow := landfall.MailRequest{Max: 10, PerMinute: 1, Lease: time.Minute}
		if taken := take(t, store, slow); len(taken) != 1 {
			t.Fatalf("took %d", len(taken))
		}
		supply, err := store.ClaimMails(t.Context(), slow)
		if err != nil || len(supply.Mails) != 0 || supply.Wait < 30*time.Second || supply.Wait > time.Minute {
			t.Errorf("got %+v, %v", supply, err)
		}
	}},
	// A supplier that moves a million customers in a night would otherwise keep the
	// mails of all others waiting for days. What a sender holds already counts as
	// well, or it could take more of one supplier with each demand.
	{"suppliers share what is sent, and each has its turn", func(t *testing.T, store landfall.Store) {
		staged(t, store, "1", "2")
		update(t, store, func(tx landfall.Tx) error { return tx.CreateSupplier(t.Context(), landfall.NewSupplier("ZETA")) })
		writing(t, store, supplierCode, "ZETA")
		createWithMails(t, store, landfall.Key{Supplier: supplierCode, External: "1"}, "a@mail.co.uk", "b@mail.co.uk", "c@mail.co.uk")
		createWithMails(t, store, landfall.Key{Supplier: supplierCode, External: "2"}, "d@mail.co.uk", "e@mail.co.uk", "f@mail.co.uk")
		other := landfall.Key{Supplier: "ZETA", External: "1"}
		stage(t, store, newStaging(other, "1"), landfall.StagedFirst, 1)
		createWithMails(t, store, other, "z@mail.co.uk", "y@mail.co.uk")
		two := take(t, store, landfall.MailRequest{Max: 2, PerMinute: abundance, Lease: time.Minute})
		if len(two) != 2 || two[0].Key.Supplier != supplierCode || two[1].Key.Supplier != "ZETA" {
			t.Errorf("took %+v", two)
		}
		one := take(t, store, landfall.MailRequest{Max: 1, PerMinute: abundance, Lease: time.Minute, After: supplierCode})
		if len(one) != 1 || one[0].Key.Supplier != "ZETA" {
			t.Errorf("took %+v", one)
		}
		few := landfall.MailRequest{Max: 5, PerMinute: abundance, Lease: time.Minute, PerSupplier: 3, InFlight: map[string]int{supplierCode: 1}}
		if taken := take(t, store, few); len(taken) != 2 {
			t.Errorf("took %d beside one when three are the most", len(taken))
		}
		few.InFlight[supplierCode] = 3
		if taken := take(t, store, few); len(taken) != 0 {
			t.Errorf("took %d beside three when three are the most", len(taken))
		}
	}},
}
