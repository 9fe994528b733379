package storetest

import (
	"testing"
	"time"

	"landfall"
)

// targetCode is the only target of these cases.
const targetCode = "BILLING"

// withTarget creates a supplier whose accounts are delivered, and imports some.
func withTarget(t *testing.T, store landfall.Store, takesBack bool, numbers ...string) {
	t.Helper()
	staged(t, store, numbers...)
	setTarget(t, store, takesBack)
	for _, number := range numbers {
		key := landfall.Key{Supplier: supplierCode, External: number}
		create(t, store, claimFor(t, store, claimRequest(key), landfall.ClaimGranted), sampleAccount())
	}
}

// setTarget gives the supplier a target.
func setTarget(t *testing.T, store landfall.Store, takesBack bool) {
	t.Helper()
	update(t, store, func(tx landfall.Tx) error {
		if err := tx.SaveTarget(t.Context(), landfall.Target{
			Code: targetCode, URL: "https://target.example", AtOnce: 4, TakesBack: takesBack, State: landfall.TargetActive,
		}); err != nil {
			return err
		}
		supplier, err := tx.Supplier(t.Context(), supplierCode)
		if err != nil {
			return err
		}
		supplier.Target = targetCode
		return tx.SaveSupplier(t.Context(), supplier)
	})
}

// claimTarget claims the only target.
func claimTarget(t *testing.T, store landfall.Store) landfall.TargetClaim {
	t.Helper()
	claims, err := store.ClaimTargets(t.Context(), 10, time.Minute)
	if err != nil || len(claims) != 1 || claims[0].Code != targetCode {
		t.Fatalf("claimed %+v, %v", claims, err)
	}
	return claims[0]
}

// targetRound reads the next deliveries.
func targetRound(t *testing.T, store landfall.Store, claim landfall.TargetClaim) landfall.TargetRound {
	t.Helper()
	round, err := store.TargetRound(t.Context(), claim, 100)
	if err != nil {
		t.Fatal(err)
	}
	return round
}

// settleAll saves the same result for every delivery of a round.
func settleAll(t *testing.T, store landfall.Store, claim landfall.TargetClaim, round landfall.TargetRound, state landfall.TargetDeliveryState, firstOnly bool) {
	t.Helper()
	result := landfall.TargetRoundResult{Blocked: round.Blocked, KeepClaim: true, Lease: time.Minute}
	for _, chain := range round.Chains {
		for i := range chain {
			if firstOnly && i > 0 {
				continue
			}
			one := landfall.TargetResult{Delivery: &chain[i], State: state, Status: 200, Reply: "words"}
			if state == landfall.TargetDelivered {
				one.TargetID, one.Reply = "T-1", ""
				result.Delivered++
			}
			result.Results = append(result.Results, one)
		}
	}
	if err := store.SaveTargetRound(t.Context(), claim, result); err != nil {
		t.Fatal(err)
	}
}

// postNote adds a note to an account.
func postNote(t *testing.T, store landfall.Store, key landfall.Key, body string) {
	t.Helper()
	post(t, store, landfall.Posting{Key: key, Decide: func(landfall.AccountState) (landfall.Additions, error) {
		return landfall.Additions{Notes: []landfall.Note{{Body: body, HasBody: true}}}, nil
	}}, landfall.Posted)
}

// accountDelivery returns how far the deliveries of an account are.
func accountDelivery(t *testing.T, store landfall.Store, key landfall.Key) (found landfall.AccountDelivery) {
	t.Helper()
	inView(t, store, func(view landfall.View) (err error) {
		found, err = view.AccountDelivery(t.Context(), key)
		return err
	})
	return found
}

// wantSums fails the test unless the sums of delivered accounts are right, also when
// they are counted anew.
func wantSums(t *testing.T, store landfall.Store, accounts int64) {
	t.Helper()
	inView(t, store, func(view landfall.View) error {
		kept, err := view.Tallies(t.Context(), supplierCode)
		if err != nil {
			return err
		}
		counted, err := view.Recount(t.Context(), supplierCode)
		if wrong := kept.Differences(&counted); len(wrong) > 0 {
			t.Errorf("sums differ: %v", wrong)
		}
		total := int64(0)
		for _, delivered := range kept.Sums[landfall.StatusDelivered] {
			total += delivered[landfall.AtAccounts].Count()
		}
		if total != accounts {
			t.Errorf("%d accounts count as delivered, want %d", total, accounts)
		}
		return err
	})
}

// targets get every account and everything posted to it, in order, whichever replica
// sends and whenever one dies.
var targets = []promiseCheck{
	// The target must get exactly what the account was when it was created. What is
	// posted later follows by itself, or the target would have it twice.
	{"an account is delivered as it was created, and postings behind it", func(t *testing.T, store landfall.Store) {
		withTarget(t, store, false, "a")
		key := landfall.Key{Supplier: supplierCode, External: "a"}
		postNote(t, store, key, "first")
		postNote(t, store, key, "second")
		claim := claimTarget(t, store)
		round := targetRound(t, store, claim)
		if len(round.Chains) != 1 || len(round.Chains[0]) != 3 || len(round.Blocked) != 0 {
			t.Fatalf("got %+v", round)
		}
		chain := round.Chains[0]
		created := sampleAccount()
		if whole := chain[0].Account; chain[0].Kind != landfall.DeliverAccount || whole == nil || len(whole.Lists.Notes) != len(created.Data.Notes) ||
			len(whole.Lists.Entries) != len(created.Ledger) || whole.Balance != created.Balance || len(whole.Record) == 0 || whole.Number != chain[0].Number {
			t.Errorf("the account is %+v", whole)
		}
		for i, want := range []string{"first", "second"} {
			if one := chain[i+1]; one.Kind != landfall.DeliverNotes || len(one.Lists.Notes) != 1 || one.Lists.Notes[0].Body != want {
				t.Errorf("posting %d is %+v", i, one)
			}
		}
		settleAll(t, store, claim, round, landfall.TargetDelivered, false)
		if got := accountDelivery(t, store, key); got.State != landfall.TargetDelivered || got.TargetID != "T-1" || got.Target != targetCode {
			t.Errorf("got %+v", got)
		}
		wantSums(t, store, 1)
		events := readEvents(t, store, key)
		if last := events[len(events)-1]; last.Type != landfall.EventDelivered || last.Details["target_id"] != "T-1" {
			t.Errorf("the last event is %+v", last)
		}
		if round = targetRound(t, store, claim); len(round.Chains) != 0 {
			t.Errorf("then got %+v", round)
		}
	}},
	// A refused account must not get its postings, and must not be tried again and
	// again. Others go on.
	{"a refused delivery holds those behind it until it is sent again", func(t *testing.T, store landfall.Store) {
		withTarget(t, store, false, "a", "b")
		key := landfall.Key{Supplier: supplierCode, External: "a"}
		postNote(t, store, key, "behind")
		claim := claimTarget(t, store)
		round := targetRound(t, store, claim)
		settleAll(t, store, claim, round, landfall.TargetRefused, true)
		round = targetRound(t, store, claim)
		if len(round.Chains) != 0 || len(round.Blocked) != 1 {
			t.Fatalf("got %+v", round)
		}
		settleAll(t, store, claim, round, landfall.TargetDelivered, false)
		if round = targetRound(t, store, claim); len(round.Chains)+len(round.Blocked) != 0 {
			t.Fatalf("the blocked one is still looked at: %+v", round)
		}
		if got := accountDelivery(t, store, key); got.State != landfall.TargetRefused {
			t.Errorf("got %+v", got)
		}
		inView(t, store, func(view landfall.View) error {
			refused, err := view.TargetDeliveries(t.Context(), landfall.TargetDeliveryQuery{Target: targetCode, State: landfall.TargetRefused, Limit: 10})
			if len(refused) != 2 || refused[0].Reply != "words" {
				t.Errorf("refused are %+v", refused)
			}
			return err
		})
		update(t, store, func(tx landfall.Tx) error {
			count, err := tx.RetryDeliveries(t.Context(), targetCode, nil)
			if count != 2 {
				t.Errorf("%d are sent again", count)
			}
			return err
		})
		settleAll(t, store, claim, targetRound(t, store, claim), landfall.TargetDelivered, true)
		round = targetRound(t, store, claim)
		if len(round.Chains) != 1 || round.Chains[0][0].Kind != landfall.DeliverNotes {
			t.Fatalf("in the end got %+v", round)
		}
		wantSums(t, store, 2)
	}},
	// The target will say later what became of it. A caller that may not see the
	// account may not decide about it.
	{"a pending delivery is confirmed or refused once", func(t *testing.T, store landfall.Store) {
		withTarget(t, store, false, "a")
		key := landfall.Key{Supplier: supplierCode, External: "a"}
		postNote(t, store, key, "behind")
		claim := claimTarget(t, store)
		round := targetRound(t, store, claim)
		settleAll(t, store, claim, round, landfall.TargetPending, true)
		one := round.Chains[0][0]
		settlement := landfall.TargetSettlement{
			ID: one.ID, At: one.At, From: []landfall.TargetDeliveryState{landfall.TargetPending}, State: landfall.TargetDelivered, TargetID: "T-9", Supplier: []string{"other"},
		}
		_, err := store.SettleDelivery(t.Context(), settlement)
		wantError(t, err, landfall.ErrNotFound)
		settlement.Supplier = []string{supplierCode}
		if done, err := store.SettleDelivery(t.Context(), settlement); err != nil || done.State != landfall.TargetDelivered {
			t.Fatalf("got %+v, %v", done, err)
		}
		again, err := store.SettleDelivery(t.Context(), settlement)
		wantError(t, err, landfall.ErrNotFound)
		if again.State != landfall.TargetDelivered {
			t.Errorf("got %+v", again)
		}
		if round = targetRound(t, store, claim); len(round.Chains) != 1 || round.Chains[0][0].Kind != landfall.DeliverNotes {
			t.Errorf("then got %+v", round)
		}
		wantSums(t, store, 1)
	}},
	// A delivery that failed waits, and those behind it wait for it. A sender that lost
	// its claim writes nothing.
	{"a failed delivery is due again after its pause", func(t *testing.T, store landfall.Store) {
		withTarget(t, store, false, "a")
		claim := claimTarget(t, store)
		round := targetRound(t, store, claim)
		if err := store.SaveTargetRound(t.Context(), claim, landfall.TargetRoundResult{
			RoundFailed: true, Status: 503, Reason: "it answered 503",
			Results: []landfall.TargetResult{{Delivery: &round.Chains[0][0], State: landfall.TargetWaiting, Status: 503, Reply: "it answered 503"}},
		}); err != nil {
			t.Fatal(err)
		}
		wantError(t, store.SaveTargetRound(t.Context(), claim, landfall.TargetRoundResult{}), landfall.ErrFenced)
		round = targetRound(t, store, claimTarget(t, store))
		if round.Target.Attempts != 1 || round.Target.Reason != "it answered 503" || len(round.Chains) != 1 || round.Chains[0][0].Attempts != 1 {
			t.Errorf("got %+v", round)
		}
		recent(t, round.Target.FailingAt)
	}},
	// What the target never got needs no taking back. What it may have got is kept
	// until it was asked to delete it.
	{"an account is undone only when its target does not have it", func(t *testing.T, store landfall.Store) {
		withTarget(t, store, true, "a", "b")
		unsent, sent := landfall.Key{Supplier: supplierCode, External: "a"}, landfall.Key{Supplier: supplierCode, External: "b"}
		if outcome := undo(t, store, landfall.UndoRequest{Key: unsent}, landfall.UndoKept); outcome.Kept != landfall.KeptDelivered {
			t.Errorf("got %+v", outcome)
		}
		held, err := store.HoldDeliveries(t.Context(), unsent)
		if err != nil || held.Busy || held.Sent || !held.Target.TakesBack || held.Number == "" {
			t.Fatalf("got %+v, %v", held, err)
		}
		undo(t, store, landfall.UndoRequest{Key: unsent, TakenBack: true}, landfall.Undone)
		claim := claimTarget(t, store)
		round := targetRound(t, store, claim)
		if len(round.Chains) != 1 || round.Chains[0][0].Key != sent {
			t.Fatalf("got %+v", round)
		}
		// A round is under way, so nobody knows yet.
		if held, err = store.HoldDeliveries(t.Context(), sent); err != nil || !held.Busy {
			t.Fatalf("got %+v, %v", held, err)
		}
		settleAll(t, store, claim, round, landfall.TargetDelivered, false)
		if held, err = store.HoldDeliveries(t.Context(), sent); err != nil || held.Busy || !held.Sent {
			t.Fatalf("then got %+v, %v", held, err)
		}
		wantSums(t, store, 1)
		undo(t, store, landfall.UndoRequest{Key: sent, TakenBack: true}, landfall.Undone)
		wantSums(t, store, 0)
		create(t, store, claimFor(t, store, claimRequest(sent), landfall.ClaimGranted), sampleAccount())
		again := targetRound(t, store, claim)
		if len(again.Chains) != 1 || again.Chains[0][0].ID == round.Chains[0][0].ID || again.Chains[0][0].Held {
			t.Errorf("created again: %+v", again)
		}
	}},
	// A holder that died may have sent what it read.
	{"what a sender that died may have sent counts as sent", func(t *testing.T, store landfall.Store) {
		withTarget(t, store, true, "a")
		if _, err := store.ClaimTargets(t.Context(), 10, time.Microsecond); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Millisecond) // the lease has ended by the database's clock
		claim := claimTarget(t, store)
		if err := store.SaveTargetRound(t.Context(), claim, landfall.TargetRoundResult{}); err != nil {
			t.Fatal(err)
		}
		held, err := store.HoldDeliveries(t.Context(), landfall.Key{Supplier: supplierCode, External: "a"})
		if err != nil || !held.Sent {
			t.Errorf("got %+v, %v", held, err)
		}
	}},
	// Accounts that existed before the target get one delivery with everything.
	{"accounts without deliveries can be delivered later, whole", func(t *testing.T, store landfall.Store) {
		importAccounts(t, store, "a")
		key := landfall.Key{Supplier: supplierCode, External: "a"}
		postNote(t, store, key, "old")
		if _, err := store.RestartDeliveries(t.Context(), landfall.Key{Supplier: supplierCode}, 10); err == nil {
			t.Error("there is no target")
		}
		setTarget(t, store, false)
		if got := accountDelivery(t, store, key); got.State != "" {
			t.Errorf("got %+v", got)
		}
		for _, want := range []int{1, 0} {
			if count, err := store.RestartDeliveries(t.Context(), landfall.Key{Supplier: supplierCode}, 10); err != nil || count != want {
				t.Errorf("%d, %v, want %d", count, err, want)
			}
		}
		claim := claimTarget(t, store)
		round := targetRound(t, store, claim)
		if len(round.Chains) != 1 || len(round.Chains[0][0].Account.Lists.Notes) != len(sampleAccount().Data.Notes)+1 {
			t.Fatalf("got %+v", round)
		}
		settleAll(t, store, claim, round, landfall.TargetDelivered, false)
		wantSums(t, store, 1)
		update(t, store, func(tx landfall.Tx) error {
			wantError(t, tx.RemoveTarget(t.Context(), targetCode), landfall.ErrExists)
			return nil
		})
	}},
	// A target may answer a posting with the name of the posting.
	{"an account keeps the first name that its target gave, also when it is delivered again", func(t *testing.T, store landfall.Store) {
		withTarget(t, store, false, "a")
		key := numbered("a")
		postNote(t, store, key, "new")
		for _, step := range []struct{ account, note, want string }{
			{"T-1", "N-1", "T-1"},
			{"", "", "T-1"},
			{"T-2", "", "T-2"},
		} {
			claim := claimTarget(t, store)
			round := targetRound(t, store, claim)
			result := landfall.TargetRoundResult{}
			for i := range round.Chains[0] {
				one := &round.Chains[0][i]
				name := step.account
				if one.Kind == landfall.DeliverNotes {
					name = step.note
				}
				result.Results = append(result.Results, landfall.TargetResult{Delivery: one, State: landfall.TargetDelivered, TargetID: name})
			}
			if err := store.SaveTargetRound(t.Context(), claim, result); err != nil {
				t.Fatal(err)
			}
			if got := accountDelivery(t, store, key); got.TargetID != step.want || got.State != landfall.TargetDelivered {
				t.Errorf("after %+v: got %+v", step, got)
			}
			if _, err := store.RestartDeliveries(t.Context(), key, 1); err != nil {
				t.Fatal(err)
			}
			if got := accountDelivery(t, store, key); got.TargetID != step.want || got.State != landfall.TargetWaiting {
				t.Errorf("delivered again after %+v: got %+v", step, got)
			}
		}
		inView(t, store, func(view landfall.View) error {
			events, err := view.Events(t.Context(), key)
			var changed []string
			for _, event := range events {
				if former := event.Details["former_target_id"]; former != "" {
					changed = append(changed, former+" to "+event.Details["target_id"])
				}
			}
			if len(changed) != 1 || changed[0] != "T-1 to T-2" {
				t.Errorf("the events say that the name changed from %q", changed)
			}
			return err
		})
	}},
	// A target may repeat in its refusal what was sent.
	{"what a target said is purged like other failures, and the refusal stays", func(t *testing.T, store landfall.Store) {
		withTarget(t, store, false, "a", "b")
		claim := claimTarget(t, store)
		settleAll(t, store, claim, targetRound(t, store, claim), landfall.TargetRefused, false)
		if gone := purge(t, store, false); gone.Failures != 0 {
			t.Errorf("without a retention %+v were purged", gone)
		}
		setRetention(t, store, landfall.Retention{Failures: shortRetention}, 0)
		time.Sleep(2 * time.Millisecond)
		for _, step := range []struct {
			dryRun bool
			want   int
		}{{true, 2}, {false, 2}, {false, 0}} {
			if gone := purge(t, store, step.dryRun); gone.Failures != step.want {
				t.Errorf("purged %+v, want %+v", gone, step)
			}
		}
		inView(t, store, func(view landfall.View) error {
			found, err := view.TargetDeliveries(t.Context(), landfall.TargetDeliveryQuery{Target: targetCode, State: landfall.TargetRefused, Limit: 10})
			if len(found) != 2 || found[0].Reply != "" || found[1].Reply != "" {
				t.Errorf("got %+v", found)
			}
			return err
		})
	}},
}
