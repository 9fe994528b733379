package storetest

import (
	"testing"
	"time"

	"landfall"
)

// hour is an idle time that no case comes near.
const hour = time.Hour

var operators = []check{
	{"an operator is kept, changed and found by an invitation that has not ended", func(t *testing.T, store landfall.Store) {
		ctx := t.Context()
		ada := landfall.Operator{
			Name: "ada", Role: landfall.ActingOperator, Invitation: [32]byte{1}, InvitationEndsAt: time.Now().Add(hour).Truncate(time.Second).UTC(),
		}
		update(t, store, func(tx landfall.Tx) error { return tx.CreateOperator(ctx, ada) })
		update(t, store, func(tx landfall.Tx) error {
			want(t, tx.CreateOperator(ctx, ada), landfall.ErrExists)
			want(t, tx.SaveOperator(ctx, landfall.Operator{Name: "nobody", Role: landfall.Support}), landfall.ErrNotFound)
			found, err := tx.InvitedOperator(ctx, ada.Invitation)
			recent(t, found.CreatedAt)
			ada.CreatedAt = found.CreatedAt
			same(t, found, ada)
			return err
		})
		late := landfall.Operator{Name: "bob", Role: landfall.Support, Invitation: [32]byte{2}, InvitationEndsAt: time.Now().Add(-time.Minute)}
		update(t, store, func(tx landfall.Tx) error { return tx.CreateOperator(ctx, late) })
		ada.Invitation, ada.InvitationEndsAt, ada.Password, ada.Second, ada.SecondUsed = [32]byte{}, time.Time{}, "hash", "secret", 7
		update(t, store, func(tx landfall.Tx) error { return tx.SaveOperator(ctx, ada) })
		look(t, store, func(view landfall.View) error {
			for _, invitation := range [][32]byte{{1}, {2}, {}} {
				_, err := view.InvitedOperator(ctx, invitation)
				want(t, err, landfall.ErrNotFound)
			}
			all, err := view.Operators(ctx)
			if len(all) != 2 || all[0].Name != "ada" || all[1].Name != "bob" {
				t.Fatalf("got %+v", all)
			}
			recent(t, all[0].PasswordAt)
			ada.PasswordAt = all[0].PasswordAt
			same(t, all[0], ada)
			return err
		})
		// Something else changes, and when the password was chosen stays.
		ada.Role = landfall.Support
		update(t, store, func(tx landfall.Tx) error { return tx.SaveOperator(ctx, ada) })
		look(t, store, func(view landfall.View) error {
			found, err := view.Operator(ctx, "ada")
			same(t, found, ada)
			return err
		})
	}},
	{"a session is over when it is ended, has lasted, or was idle", func(t *testing.T, store landfall.Store) {
		ctx := t.Context()
		update(t, store, func(tx landfall.Tx) error {
			want(t, tx.StartSession(ctx, landfall.Session{ID: "x", Operator: "nobody"}, hour), landfall.ErrNotFound)
			return nil
		})
		update(t, store, func(tx landfall.Tx) error {
			return tx.CreateOperator(ctx, landfall.Operator{Name: "ada", Role: landfall.ActingOperator})
		})
		start := func(id string, length time.Duration) landfall.Session {
			session := landfall.Session{ID: id, Hash: [32]byte{id[0]}, Operator: "ada", Address: "127.0.0.1", Agent: "Browser"}
			update(t, store, func(tx landfall.Tx) error { return tx.StartSession(ctx, session, length) })
			return session
		}
		one, two, over := start("1", hour), start("2", hour), start("3", -time.Second)
		found := func(session landfall.Session, idle time.Duration) (got landfall.Session, err error) {
			look(t, store, func(view landfall.View) error {
				var operator landfall.Operator
				if got, operator, err = view.Session(ctx, session.Hash, idle); err == nil {
					recent(t, operator.SignedInAt)
				}
				return nil
			})
			return got, err
		}
		got, err := found(one, hour)
		want(t, err, nil)
		recent(t, got.SeenAt)
		one.CreatedAt, one.SeenAt, one.EndsAt = got.CreatedAt, got.SeenAt, got.CreatedAt.Add(hour)
		same(t, got, one)
		_, err = found(one, 0)
		want(t, err, landfall.ErrNotFound)
		_, err = found(over, hour)
		want(t, err, landfall.ErrNotFound)
		update(t, store, func(tx landfall.Tx) error {
			want(t, tx.SeeSession(ctx, "unknown"), nil)
			want(t, tx.EndSession(ctx, "unknown"), landfall.ErrNotFound)
			return tx.SeeSession(ctx, one.ID)
		})
		look(t, store, func(view landfall.View) error {
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
				t.Errorf("%d forgotten, want 1", dropped)
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
		want(t, err, landfall.ErrNotFound)
		update(t, store, func(tx landfall.Tx) error { return tx.EndSession(ctx, one.ID) })
		_, err = found(one, hour)
		want(t, err, landfall.ErrNotFound)
	}},
}
