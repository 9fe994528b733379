package auth_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"landfall"
	"landfall/internal/service/auth"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
)

const longPassword = "correct horse battery staple"

// newSessions returns Sessions over a fresh database with an operator named ada
// who has chosen her password.
func newSessions(t *testing.T, clock func() time.Time) (*auth.Sessions, landfall.Store) {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), dbtest.SQLite(t), sqlstore.Options{Server: true, ApplySchema: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	front := auth.NewSessions(store, auth.SessionOptions{Clock: clock})
	link, hash := auth.NewInvitation()
	if err := store.Update(t.Context(), func(tx landfall.Tx) error {
		return tx.CreateOperator(t.Context(), landfall.Operator{Name: "ada", Role: landfall.ConsoleSupport, Invitation: hash, InvitationEndsAt: time.Now().Add(time.Hour)})
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := front.Accept(t.Context(), auth.Origin{Address: "10.9.9.9"}, link.Reveal(), longPassword); err != nil {
		t.Fatal(err)
	}
	return front, store
}

func signIn(front *auth.Sessions, name, password, address string) (auth.Secret, error) {
	in, err := front.SignIn(context.Background(), auth.SignIn{Origin: auth.Origin{Address: address}, Name: name, Password: password})
	return in.Secret, err
}

// Guessing is slowed down for existing and unknown names alike. The owner can
// still log in from a source used before.
func TestGuessingIsSlowedDownWithoutLockingOutTheOwner(t *testing.T) {
	now := time.Now()
	var mu sync.Mutex
	front, _ := newSessions(t, func() time.Time { mu.Lock(); defer mu.Unlock(); return now })
	if _, err := signIn(front, "ada", longPassword, "10.0.0.1"); err != nil {
		t.Fatal(err)
	}
	slowed := 0
	for i := range 60 {
		_, err := signIn(front, "ada", "guess", "192.0.2."+string(rune('0'+i%6)))
		refusal, _ := errors.AsType[*landfall.Error](err)
		if refusal == nil {
			t.Fatalf("guess %d: %v", i, err)
		}
		if refusal.Kind == landfall.TooMany {
			slowed++
		}
	}
	if slowed < 25 {
		t.Errorf("only %d of 60 guesses were slowed down", slowed)
	}
	if _, err := signIn(front, "ada", longPassword, "198.51.100.7"); err == nil {
		t.Error("a stranger got in while the name was being guessed")
	}
	if _, err := signIn(front, "ada", longPassword, "10.0.0.1"); err != nil {
		t.Errorf("the owner was delayed: %v", err)
	}
	mu.Lock()
	now = now.Add(time.Minute)
	mu.Unlock()
	if _, err := signIn(front, "ada", longPassword, "198.51.100.7"); err != nil {
		t.Errorf("the owner was locked out: %v", err)
	}
}

// A wrong password, an unknown name and a disabled operator get the same refusal.
func TestRefusalsRevealNothing(t *testing.T) {
	front, store := newSessions(t, nil)
	_, wrong := signIn(front, "ada", "not the one", "10.0.0.1")
	_, unknown := signIn(front, "nobody", longPassword, "10.0.0.1")
	secret, err := signIn(front, "ada", longPassword, "10.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Update(t.Context(), func(tx landfall.Tx) error {
		ada, err := tx.Operator(t.Context(), "ada")
		ada.Disabled = true
		return errors.Join(err, tx.SaveOperator(t.Context(), ada))
	}); err != nil {
		t.Fatal(err)
	}
	_, shut := signIn(front, "ada", longPassword, "10.0.0.1")
	for what, err := range map[string]error{"unknown": unknown, "shut out": shut} {
		if err == nil || wrong == nil || err.Error() != wrong.Error() {
			t.Errorf("%s: %v, a wrong password: %v", what, err, wrong)
		}
	}
	if _, _, err := front.Identify(t.Context(), secret.Reveal()); err == nil {
		t.Error("a disabled operator is still signed in")
	}
}

// Changing the password requires the old one and ends every other session.
func TestChangedPasswordEndsOtherSessions(t *testing.T) {
	front, _ := newSessions(t, nil)
	here, err := signIn(front, "ada", longPassword, "10.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	there, err := signIn(front, "ada", longPassword, "10.0.0.2")
	if err != nil {
		t.Fatal(err)
	}
	_, session, err := front.Identify(t.Context(), here.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	if err := front.ChangePassword(t.Context(), auth.Origin{}, session, "not the one", "another long password"); err == nil {
		t.Error("changed without the old password")
	}
	if err := front.ChangePassword(t.Context(), auth.Origin{}, session, longPassword, "another long password"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := front.Identify(t.Context(), here.Reveal()); err != nil {
		t.Errorf("the session that changed it ended: %v", err)
	}
	if _, _, err := front.Identify(t.Context(), there.Reveal()); err == nil {
		t.Error("another session still works")
	}
	if _, err := signIn(front, "ada", longPassword, "10.0.0.1"); err == nil {
		t.Error("the old password still works")
	}
}

// The audit has the first refusal at once and the number of the others later, however
// many there are, and no name that is not an operator's.
func TestRefusedSignInsAreCountedInTheAudit(t *testing.T) {
	front, store := newSessions(t, nil)
	const guesses = 25
	for i := range guesses {
		for _, name := range []string{"ada", "not an operator"} {
			if _, err := signIn(front, name, "guess", fmt.Sprintf("192.0.2.%d", i)); err == nil {
				t.Fatal("signed in with a guess")
			}
		}
	}
	if err := front.SaveRefusals(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if err := front.SaveRefusals(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	entries := func() (found []string) {
		if err := store.View(t.Context(), func(view landfall.View) error {
			links, err := view.AuditTrail(t.Context(), landfall.AuditQuery{Limit: 100})
			for _, link := range links {
				if link.Action == "session.refuse" {
					found = append(found, link.Subject+": "+link.Detail)
				}
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return found
	}
	// The first ones are written in the background.
	for end := time.Now().Add(20 * time.Second); len(entries()) < 4 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	found := entries()
	for _, subject := range []string{"ada: ", "unknown name: "} {
		first, summary := false, false
		for _, one := range found {
			first = first || strings.HasPrefix(one, subject) && !strings.Contains(one, "more")
			summary = summary || strings.HasPrefix(one, subject) && strings.Contains(one, fmt.Sprintf("; %d more since", guesses-1)) && strings.Contains(one, "from 24 networks")
		}
		if !first || !summary {
			t.Errorf("%sthe audit has %q", subject, found)
		}
	}
	if len(found) != 4 {
		t.Errorf("%d refusals left %q", 2*guesses, found)
	}
}
