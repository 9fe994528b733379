package storetest

import (
	"fmt"
	"testing"
	"time"

	"landfall"
)

// logged spells the accounts of the events that are kept.
func logged(t *testing.T, store landfall.Store) (text string) {
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

// agreed is a store whose search has entered all there is, so that nobody but
// webhooks needs an event.
func agreed(t *testing.T, store landfall.Store) {
	t.Helper()
	for more := true; more; {
		step, err := store.IndexTerms(t.Context())
		if more = step.More; err != nil {
			t.Fatal(err)
		}
	}
}

// goneThrough says up to where events were purged.
func goneThrough(t *testing.T, store landfall.Store) (place landfall.EventPosition) {
	t.Helper()
	inView(t, store, func(view landfall.View) error {
		gone, err := view.PurgedEvents(t.Context())
		place = gone[supplierCode]
		return err
	})
	return place
}

// heldBy names who keeps old events from going.
func heldBy(t *testing.T, store landfall.Store) (names []string) {
	t.Helper()
	inView(t, store, func(view landfall.View) (err error) {
		names, err = view.WebhooksHoldingEvents(t.Context(), supplierCode, shortly)
		return err
	})
	return names
}

// eventRetentions let events go that nobody waits for any more. A webhook that is
// behind holds them back, and a reader who comes too late is told so.
var eventRetentions = []promiseCheck{
	// A reader who comes back after a long time must be told that he missed
	// something, and that needs to be known up to where events went. The newest one
	// stays so that the numbers go on from it: a number that was given twice would
	// hide an event from every reader.
	{"events go from the beginning of the log, the newest stays, and it is known up to where", func(t *testing.T, store landfall.Store) {
		staged(t, store)
		happen(t, store, "a", "b", "c", "d")
		agreed(t, store)
		before := lastEvent(t, store)
		// First with a time that nothing has reached: young events stay.
		keeping(t, store, landfall.Retention{Events: time.Hour}, time.Hour)
		if gone := purge(t, store, false); gone != (landfall.PurgeCounts{}) || goneThrough(t, store) != (landfall.EventPosition{}) {
			t.Errorf("%+v went that is young", gone)
		}
		keeping(t, store, landfall.Retention{Events: shortly}, time.Hour)
		for _, dryRun := range []bool{true, false} {
			if gone := purge(t, store, dryRun); gone != (landfall.PurgeCounts{Events: 3}) {
				t.Errorf("dry run %t: %+v", dryRun, gone)
			}
		}
		if gone := purge(t, store, false); gone != (landfall.PurgeCounts{}) {
			t.Errorf("%+v went twice", gone)
		}
		same(t, logged(t, store), "d")
		if place := goneThrough(t, store); place.ID != before-1 {
			t.Errorf("gone up to %+v of %d", place, before)
		} else {
			recent(t, place.At)
		}
		if now := lastEvent(t, store); now != before {
			t.Errorf("the log ends at %d, not at %d", now, before)
		}
		happen(t, store, "e")
		if now := lastEvent(t, store); now != before+1 {
			t.Errorf("the next event stands at %d, not at %d", now, before+1)
		}
		holds(t, store)
	}},
	// What verifies holds accounts against their events. It has to know that those
	// went, or every purge would be followed by alarms about accounts that are fine.
	{"accounts and those taken back are whole without their old events", func(t *testing.T, store landfall.Store) {
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
		happen(t, store, "x")
		agreed(t, store)
		keeping(t, store, landfall.Retention{Events: shortly}, time.Hour)
		if gone := purge(t, store, false); gone.Events < 3 {
			t.Errorf("%+v", gone)
		}
		same(t, logged(t, store), "x")
		holds(t, store)
	}},
	// The search learns of new accounts from the log alone. An event that went before
	// it was read is an account that nobody ever finds by name.
	{"what the search has not read yet stays", func(t *testing.T, store landfall.Store) {
		staged(t, store)
		agreed(t, store)
		happen(t, store, "a", "b", "c")
		keeping(t, store, landfall.Retention{Events: shortly}, 0)
		if gone := purge(t, store, false); gone != (landfall.PurgeCounts{}) {
			t.Errorf("%+v", gone)
		}
		agreed(t, store)
		if gone := purge(t, store, false); gone.Events != 2 {
			t.Errorf("%+v", gone)
		}
	}},
	// A webhook is switched off for a repair and expects to go on where it was. Whom
	// the events wait for is told by name, since somebody has to repair or remove it.
	{"what a webhook has not received stays, switched on or not", func(t *testing.T, store landfall.Store) {
		hooked(t, store)
		happen(t, store, "a", "b", "c", "d")
		agreed(t, store)
		keeping(t, store, landfall.Retention{Events: shortly}, 0)
		set := func(change func(*landfall.Webhook)) {
			t.Helper()
			update(t, store, func(tx landfall.Tx) error {
				webhook, err := tx.Webhook(t.Context(), hook)
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
			same(t, heldBy(t, store), []string{hook})
		}
		// It gets one, and the next two come later.
		first := lastEvent(t, store) - 3
		set(func(w *landfall.Webhook) { w.State, w.Position = landfall.WebhookActive, first })
		if gone := purge(t, store, false); gone.Events != 1 {
			t.Errorf("%+v", gone)
		}
		same(t, logged(t, store), "bcd")
		// One who is told of other suppliers alone needs none of these.
		set(func(w *landfall.Webhook) { w.Suppliers = []string{"OTHER"} })
		same(t, len(heldBy(t, store)), 0)
		if gone := purge(t, store, true); gone.Events != 2 {
			t.Errorf("%+v", gone)
		}
	}},
	// The position of a webhook is behind these, so the position alone would let them
	// go. What was given up can be replayed, for which the event has to be there.
	// Events between those that are held may go, and the log has gaps then.
	{"what waits for another attempt or was given up stays until it is received", func(t *testing.T, store landfall.Store) {
		hooked(t, store)
		happen(t, store, "a", "b", "c", "d", "e")
		agreed(t, store)
		keeping(t, store, landfall.Retention{Events: shortly}, 0)
		mine := hookClaim(t, store)
		round := readRound(t, store, mine, 10)
		keepRound(t, store, mine, landfall.RoundResult{Position: lastEvent(t, store), Delivered: 3, Failed: []landfall.Delivery{
			{Event: round.Events[0], State: landfall.DeliveryWaiting}, {Event: round.Events[2], State: landfall.DeliveryDead},
		}})
		for _, dryRun := range []bool{true, false} {
			if gone := purge(t, store, dryRun); gone.Events != 2 { // b and d; e is the newest
				t.Errorf("dry run %t: %+v", dryRun, gone)
			}
		}
		same(t, logged(t, store), "ace")
		same(t, heldBy(t, store), []string{hook})
		holds(t, store)
		mine = hookClaim(t, store)
		// The event that waited is still whole after the purge, and can be delivered.
		again := readRound(t, store, mine, 10)
		if len(again.Waiting) != 1 || again.Waiting[0].Event.Key.External != "a" {
			t.Fatalf("%+v", again)
		}
		keepRound(t, store, mine, landfall.RoundResult{Position: lastEvent(t, store), Delivered: 1, Settled: []int64{again.Waiting[0].Event.ID}})
		if gone := purge(t, store, false); gone.Events != 1 {
			t.Errorf("%+v", gone)
		}
		same(t, logged(t, store), "ce")
	}},
	// There may be far more events than accounts. Each step has to be short enough
	// that those who write never wait for it.
	{"many events go in small steps beside those who write others", func(t *testing.T, store landfall.Store) {
		const many = 450
		staged(t, store)
		names := make([]string, many)
		for i := range names {
			names[i] = fmt.Sprint(i)
		}
		happen(t, store, names...)
		agreed(t, store)
		keeping(t, store, landfall.Retention{Events: shortly}, 0)
		atOnce(2, func(number int) {
			if number == 0 {
				happen(t, store, "late")
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
				t.Errorf("%d went in %d steps", gone, steps)
			}
		})
		same(t, lastEvent(t, store) > many, true)
	}},
}
