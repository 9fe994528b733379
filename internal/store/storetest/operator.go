package storetest

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"landfall"
)

// hour is an idle time that no case comes near.
const hour = time.Hour

// operators are people with a password. Invitations and sessions expire when they
// should, and single-use ones work once.
var operators = []promiseCheck{
	// An invitation lets a person choose a password, so it must end when it is
	// used and when it expires. The empty invitation that every operator has
	// afterwards must find no operator.
	{"an operator is stored, changed and found by a valid invitation", func(t *testing.T, store landfall.Store) {
		ctx := t.Context()
		ada := landfall.Operator{
			Name: "ada", Role: landfall.ConsoleOperator, Invitation: [32]byte{1}, InvitationEndsAt: time.Now().Add(hour).Truncate(time.Second).UTC(), InvitedBy: "shell:root",
		}
		update(t, store, func(tx landfall.Tx) error { return tx.CreateOperator(ctx, ada) })
		update(t, store, func(tx landfall.Tx) error {
			wantError(t, tx.CreateOperator(ctx, ada), landfall.ErrExists)
			wantError(t, tx.SaveOperator(ctx, landfall.Operator{Name: "nobody", Role: landfall.ConsoleSupport}), landfall.ErrNotFound)
			found, err := tx.InvitedOperator(ctx, ada.Invitation)
			recent(t, found.CreatedAt)
			ada.CreatedAt = found.CreatedAt
			wantEqual(t, found, ada)
			return err
		})
		late := landfall.Operator{Name: "bob", Role: landfall.ConsoleSupport, Invitation: [32]byte{2}, InvitationEndsAt: time.Now().Add(-time.Minute)}
		update(t, store, func(tx landfall.Tx) error { return tx.CreateOperator(ctx, late) })
		// The invitation was used: it is removed, and there is a password
		// instead.
		ada.Invitation, ada.InvitationEndsAt, ada.Password, ada.TOTPSecret, ada.TOTPUsed = [32]byte{}, time.Time{}, "hash", "secret", 7
		ada.TOTPFailures, ada.TOTPFailedAt = 3, time.Now().Truncate(time.Second).UTC()
		ada.Pending = landfall.PendingTOTP{Secret: "next", Session: "session", EndsAt: time.Now().Add(hour).Truncate(time.Second).UTC()}
		ada.RecoveryCodes = [][32]byte{{4}, {5}}
		ada.ResetAt = time.Now().Truncate(time.Second).UTC()
		update(t, store, func(tx landfall.Tx) error { return tx.SaveOperator(ctx, ada) })
		inView(t, store, func(view landfall.View) error {
			for _, invitation := range [][32]byte{{1}, {2}, {}} {
				_, err := view.InvitedOperator(ctx, invitation)
				wantError(t, err, landfall.ErrNotFound)
			}
			all, err := view.Operators(ctx)
			if len(all) != 2 || all[0].Name != "ada" || all[1].Name != "bob" {
				t.Fatalf("got %+v", all)
			}
			recent(t, all[0].PasswordAt)
			ada.PasswordAt = all[0].PasswordAt
			wantEqual(t, all[0], ada)
			return err
		})
		// Another field changes, and the time of the password stays.
		ada.Role = landfall.ConsoleSupport
		update(t, store, func(tx landfall.Tx) error { return tx.SaveOperator(ctx, ada) })
		inView(t, store, func(view landfall.View) error {
			found, err := view.Operator(ctx, "ada")
			wantEqual(t, found, ada)
			return err
		})
	}},
	// Whoever has a set-up link becomes administrator, so it must end with its first use, with
	// the first operator and with its time.
	{"a set-up link works once and only while there is no operator", func(t *testing.T, store landfall.Store) {
		ctx := t.Context()
		offer := func(hash byte, length time.Duration) {
			update(t, store, func(tx landfall.Tx) error { return tx.OfferSetUpLink(ctx, [32]byte{hash}, length) })
		}
		want := func(hash byte, wanted error) {
			t.Helper()
			inView(t, store, func(view landfall.View) error {
				wantError(t, view.SetUpLink(ctx, [32]byte{hash}), wanted)
				return nil
			})
		}
		offer(1, -time.Second)
		offer(2, hour)
		offer(3, hour)
		for hash, wanted := range map[byte]error{1: landfall.ErrNotFound, 2: nil, 3: nil, 4: landfall.ErrNotFound} {
			want(hash, wanted)
		}
		// Two people with two links at once: one of them wins.
		var wins atomic.Int32
		atOnce(2, func(number int) {
			err := store.Update(ctx, func(tx landfall.Tx) error {
				if err := tx.UseSetUpLink(ctx, [32]byte{byte(2 + number)}); err != nil {
					return err
				}
				return tx.CreateOperator(ctx, landfall.Operator{Name: "ada", Role: landfall.ConsoleAdministrator})
			})
			if err == nil {
				wins.Add(1)
			} else {
				wantError(t, err, landfall.ErrNotFound)
			}
		})
		if wins.Load() != 1 {
			t.Errorf("%d people used a set-up link", wins.Load())
		}
		offer(5, hour) // too late
		want(2, landfall.ErrNotFound)
		want(3, landfall.ErrNotFound)
		want(5, landfall.ErrNotFound)
		update(t, store, func(tx landfall.Tx) error {
			wantError(t, tx.UseSetUpLink(ctx, [32]byte{5}), landfall.ErrNotFound)
			has, err := tx.HasOperators(ctx)
			wantEqual(t, has, true)
			return err
		})
	}},
	// A passkey signs in without anything else, so it must be found by its ID alone and
	// be gone when it is removed.
	{"passkeys are added, found, used and removed", func(t *testing.T, store landfall.Store) {
		ctx := t.Context()
		for _, name := range []string{"ada", "bob"} {
			update(t, store, func(tx landfall.Tx) error {
				return tx.CreateOperator(ctx, landfall.Operator{Name: name, Role: landfall.ConsoleSupport})
			})
		}
		laptop := landfall.Passkey{Operator: "ada", Name: "laptop", ID: []byte{1}, Credential: "{}"}
		phone := landfall.Passkey{Operator: "ada", Name: "phone", ID: []byte{2}, Credential: "{}"}
		other := landfall.Passkey{Operator: "bob", Name: "laptop", ID: []byte{3}, Credential: "{}"}
		for _, passkey := range []landfall.Passkey{laptop, phone, other} {
			update(t, store, func(tx landfall.Tx) error { return tx.AddPasskey(ctx, passkey) })
		}
		update(t, store, func(tx landfall.Tx) error {
			wantError(t, tx.AddPasskey(ctx, landfall.Passkey{Operator: "ada", Name: "laptop", ID: []byte{4}}), landfall.ErrExists)
			wantError(t, tx.AddPasskey(ctx, landfall.Passkey{Operator: "bob", Name: "tablet", ID: []byte{1}}), landfall.ErrExists)
			wantError(t, tx.UsePasskey(ctx, []byte{9}, "{}"), landfall.ErrNotFound)
			wantError(t, tx.RemovePasskey(ctx, "bob", "phone"), landfall.ErrNotFound)
			return tx.UsePasskey(ctx, phone.ID, `{"count": 1}`)
		})
		inView(t, store, func(view landfall.View) error {
			all, err := view.Passkeys(ctx, "ada")
			if len(all) != 2 || !all[0].UsedAt.IsZero() || all[1].Credential != `{"count": 1}` {
				t.Fatalf("got %+v", all)
			}
			recent(t, all[0].CreatedAt)
			recent(t, all[1].UsedAt)
			found, err2 := view.Passkey(ctx, other.ID)
			wantEqual(t, found.Operator, "bob")
			_, err3 := view.Passkey(ctx, []byte{9})
			wantError(t, err3, landfall.ErrNotFound)
			return errors.Join(err, err2)
		})
		update(t, store, func(tx landfall.Tx) error { return tx.RemovePasskey(ctx, "ada", "phone") })
		update(t, store, func(tx landfall.Tx) error { return tx.RemovePasskeys(ctx, "bob") })
		inView(t, store, func(view landfall.View) error {
			for _, id := range [][]byte{phone.ID, other.ID} {
				_, err := view.Passkey(ctx, id)
				wantError(t, err, landfall.ErrNotFound)
			}
			_, err := view.Passkey(ctx, laptop.ID)
			return err
		})
	}},
	// Whoever could answer a challenge twice could use an answer that was recorded.
	{"a challenge of a passkey is taken once", func(t *testing.T, store landfall.Store) {
		ctx := t.Context()
		offer := func(hash byte, session string, length time.Duration, most int) {
			challenge := landfall.PasskeyChallenge{Hash: [32]byte{hash}, Session: session, Data: string('a' + rune(hash))}
			update(t, store, func(tx landfall.Tx) error { return tx.OfferChallenge(ctx, challenge, length, most) })
		}
		take := func(hash byte, session string) (data string, err error) {
			err = store.Update(ctx, func(tx landfall.Tx) (err error) {
				data, err = tx.TakeChallenge(ctx, [32]byte{hash}, session)
				return err
			})
			return data, err
		}
		offer(1, "", hour, 10)
		offer(2, "session", hour, 10)
		offer(3, "", -time.Second, 10)
		for hash, session := range map[byte]string{1: "session", 2: "", 3: "", 4: ""} {
			_, err := take(hash, session)
			wantError(t, err, landfall.ErrNotFound)
		}
		data, err := take(2, "session")
		wantError(t, err, nil)
		wantEqual(t, data, "c")
		var wins atomic.Int32
		atOnce(3, func(int) {
			if _, err := take(1, ""); err == nil {
				wins.Add(1)
			}
		})
		wantEqual(t, wins.Load(), int32(1))
		// Only the newest are kept.
		for hash := range byte(5) {
			offer(10+hash, "", hour+time.Duration(hash)*time.Minute, 2)
		}
		_, err = take(12, "")
		wantError(t, err, landfall.ErrNotFound)
		for _, hash := range []byte{13, 14} {
			_, err = take(hash, "")
			wantError(t, err, nil)
		}
	}},
	// A browser left open is a console that anyone can use. Each way of ending
	// a session is tested alone. Ending all but one is for operators who have
	// changed their password and want to stay signed in.
	{"a session ends when it is ended, too old, or idle", func(t *testing.T, store landfall.Store) {
		ctx := t.Context()
		update(t, store, func(tx landfall.Tx) error {
			wantError(t, tx.StartSession(ctx, landfall.Session{ID: "x", Operator: "nobody"}, hour), landfall.ErrNotFound)
			return nil
		})
		update(t, store, func(tx landfall.Tx) error {
			return tx.CreateOperator(ctx, landfall.Operator{Name: "ada", Role: landfall.ConsoleOperator})
		})
		start := func(id string, length time.Duration) landfall.Session {
			session := landfall.Session{ID: id, Hash: [32]byte{id[0]}, Operator: "ada", Address: "127.0.0.1", Agent: "Browser"}
			update(t, store, func(tx landfall.Tx) error { return tx.StartSession(ctx, session, length) })
			return session
		}
		one, two, over := start("1", hour), start("2", hour), start("3", -time.Second)
		found := func(session landfall.Session, idle time.Duration) (got landfall.Session, err error) {
			inView(t, store, func(view landfall.View) error {
				var operator landfall.Operator
				if got, operator, err = view.Session(ctx, session.Hash, idle); err == nil {
					recent(t, operator.SignedInAt)
				}
				return nil
			})
			return got, err
		}
		got, err := found(one, hour)
		wantError(t, err, nil)
		recent(t, got.SeenAt)
		if lasts := got.EndsAt.Sub(got.CreatedAt); lasts < hour || lasts > hour+time.Minute {
			t.Errorf("it took %s", lasts)
		}
		one.CreatedAt, one.SeenAt, one.EndsAt = got.CreatedAt, got.SeenAt, got.EndsAt
		wantEqual(t, got, one)
		// With an idle time of zero, every session counts as idle.
		_, err = found(one, 0)
		wantError(t, err, landfall.ErrNotFound)
		_, err = found(over, hour)
		wantError(t, err, landfall.ErrNotFound)
		update(t, store, func(tx landfall.Tx) error {
			wantError(t, tx.TouchSession(ctx, "unknown"), nil)
			wantError(t, tx.EndSession(ctx, "unknown"), landfall.ErrNotFound)
			return tx.TouchSession(ctx, one.ID)
		})
		inView(t, store, func(view landfall.View) error {
			for _, whose := range []string{"ada", ""} {
				all, err := view.Sessions(ctx, whose, hour)
				if err != nil || len(all) != 2 {
					t.Errorf("sessions of %q: %d, %v", whose, len(all), err)
				}
			}
			return nil
		})
		update(t, store, func(tx landfall.Tx) error {
			dropped, err := tx.DropEndedSessions(ctx, 10)
			if dropped != 1 {
				t.Errorf("%d deleted, want 1", dropped)
			}
			return err
		})
		update(t, store, func(tx landfall.Tx) error {
			ended, err := tx.EndSessions(ctx, "ada", one.ID)
			if ended != 1 {
				t.Errorf("%d ended, want 1", ended)
			}
			return err
		})
		_, err = found(two, hour)
		wantError(t, err, landfall.ErrNotFound)
		update(t, store, func(tx landfall.Tx) error { return tx.EndSession(ctx, one.ID) })
		_, err = found(one, hour)
		wantError(t, err, landfall.ErrNotFound)
	}},
	// A sign-in from a remembered browser does not wait behind unknown callers. Only a few
	// are remembered, so that sign-ins do not fill the table.
	{"the last used browsers of an operator are remembered", func(t *testing.T, store landfall.Store) {
		ctx := t.Context()
		device := func(operator string, hash byte, network string) landfall.Device {
			return landfall.Device{Hash: [32]byte{hash}, Operator: operator, Network: network}
		}
		devices := func(operator string) map[landfall.Device]bool {
			found := map[landfall.Device]bool{}
			inView(t, store, func(view landfall.View) error {
				all, err := view.Devices(ctx, operator)
				for _, one := range all {
					found[one] = true
				}
				return err
			})
			return found
		}
		for _, name := range []string{"ada", "bob"} {
			update(t, store, func(tx landfall.Tx) error {
				return tx.CreateOperator(ctx, landfall.Operator{Name: name, Role: landfall.ConsoleOperator})
			})
			for _, one := range []landfall.Device{device(name, 1, "a"), device(name, 2, "b"), device(name, 1, "c"), device(name, 3, "d")} {
				update(t, store, func(tx landfall.Tx) error { return tx.SaveDevice(ctx, one, 2) })
			}
		}
		wantEqual(t, devices("ada"), map[landfall.Device]bool{device("ada", 1, "c"): true, device("ada", 3, "d"): true})
		wantEqual(t, devices("nobody"), map[landfall.Device]bool{})
		update(t, store, func(tx landfall.Tx) error { return tx.DropDevices(ctx, "ada") })
		if len(devices("ada")) != 0 || len(devices("bob")) != 2 {
			t.Errorf("ada has %v, bob has %v", devices("ada"), devices("bob"))
		}
	}},
	// Several servers may sample at once, and the curve of a run must not
	// depend on how many there are.
	{"a started run is sampled, no more often than requested", func(t *testing.T, store landfall.Store) {
		ctx := t.Context()
		createSupplier(t, store)
		var run landfall.Run
		update(t, store, func(tx landfall.Tx) (err error) {
			run, err = tx.CreateRun(ctx, landfall.Run{Plan: landfall.RunPlan{Supplier: supplierCode, Team: "T", Select: landfall.SelectPending}})
			return err
		})
		samples := func() (found []landfall.RunSample) {
			update(t, store, func(tx landfall.Tx) error { return tx.SampleRuns(ctx, hour) })
			inView(t, store, func(view landfall.View) (err error) {
				found, err = view.RunSamples(ctx, run.ID, time.Now().Add(-hour))
				return err
			})
			return found
		}
		if found := samples(); len(found) != 0 {
			t.Errorf("a run that has not begun has samples: %+v", found)
		}
		for done := false; !done; {
			var err error
			if done, err = store.ChooseRun(ctx, run.ID); err != nil {
				t.Fatal(err)
			}
		}
		update(t, store, func(tx landfall.Tx) error {
			begun, err := tx.Run(ctx, run.ID)
			if err != nil {
				return err
			}
			begun.Start()
			return tx.SaveRun(ctx, begun)
		})
		for range 2 {
			found := samples()
			if len(found) != 1 || found[0].Done != 0 {
				t.Fatalf("got %+v", found)
			}
			recent(t, found[0].At)
		}
		inView(t, store, func(view landfall.View) error {
			busy, err := view.InProgress(ctx)
			if len(busy) != 0 {
				t.Errorf("in progress: %v", busy)
			}
			return err
		})
	}},
	// A server that died cannot report it; the only sign is that it has not been
	// seen.
	{"a server is listed for as long as it reports itself", func(t *testing.T, store landfall.Store) {
		ctx := t.Context()
		for range 2 {
			update(t, store, func(tx landfall.Tx) error {
				return tx.TouchReplica(ctx, landfall.Replica{ID: "r1", Host: "a", Version: "v1"})
			})
		}
		inView(t, store, func(view landfall.View) error {
			found, err := view.Replicas(ctx, hour)
			if len(found) != 1 || found[0].ID != "r1" || found[0].Host != "a" || found[0].Version != "v1" {
				t.Fatalf("got %+v", found)
			}
			recent(t, found[0].StartedAt)
			recent(t, found[0].SeenAt)
			return err
		})
		inView(t, store, func(view landfall.View) error {
			found, err := view.Replicas(ctx, 0)
			if len(found) != 0 {
				t.Errorf("old: %+v", found)
			}
			return err
		})
	}},
}
