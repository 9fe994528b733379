package storetest

import (
	"fmt"
	"testing"
	"time"

	"landfall"
)

// allEvents lists the accounts of the events that are kept, as text.
func allEvents(t *testing.T, store landfall.Store) (text string) {
	t.Helper()
	inView(t, store, func(view landfall.View) error {
		found, err := view.EventsAfter(t.Context(), landfall.EventQuery{Suppliers: []string{supplierCode}, UpTo: 1 << 60, Limit: 1000})
		for _, event := range found {
			text += event.Key.External
		}
		return err
	})
	return text
}

// purgedThrough returns the position up to which events were purged.
func purgedThrough(t *testing.T, store landfall.Store) (place landfall.EventPosition) {
	t.Helper()
	inView(t, store, func(view landfall.View) error {
		gone, err := view.PurgedEvents(t.Context())
		place = gone[supplierCode]
		return err
	})
	return place
}

// webhooksHolding returns the names of the webhooks that keep old events from
// being purged.
func webhooksHolding(t *testing.T, store landfall.Store) (names []string) {
	t.Helper()
	inView(t, store, func(view landfall.View) (err error) {
		names, err = view.WebhooksHoldingEvents(t.Context(), supplierCode, shortRetention)
		return err
	})
	return names
}

// eventRetentions delete events that have no more readers. A webhook that is
// behind holds them back, and a reader that comes too late is told so.
var eventRetentions = []promiseCheck{
	// A reader that comes back after a long time must be told that it missed
	// something, so the store must know up to where events were purged. The
	// newest event stays so that the ids continue from it: an id that was
	// assigned twice would hide an event from every reader.
	{"events are purged from the beginning of the log, up to a known position", func(t *testing.T, store landfall.Store) {
		staged(t, store)
		appendEvents(t, store, "a", "b", "c", "d")
		before := lastEvent(t, store)
		// First use a retention that no event has reached: young events stay.
		setRetention(t, store, landfall.Retention{Events: time.Hour}, time.Hour)
		if gone := purge(t, store, false); gone != (landfall.PurgeCounts{}) || purgedThrough(t, store) != (landfall.EventPosition{}) {
			t.Errorf("%+v went that is young", gone)
		}
		setRetention(t, store, landfall.Retention{Events: shortRetention}, time.Hour)
		for _, dryRun := range []bool{true, false} {
			if gone := purge(t, store, dryRun); gone != (landfall.PurgeCounts{Events: 3}) {
				t.Errorf("dry run %t: %+v", dryRun, gone)
			}
		}
		if gone := purge(t, store, false); gone != (landfall.PurgeCounts{}) {
			t.Errorf("%+v was sent twice", gone)
		}
		wantEqual(t, allEvents(t, store), "d")
		if place := purgedThrough(t, store); place.ID != before-1 {
			t.Errorf("purged up to %+v of %d", place, before)
		} else {
			recent(t, place.At)
		}
		if now := lastEvent(t, store); now != before {
			t.Errorf("the log ends at %d, not at %d", now, before)
		}
		appendEvents(t, store, "e")
		if now := lastEvent(t, store); now != before+1 {
			t.Errorf("the next event is at %d, not at %d", now, before+1)
		}
		checkInspection(t, store)
	}},
	// The inspection compares accounts with their events. It must know that
	// those were purged, or every purge would cause alarms about accounts that
	// are fine.
	{"inspection accepts accounts and undone accounts whose events were purged", func(t *testing.T, store landfall.Store) {
		staged(t, store, "1", "2")
		for _, external := range []string{"1", "2"} {
			create(t, store, claimFor(t, store, claimRequest(numbered(external)), landfall.ClaimGranted), sampleAccount())
		}
		update(t, store, func(tx landfall.Tx) error {
			supplier, err := tx.Supplier(t.Context(), supplierCode)
			supplier.UndoWindow = time.Hour
			if err == nil {
				err = tx.SaveSupplier(t.Context(), supplier)
			}
			return err
		})
		if _, err := store.Undo(t.Context(), landfall.UndoRequest{Key: numbered("2"), Reason: "no"}); err != nil {
			t.Fatal(err)
		}
		appendEvents(t, store, "x")
		setRetention(t, store, landfall.Retention{Events: shortRetention}, time.Hour)
		if gone := purge(t, store, false); gone.Events < 3 {
			t.Errorf("%+v", gone)
		}
		wantEqual(t, allEvents(t, store), "x")
		checkInspection(t, store)
	}},
	// A webhook that is switched off for a repair expects to continue where it
	// was. The webhooks that hold events back are named, since an operator has
	// to repair or remove them.
	{"events that a webhook has not received stay, enabled or not", func(t *testing.T, store landfall.Store) {
		createWebhook(t, store)
		appendEvents(t, store, "a", "b", "c", "d")
		setRetention(t, store, landfall.Retention{Events: shortRetention}, 0)
		set := func(change func(*landfall.Webhook)) {
			t.Helper()
			update(t, store, func(tx landfall.Tx) error {
				webhook, err := tx.Webhook(t.Context(), webhookName)
				if err != nil {
					return err
				}
				change(&webhook)
				return tx.SaveWebhook(t.Context(), webhook)
			})
		}
		for _, state := range []landfall.WebhookState{landfall.WebhookActive, landfall.WebhookOff, landfall.WebhookGone} {
			set(func(w *landfall.Webhook) { w.State, w.Suppliers = state, []string{supplierCode} })
			if gone := purge(t, store, false); gone != (landfall.PurgeCounts{}) {
				t.Errorf("%s: %+v", state, gone)
			}
			wantEqual(t, webhooksHolding(t, store), []string{webhookName})
		}
		// The webhook receives one event, and the next two come later.
		first := lastEvent(t, store) - 3
		set(func(w *landfall.Webhook) { w.State, w.Position = landfall.WebhookActive, first })
		if gone := purge(t, store, false); gone.Events != 1 {
			t.Errorf("%+v", gone)
		}
		wantEqual(t, allEvents(t, store), "bcd")
		// A webhook for other suppliers needs none of these events.
		set(func(w *landfall.Webhook) { w.Suppliers = []string{"OTHER"} })
		wantEqual(t, len(webhooksHolding(t, store)), 0)
		if gone := purge(t, store, true); gone.Events != 2 {
			t.Errorf("%+v", gone)
		}
	}},
	// The webhook's position is past these events, so the position alone would
	// not protect them. A delivery that was given up can be replayed, which
	// needs the event. Events between those that are held may be purged, and
	// then the log has gaps.
	{"events with waiting or dead deliveries stay", func(t *testing.T, store landfall.Store) {
		createWebhook(t, store)
		appendEvents(t, store, "a", "b", "c", "d", "e")
		setRetention(t, store, landfall.Retention{Events: shortRetention}, 0)
		mine := claimWebhook(t, store)
		round := readRound(t, store, mine, 10)
		saveRound(t, store, mine, landfall.RoundResult{Position: lastEvent(t, store), Delivered: 3, Failed: []landfall.Delivery{
			{Event: round.Events[0], State: landfall.DeliveryWaiting}, {Event: round.Events[2], State: landfall.DeliveryDead},
		}})
		for _, dryRun := range []bool{true, false} {
			if gone := purge(t, store, dryRun); gone.Events != 2 { // b and d; e is the newest
				t.Errorf("dry run %t: %+v", dryRun, gone)
			}
		}
		wantEqual(t, allEvents(t, store), "ace")
		wantEqual(t, webhooksHolding(t, store), []string{webhookName})
		checkInspection(t, store)
		mine = claimWebhook(t, store)
		// The event that waited is still complete after the purge and can be
		// delivered.
		again := readRound(t, store, mine, 10)
		if len(again.Waiting) != 1 || again.Waiting[0].Event.Key.External != "a" {
			t.Fatalf("%+v", again)
		}
		saveRound(t, store, mine, landfall.RoundResult{Position: lastEvent(t, store), Delivered: 1, Settled: []int64{again.Waiting[0].Event.ID}})
		if gone := purge(t, store, false); gone.Events != 1 {
			t.Errorf("%+v", gone)
		}
		wantEqual(t, allEvents(t, store), "ce")
	}},
	// There may be far more events than accounts. Each step must be short enough
	// that writers never wait for it.
	{"many events are purged in small steps during writes", func(t *testing.T, store landfall.Store) {
		const many = 450
		staged(t, store)
		names := make([]string, many)
		for i := range names {
			names[i] = fmt.Sprint(i)
		}
		appendEvents(t, store, names...)
		setRetention(t, store, landfall.Retention{Events: shortRetention}, 0)
		atOnce(2, func(number int) {
			if number == 0 {
				appendEvents(t, store, "late")
				return
			}
			steps, gone := 0, 0
			for order := (landfall.PurgeRequest{Supplier: supplierCode}); ; steps++ {
				step, err := store.Purge(t.Context(), order)
				if err != nil || step.Removed.Events > 200 {
					t.Errorf("%+v, %v", step, err)
					return
				}
				if gone += step.Removed.Events; step.Done {
					break
				}
				order.After = step.Next
			}
			if steps < 2 || gone < many-1 {
				t.Errorf("%d were removed in %d steps", gone, steps)
			}
		})
		wantEqual(t, lastEvent(t, store) > many, true)
	}},
}
