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

// sharedMails are about servers that share the mails to send, and about suppliers
// that share the sending rate.
var sharedMails = []promiseCheck{
	// Every replica may send. Two that claimed the same mail would both send it.
	{"each mail goes to one of many senders", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		enableMails(t, store, supplierCode)
		var addresses []string
		for i := range 40 {
			addresses = append(addresses, fmt.Sprintf("c%d@mail.co.uk", i))
		}
		createWithMails(t, store, testKey, addresses...)
		var mu sync.Mutex
		var taken []string
		atOnce(callerCount, func(int) {
			supply, err := store.ClaimMails(t.Context(), landfall.MailRequest{Max: 3, PerMinute: unlimitedRate, Lease: time.Minute})
			// A sender that is refused for overload has claimed nothing. That
			// is not an error here.
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
	// A mail server blocks a sender that is too fast, and then no mail is
	// delivered. The rate limit applies to the whole service, not to each
	// replica. The wait is returned so that senders need not keep asking.
	{"all senders together keep the rate limit", func(t *testing.T, store landfall.Store) {
		staged(t, store, testKey.External)
		enableMails(t, store, supplierCode)
		createWithMails(t, store, testKey, "a@mail.co.uk", "b@mail.co.uk", "c@mail.co.uk")
		// The rate is one a minute, so that even a slow machine asks again
		// before the next mail is allowed.
		slow := landfall.MailRequest{Max: 10, PerMinute: 1, Lease: time.Minute}
		if taken := claimMails(t, store, slow); len(taken) != 1 {
			t.Fatalf("took %d", len(taken))
		}
		supply, err := store.ClaimMails(t.Context(), slow)
		if err != nil || len(supply.Mails) != 0 || supply.Wait < 30*time.Second || supply.Wait > time.Minute {
			t.Errorf("got %+v, %v", supply, err)
		}
	}},
	// Otherwise a supplier that moves a million customers in a night would
	// delay the mails of all others for days. Mails that a sender has already
	// claimed count as well, or it could claim more of one supplier with each
	// request.
	{"suppliers share the rate limit and take turns", func(t *testing.T, store landfall.Store) {
		staged(t, store, "1", "2")
		update(t, store, func(tx landfall.Tx) error { return tx.CreateSupplier(t.Context(), landfall.NewSupplier("ZETA")) })
		enableMails(t, store, supplierCode, "ZETA")
		createWithMails(t, store, landfall.Key{Supplier: supplierCode, External: "1"}, "a@mail.co.uk", "b@mail.co.uk", "c@mail.co.uk")
		createWithMails(t, store, landfall.Key{Supplier: supplierCode, External: "2"}, "d@mail.co.uk", "e@mail.co.uk", "f@mail.co.uk")
		other := landfall.Key{Supplier: "ZETA", External: "1"}
		stage(t, store, newStaging(other, "1"), landfall.StagedFirst, 1)
		createWithMails(t, store, other, "z@mail.co.uk", "y@mail.co.uk")
		two := claimMails(t, store, landfall.MailRequest{Max: 2, PerMinute: unlimitedRate, Lease: time.Minute})
		if len(two) != 2 || two[0].Key.Supplier != supplierCode || two[1].Key.Supplier != "ZETA" {
			t.Errorf("took %+v", two)
		}
		one := claimMails(t, store, landfall.MailRequest{Max: 1, PerMinute: unlimitedRate, Lease: time.Minute, After: supplierCode})
		if len(one) != 1 || one[0].Key.Supplier != "ZETA" {
			t.Errorf("took %+v", one)
		}
		few := landfall.MailRequest{Max: 5, PerMinute: unlimitedRate, Lease: time.Minute, PerSupplier: 3, InFlight: map[string]int{supplierCode: 1}}
		if taken := claimMails(t, store, few); len(taken) != 2 {
			t.Errorf("took %d while one of at most three is in use", len(taken))
		}
		few.InFlight[supplierCode] = 3
		if taken := claimMails(t, store, few); len(taken) != 0 {
			t.Errorf("took %d while three of at most three are in use", len(taken))
		}
	}},
}
