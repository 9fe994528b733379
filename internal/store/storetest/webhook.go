package storetest

import (
	"testing"
	"time"

	"landfall"
)

// webhookName is the only webhook of most cases.
const webhookName = "books"

// createWebhook creates an organisation with a supplier and a webhook that
// starts at the beginning of the log.
func createWebhook(t *testing.T, store landfall.Store) {
	t.Helper()
	createSupplier(t, store)
	update(t, store, func(tx landfall.Tx) error {
		if err := tx.CreateOrganisation(t.Context(), organisation); err != nil {
			return err
		}
		if err := tx.Grant(t.Context(), supplierCode, organisation); err != nil {
			return err
		}
		return tx.CreateWebhook(t.Context(), landfall.Webhook{
			Name: webhookName, Organisation: organisation, URL: "https://receiver.example/", State: landfall.WebhookActive,
			Types: []landfall.EventType{landfall.EventSkipped}, Secrets: []landfall.WebhookSecret{{Salt: "s", Key: "k"}},
		})
	})
}

// appendEvents appends an event for each account.
func appendEvents(t *testing.T, store landfall.Store, accounts ...string) {
	t.Helper()
	update(t, store, func(tx landfall.Tx) error {
		for _, external := range accounts {
			event := landfall.Event{Type: landfall.EventSkipped, Key: landfall.Key{Supplier: supplierCode, External: external}}
			if err := tx.AppendEvent(t.Context(), event); err != nil {
				return err
			}
		}
		return nil
	})
}

// lastEvent returns the id of the newest event in the log.
func lastEvent(t *testing.T, store landfall.Store) int64 {
	t.Helper()
	mark, err := store.Watermark(t.Context(), landfall.Watermark{})
	if err != nil {
		t.Fatal(err)
	}
	return mark.Newest
}

// claimWebhooks claims webhooks, as a sender does first. Every case has one
// active webhook.
func claimWebhooks(t *testing.T, store landfall.Store) []landfall.WebhookClaim {
	t.Helper()
	claims, active, err := store.ClaimWebhooks(t.Context(), landfall.WebhookClaimRequest{UpTo: lastEvent(t, store), Most: 10, Lease: time.Minute})
	if err != nil || active != 1 {
		t.Fatalf("%d active, %v", active, err)
	}
	return claims
}

// claimWebhook claims the only webhook.
func claimWebhook(t *testing.T, store landfall.Store) landfall.WebhookClaim {
	t.Helper()
	claims := claimWebhooks(t, store)
	if len(claims) != 1 || claims[0].Name != webhookName || claims[0].Token == "" {
		t.Fatalf("claimed %+v", claims)
	}
	return claims[0]
}

// readRound returns the next deliveries of a claim.
func readRound(t *testing.T, store landfall.Store, claim landfall.WebhookClaim, most int) landfall.WebhookRound {
	t.Helper()
	round, err := store.WebhookRound(t.Context(), claim, lastEvent(t, store), most)
	if err != nil {
		t.Fatal(err)
	}
	return round
}

// saveRound saves the result of a sender's round.
func saveRound(t *testing.T, store landfall.Store, claim landfall.WebhookClaim, result landfall.RoundResult) {
	t.Helper()
	if err := store.SaveRound(t.Context(), claim, result); err != nil {
		t.Fatal(err)
	}
}

// deliveredAccounts lists the accounts of a round's new events, as text.
func deliveredAccounts(round landfall.WebhookRound) (text string) {
	for _, event := range round.Events {
		text += event.Key.External
	}
	return text
}

// webhooks deliver every event at least once and in order, whichever replica
// sends and whenever one dies. Events that cannot be delivered are kept and
// shown.
var webhooks = []promiseCheck{
	// An operator must see what a failing receiver has missed.
	{"events that were not delivered are counted up to a limit", func(t *testing.T, store landfall.Store) {
		createWebhook(t, store)
		appendEvents(t, store, "1", "2", "3")
		inView(t, store, func(view landfall.View) error {
			webhook, err := view.Webhook(t.Context(), webhookName)
			for limit, want := range map[int]int{10: 3, 2: 2} {
				count, failed := view.Undelivered(t.Context(), webhook, limit)
				if count != want || failed != nil {
					t.Errorf("%d of at most %d, %v", count, limit, failed)
				}
			}
			webhook.Types = []landfall.EventType{landfall.EventUndone}
			if count, failed := view.Undelivered(t.Context(), webhook, 10); count != 0 || failed != nil {
				t.Errorf("%d of another type, %v", count, failed)
			}
			return err
		})
	}},
	// The old secret is kept with the new one until a given time: receivers
	// switch at a moment of their choice, and signatures must be valid for them
	// before and after.
	{"webhooks are stored as set", func(t *testing.T, store landfall.Store) {
		createWebhook(t, store)
		until := time.UnixMicro(1_900_000_000_000_000).UTC()
		update(t, store, func(tx landfall.Tx) error {
			webhook, err := tx.Webhook(t.Context(), webhookName)
			if err != nil {
				return err
			}
			wantError(t, tx.CreateWebhook(t.Context(), webhook), landfall.ErrExists)
			webhook.URL, webhook.Suppliers, webhook.Types, webhook.Position = "https://other.example/", []string{supplierCode}, nil, 7
			webhook.IncludeData = true
			webhook.Secrets = append([]landfall.WebhookSecret{{Salt: "n", Key: "k2"}}, landfall.WebhookSecret{Salt: "s", Key: "k", Until: until})
			return tx.SaveWebhook(t.Context(), webhook)
		})
		inView(t, store, func(view landfall.View) error {
			webhook, err := view.Webhook(t.Context(), webhookName)
			if err != nil {
				return err
			}
			recent(t, webhook.CreatedAt)
			if webhook.URL != "https://other.example/" || len(webhook.Suppliers) != 1 || len(webhook.Types) != 0 || webhook.Position != 7 || !webhook.IncludeData ||
				len(webhook.Secrets) != 2 || webhook.Secrets[0].Salt != "n" || !webhook.Secrets[0].Until.IsZero() || !webhook.Secrets[1].Until.Equal(until) {
				t.Errorf("got %+v", webhook)
			}
			all, err := view.Webhooks(t.Context(), "")
			some, err2 := view.Webhooks(t.Context(), "nobody")
			if len(all) != 1 || len(some) != 0 || err2 != nil {
				t.Errorf("%d of all, %d of an unknown organisation", len(all), len(some))
			}
			_, err3 := view.Webhook(t.Context(), "none")
			wantError(t, err3, landfall.ErrNotFound)
			return err
		})
		update(t, store, func(tx landfall.Tx) error {
			wantError(t, tx.SaveWebhook(t.Context(), landfall.Webhook{Name: "none", State: landfall.WebhookOff}), landfall.ErrNotFound)
			wantError(t, tx.RemoveWebhook(t.Context(), "none"), landfall.ErrNotFound)
			return tx.RemoveWebhook(t.Context(), webhookName)
		})
	}},
	// Two senders would deliver in parallel, and the receiver would see an
	// account's events out of order. With nothing to deliver there is no claim,
	// so idle webhooks cost no work.
	{"a webhook is claimed by one sender until its lease ends", func(t *testing.T, store landfall.Store) {
		createWebhook(t, store)
		if claims := claimWebhooks(t, store); len(claims) != 0 {
			t.Error("there was nothing to deliver")
		}
		appendEvents(t, store, "a")
		ask := func(lease time.Duration) int {
			claims, _, err := store.ClaimWebhooks(t.Context(), landfall.WebhookClaimRequest{UpTo: 1 << 40, Most: 10, Lease: lease})
			if err != nil {
				t.Error(err)
			}
			return len(claims)
		}
		if first := ask(50 * time.Millisecond); first != 1 {
			t.Errorf("%d claims of one webhook", first)
		}
		// This is a little longer than the lease, which must have expired by the
		// database's clock.
		time.Sleep(60 * time.Millisecond)
		granted := make([]int, 8)
		atOnce(8, func(number int) { granted[number] = ask(time.Minute) })
		sum := 0
		for _, count := range granted {
			sum += count
		}
		if sum != 1 {
			t.Errorf("%d have the claim", sum)
		}
	}},
	// An operator moves a webhook back to have events sent again. A sender in
	// the middle of a round must not overwrite that position with its own.
	// Saving the webhook unchanged is enough to end the claim: the store does
	// not compare what changed.
	{"a sender that lost its claim writes nothing", func(t *testing.T, store landfall.Store) {
		createWebhook(t, store)
		appendEvents(t, store, "a")
		claim := claimWebhook(t, store)
		update(t, store, func(tx landfall.Tx) error {
			webhook, err := tx.Webhook(t.Context(), webhookName)
			if err != nil {
				return err
			}
			return tx.SaveWebhook(t.Context(), webhook)
		})
		wantError(t, store.SaveRound(t.Context(), claim, landfall.RoundResult{Position: 1, Delivered: 1}), landfall.ErrFenced)
		_, err := store.WebhookRound(t.Context(), claim, 1, 1)
		wantError(t, err, landfall.ErrFenced)
		inView(t, store, func(view landfall.View) error {
			webhook, err := view.Webhook(t.Context(), webhookName)
			if webhook.Position != 0 || webhook.Delivered != 0 {
				t.Errorf("something was written: %+v", webhook)
			}
			return err
		})
	}},
	// An organisation that loses a grant must not receive events of that
	// supplier's accounts, not even earlier ones. The position moves past those
	// events all the same, or the webhook would be stuck at them forever.
	{"rounds follow the log and the grants", func(t *testing.T, store landfall.Store) {
		createWebhook(t, store)
		appendEvents(t, store, "a", "b", "c")
		claim := claimWebhook(t, store)
		round := readRound(t, store, claim, 2)
		if deliveredAccounts(round) != "ab" || round.Through != round.Events[1].ID || !round.More {
			t.Errorf("got %+v", round)
		}
		saveRound(t, store, claim, landfall.RoundResult{Position: round.Through, Delivered: 2, KeepClaim: true, Lease: time.Minute, Status: 200})
		if round = readRound(t, store, claim, 2); deliveredAccounts(round) != "c" || round.Through != lastEvent(t, store) || round.More {
			t.Errorf("then got %+v", round)
		}
		update(t, store, func(tx landfall.Tx) error { return tx.Ungrant(t.Context(), supplierCode, organisation) })
		if round = readRound(t, store, claim, 2); deliveredAccounts(round) != "" || round.Through != lastEvent(t, store) {
			t.Errorf("an event without a grant is still delivered: %+v", round)
		}
		saveRound(t, store, claim, landfall.RoundResult{Position: round.Through})
		inView(t, store, func(view landfall.View) error {
			webhook, err := view.Webhook(t.Context(), webhookName)
			if webhook.Delivered != 2 || webhook.DeliveredAt.IsZero() || webhook.Position != round.Through {
				t.Errorf("got %+v", webhook)
			}
			entries, _ := view.Rounds(t.Context(), webhookName, 10)
			if len(entries) != 1 || entries[0].Delivered != 2 || entries[0].Status != 200 {
				t.Errorf("the log has %+v", entries)
			}
			return err
		})
	}},
	// Receivers build an account's state from its events, so nothing may
	// overtake an event that failed. Other accounts continue: one event that a
	// receiver cannot process must not stop all of them. A delivery that was
	// given up is kept, and a replay restarts its attempts.
	{"a failed delivery waits, and later ones of its account wait for it", func(t *testing.T, store landfall.Store) {
		createWebhook(t, store)
		appendEvents(t, store, "a", "b", "a")
		claim := claimWebhook(t, store)
		round := readRound(t, store, claim, 10)
		failed := landfall.Delivery{Event: round.Events[0], State: landfall.DeliveryWaiting, Attempts: 1, Pause: 0, Status: 500, Reason: "it answered 500"}
		next := landfall.Delivery{Event: round.Events[2], State: landfall.DeliveryWaiting, Blocked: true}
		saveRound(t, store, claim, landfall.RoundResult{
			Position: round.Through, Delivered: 1, KeepClaim: true, Lease: time.Minute, Failed: []landfall.Delivery{failed, next},
		})
		appendEvents(t, store, "a", "c")
		round = readRound(t, store, claim, 10)
		if len(round.Waiting) != 1 || round.Waiting[0].Event.ID != failed.Event.ID || round.Waiting[0].Status != 500 || deliveredAccounts(round) != "ac" ||
			len(round.Blocked) != 1 || !round.Blocked[failed.Event.Key] {
			t.Fatalf("got %+v", round)
		}
		// It is given up, so the one after it is next; nothing overtakes it.
		dead := round.Waiting[0]
		dead.State, dead.Attempts = landfall.DeliveryDead, 2
		behind := landfall.Delivery{Event: round.Events[0], State: landfall.DeliveryWaiting, Blocked: true}
		saveRound(t, store, claim, landfall.RoundResult{
			Position: round.Through, Delivered: 1, KeepClaim: true, Lease: time.Minute, Failed: []landfall.Delivery{dead, behind},
		})
		round = readRound(t, store, claim, 10)
		if len(round.Waiting) != 1 || round.Waiting[0].Event.ID != next.Event.ID {
			t.Fatalf("then got %+v", round)
		}
		saveRound(t, store, claim, landfall.RoundResult{Position: round.Through, Delivered: 1, KeepClaim: true, Lease: time.Minute, Settled: []int64{next.Event.ID}})
		if round = readRound(t, store, claim, 10); len(round.Waiting) != 1 || round.Waiting[0].Event.ID != behind.Event.ID {
			t.Fatalf("in the end got %+v", round)
		}
		inView(t, store, func(view landfall.View) error {
			died, count, err := view.Deliveries(t.Context(), webhookName, landfall.DeliveryDead, 10)
			if count != 1 || len(died) != 1 || died[0].Event.ID != failed.Event.ID || died[0].Attempts != 2 || !died[0].DueAt.IsZero() {
				t.Errorf("dead are %+v", died)
			}
			figures, err2 := view.WebhookFigures(t.Context(), lastEvent(t, store))
			if figures.Active != 1 || figures.Dead != 1 || figures.Waiting != 1 || err2 != nil {
				t.Errorf("figures are %+v, %v", figures, err2)
			}
			return err
		})
		update(t, store, func(tx landfall.Tx) error {
			if count, err := tx.Replay(t.Context(), webhookName, []int64{1 << 40}); count != 0 || err != nil {
				t.Errorf("replayed %d, %v", count, err)
			}
			count, err := tx.Replay(t.Context(), webhookName, nil)
			if count != 1 {
				t.Errorf("replayed %d", count)
			}
			return err
		})
		if round = readRound(t, store, claim, 10); len(round.Waiting) != 1 || round.Waiting[0].Event.ID != failed.Event.ID || round.Waiting[0].Attempts != 0 {
			t.Fatalf("after the replay got %+v", round)
		}
		update(t, store, func(tx landfall.Tx) error { return tx.Ungrant(t.Context(), supplierCode, organisation) })
		if round = readRound(t, store, claim, 10); len(round.Waiting) != 0 || len(round.Withdrawn) != 1 {
			t.Errorf("a delivery without a grant still waits: %+v", round)
		}
	}},
	// Requests do not help a receiver that is down, and its events do not count
	// as failed: the position stays. The start of the trouble must be known, so
	// that people can be told.
	{"a failing webhook pauses and records since when it fails", func(t *testing.T, store landfall.Store) {
		createWebhook(t, store)
		appendEvents(t, store, "a")
		claim, tries := claimWebhook(t, store), 0
		for pause := 200 * time.Millisecond; ; pause *= 4 {
			begun := time.Now()
			saveRound(t, store, claim, landfall.RoundResult{RoundFailed: true, Pause: pause, Reason: "it refused the connection"})
			tries++
			claims := claimWebhooks(t, store)
			if len(claims) == 0 {
				time.Sleep(pause + 50*time.Millisecond)
				claim = claimWebhook(t, store)
				break
			}
			// On a busy machine the pause may be over by now. Then try again
			// with a longer one.
			if claim = claims[0]; time.Since(begun) < pause {
				t.Fatal("the webhook was claimed during its pause")
			}
		}
		round := readRound(t, store, claim, 10)
		recent(t, round.Webhook.FailingAt)
		if round.Webhook.Attempts != tries || round.Webhook.Position != 0 {
			t.Errorf("got %+v", round.Webhook)
		}
	}},
	// The receiver itself said that it will not come back. The change was not
	// requested, so the audit must say why the webhook is off.
	{"a webhook whose receiver is gone is disabled and audited", func(t *testing.T, store landfall.Store) {
		createWebhook(t, store)
		appendEvents(t, store, "a")
		saveRound(t, store, claimWebhook(t, store), landfall.RoundResult{Gone: true, RoundFailed: true, Status: 410})
		if claims, active, err := store.ClaimWebhooks(t.Context(), landfall.WebhookClaimRequest{UpTo: 1 << 40, Most: 1, Lease: time.Minute}); len(claims)+active != 0 || err != nil {
			t.Errorf("%+v, %d active, %v", claims, active, err)
		}
		inView(t, store, func(view landfall.View) error {
			entries, err := view.Audit(t.Context(), webhookName)
			if len(entries) != 1 || entries[0].Action != "webhook.gone" {
				t.Errorf("the audit has %+v", entries)
			}
			return err
		})
	}},
	// Nothing is sent to an organisation that may not send requests either. After
	// enabling, it has missed nothing.
	{"webhooks of a disabled organisation are not claimed", func(t *testing.T, store landfall.Store) {
		createWebhook(t, store)
		appendEvents(t, store, "a")
		set := func(disabled bool) {
			update(t, store, func(tx landfall.Tx) error { return tx.SetOrganisationDisabled(t.Context(), organisation, disabled) })
		}
		set(true)
		if claims := claimWebhooks(t, store); len(claims) != 0 {
			t.Error("it was claimed")
		}
		// The events were not lost while the webhook could not be claimed.
		set(false)
		claimWebhook(t, store)
	}},
	// Otherwise a webhook that always has something to deliver would be served
	// forever, and the others would starve.
	{"the webhooks that waited longest are claimed first", func(t *testing.T, store landfall.Store) {
		createWebhook(t, store)
		update(t, store, func(tx landfall.Tx) error {
			return tx.CreateWebhook(t.Context(), landfall.Webhook{Name: "a later one", Organisation: organisation, URL: "https://x.example/", State: landfall.WebhookActive})
		})
		appendEvents(t, store, "a", "b", "c")
		var served []string
		for range 4 {
			claims, _, err := store.ClaimWebhooks(t.Context(), landfall.WebhookClaimRequest{UpTo: 1 << 40, Most: 1, Lease: time.Minute})
			if err != nil || len(claims) != 1 {
				t.Fatalf("%+v, %v", claims, err)
			}
			served = append(served, claims[0].Name)
			saveRound(t, store, claims[0], landfall.RoundResult{Position: 1})
		}
		if served[0] == served[1] || served[0] != served[2] || served[1] != served[3] {
			t.Errorf("served %q", served)
		}
	}},
}
