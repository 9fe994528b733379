package auth_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"landfall"
	"landfall/internal/service/auth"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
)

// fixture is a store with one organisation and one key, and an adjustable clock.
type fixture struct {
	store landfall.Store
	key   landfall.APIKey
	text  string
	ahead atomic.Int64 // nanoseconds the clock is ahead of the real one
}

func (w *fixture) now() time.Time { return time.Now().Add(time.Duration(w.ahead.Load())) }

func (w *fixture) pass(d time.Duration) { w.ahead.Add(int64(d)) }

func (w *fixture) issuer() *auth.Issuer {
	return auth.NewIssuer(w.store, auth.Options{Clock: w.now})
}

// each runs a test on both databases.
func each(t *testing.T, test func(*testing.T, *fixture)) {
	t.Helper()
	for name, address := range map[string]func(testing.TB) string{
		"sqlite":     dbtest.SQLite,
		"postgresql": dbtest.Postgres,
	} {
		t.Run(name, func(t *testing.T) {
			store, err := sqlstore.Open(t.Context(), address(t), sqlstore.Options{Server: true, ApplySchema: true})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() })
			w := &fixture{store: store}
			var text auth.Secret
			w.key, text = auth.NewKey("Acme", landfall.RoleImporter, time.Time{})
			w.text = text.Reveal()
			w.update(t, func(tx landfall.Tx) error {
				return errors.Join(tx.CreateOrganisation(t.Context(), "Acme"), tx.CreateKey(t.Context(), w.key))
			})
			test(t, w)
		})
	}
}

func (w *fixture) update(t *testing.T, fn func(landfall.Tx) error) {
	t.Helper()
	if err := w.store.Update(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// mustIssue issues a grant for the fixture's key.
func (w *fixture) mustIssue(t *testing.T, issuer *auth.Issuer) auth.Grant {
	t.Helper()
	grant, err := issuer.Issue(t.Context(), "192.0.2.1", w.text)
	if err != nil {
		t.Fatal(err)
	}
	return grant
}

func show(grant auth.Grant) []string { return []string{"Token " + grant.Token.Reveal()} }

// code returns the code of an error that a user may see.
func code(err error) string {
	if known, ok := errors.AsType[*landfall.Error](err); ok {
		return known.Code
	}
	if err != nil {
		return "foreign error: " + err.Error()
	}
	return ""
}

func wantCode(t *testing.T, what string, err error, want string) {
	t.Helper()
	if got := code(err); got != want {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// TestIssueIdentifyRefresh checks that each kind of token works for one purpose
// only. A refresh token accepted as an access token would give access for a week.
func TestIssueIdentifyRefresh(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		issuer, gate := w.issuer(), auth.NewAuthenticator(w.store, w.now)
		grant := w.mustIssue(t, issuer)
		if grant.ExpiresIn != time.Hour || grant.RefreshExpiresIn != 7*24*time.Hour {
			t.Errorf("lives are %s and %s", grant.ExpiresIn, grant.RefreshExpiresIn)
		}
		principal, err := gate.Identify(t.Context(), show(grant))
		if want := (landfall.Principal{Organisation: "Acme", KeyID: w.key.ID, Role: landfall.RoleImporter, Quotas: landfall.DefaultQuotas()}); err != nil || principal != want {
			t.Fatalf("%+v, %v", principal, err)
		}
		_, err = gate.Identify(t.Context(), []string{"Token " + grant.RefreshToken.Reveal()})
		wantCode(t, "refresh token at the gate", err, landfall.CodeAuthenticationFailed)
		_, err = issuer.Refresh(t.Context(), "192.0.2.1", grant.Token.Reveal())
		wantCode(t, "access token as refresh token", err, landfall.CodeAuthenticationFailed)

		next, err := issuer.Refresh(t.Context(), "192.0.2.1", grant.RefreshToken.Reveal())
		if err != nil {
			t.Fatal(err)
		}
		_, err = gate.Identify(t.Context(), show(next))
		wantCode(t, "refreshed token", err, "")
		_, err = issuer.Refresh(t.Context(), "192.0.2.1", grant.RefreshToken.Reveal())
		wantCode(t, "spent refresh token", err, landfall.CodeAuthenticationFailed)
		// Use another authenticator, because this one may still have its last
		// result cached.
		_, err = auth.NewAuthenticator(w.store, w.now).Identify(t.Context(), show(next))
		wantCode(t, "token after a spent one was shown", err, landfall.CodeAuthenticationFailed)
	})
}

// TestExpiryToTheInstant checks tokens up to the exact moment they expire. An
// off-by-one comparison would keep every token valid a little too long.
func TestExpiryToTheInstant(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		var now time.Time
		clock := func() time.Time { return now }
		issuer := auth.NewIssuer(w.store, auth.Options{Clock: clock})
		gate := auth.NewAuthenticator(w.store, clock)
		// The database stores microseconds; its clock only has to be close to ours.
		start := time.Now().Truncate(time.Microsecond)
		now = start
		grant := w.mustIssue(t, issuer)
		for after, want := range map[time.Duration]string{
			0:                               "",
			time.Hour - time.Microsecond:    "",
			time.Hour:                       landfall.CodeAuthenticationFailed,
			time.Hour + 10*time.Millisecond: landfall.CodeAuthenticationFailed,
			1000 * time.Hour:                landfall.CodeAuthenticationFailed,
		} {
			now = start.Add(after)
			_, err := gate.Identify(t.Context(), show(grant))
			wantCode(t, "access token after "+after.String(), err, want)
		}
		now = start.Add(7 * 24 * time.Hour)
		_, err := issuer.Refresh(t.Context(), "192.0.2.1", grant.RefreshToken.Reveal())
		wantCode(t, "refresh token at its end", err, landfall.CodeAuthenticationFailed)
		now = start.Add(7*24*time.Hour - time.Microsecond)
		_, err = issuer.Refresh(t.Context(), "192.0.2.1", grant.RefreshToken.Reveal())
		wantCode(t, "refresh token before its end", err, "")
	})
}

// A cached success must not outlive the token: the expiry is compared on every
// use.
func TestExpiryInsideTheCache(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		now := time.Now().Truncate(time.Microsecond)
		clock := func() time.Time { return now }
		grant := w.mustIssue(t, auth.NewIssuer(w.store, auth.Options{Clock: clock}))
		gate := auth.NewAuthenticator(w.store, clock)
		now = now.Add(time.Hour - time.Millisecond)
		_, err := gate.Identify(t.Context(), show(grant))
		wantCode(t, "a millisecond before the end", err, "")
		now = now.Add(time.Millisecond)
		_, err = gate.Identify(t.Context(), show(grant))
		wantCode(t, "at the end", err, landfall.CodeAuthenticationFailed)
	})
}

// TestRevocationReachesEveryReplica revokes a key in every possible way. A
// replica that keeps trusting its cache would let in a caller whose access was
// revoked.
func TestRevocationReachesEveryReplica(t *testing.T) {
	ways := map[string]func(context.Context, landfall.Tx, *fixture) error{
		"key revoked": func(ctx context.Context, tx landfall.Tx, w *fixture) error { return tx.RevokeKey(ctx, w.key.ID) },
		"key expired": func(ctx context.Context, tx landfall.Tx, w *fixture) error {
			return tx.ExpireKey(ctx, w.key.ID, w.now())
		},
		"organisation disabled": func(ctx context.Context, tx landfall.Tx, _ *fixture) error {
			return tx.SetOrganisationDisabled(ctx, "Acme", true)
		},
	}
	for name, end := range ways {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w *fixture) {
				issuer := w.issuer()
				grant := w.mustIssue(t, issuer)
				gates := []*auth.Authenticator{auth.NewAuthenticator(w.store, w.now), auth.NewAuthenticator(w.store, w.now)}
				for _, gate := range gates {
					_, err := gate.Identify(t.Context(), show(grant))
					wantCode(t, "before", err, "")
				}
				w.update(t, func(tx landfall.Tx) error { return end(t.Context(), tx, w) })
				w.pass(60 * time.Millisecond) // longer than results are cached
				for _, gate := range gates {
					_, err := gate.Identify(t.Context(), show(grant))
					wantCode(t, "after", err, landfall.CodeAuthenticationFailed)
				}
				_, err := issuer.Refresh(t.Context(), "192.0.2.1", grant.RefreshToken.Reveal())
				wantCode(t, "refresh", err, landfall.CodeAuthenticationFailed)
				_, err = issuer.Issue(t.Context(), "192.0.2.1", w.text)
				wantCode(t, "issue", err, landfall.CodeAuthenticationFailed)
			})
		})
	}
}

// TestRotationOverlap uses both keys while they overlap, so that rotating keys
// does not interrupt running work. The old key must expire after that.
func TestRotationOverlap(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		issuer, gate := w.issuer(), auth.NewAuthenticator(w.store, w.now)
		old := w.mustIssue(t, issuer)
		next, text := auth.NewKey("Acme", landfall.RoleImporter, time.Time{})
		w.update(t, func(tx landfall.Tx) error {
			return errors.Join(tx.CreateKey(t.Context(), next), tx.ExpireKey(t.Context(), w.key.ID, w.now().Add(10*time.Minute)))
		})
		grant, err := issuer.Issue(t.Context(), "192.0.2.1", text.Reveal())
		wantCode(t, "new key in the overlap", err, "")
		w.mustIssue(t, issuer)
		for _, shown := range []auth.Grant{old, grant} {
			_, err := gate.Identify(t.Context(), show(shown))
			wantCode(t, "token in the overlap", err, "")
		}
		w.pass(11 * time.Minute)
		_, err = issuer.Issue(t.Context(), "192.0.2.1", w.text)
		wantCode(t, "old key after the overlap", err, landfall.CodeAuthenticationFailed)
		_, err = gate.Identify(t.Context(), show(old))
		wantCode(t, "old key's token after the overlap", err, landfall.CodeAuthenticationFailed)
		_, err = gate.Identify(t.Context(), show(grant))
		wantCode(t, "new key's token after the overlap", err, "")
	})
}

// TestRefreshTokenIsValidOnce races for one refresh token on two replicas. If both
// succeed, a thief could refresh alongside the owner without being noticed.
func TestRefreshTokenIsValidOnce(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		issuers := []*auth.Issuer{w.issuer(), w.issuer()}
		grant := w.mustIssue(t, issuers[0])
		var good, bad atomic.Int32
		var group sync.WaitGroup
		start := make(chan struct{})
		for i := range 32 {
			group.Go(func() {
				<-start
				refresh := func() error {
					_, err := issuers[i%2].Refresh(t.Context(), "192.0.2."+string(rune('0'+i%10)), grant.RefreshToken.Reveal())
					return err
				}
				err := refresh()
				for code(err) == landfall.CodeServiceUnavailable { // a busy machine makes some calls retry
					err = refresh()
				}
				switch code(err) {
				case "":
					good.Add(1)
				case landfall.CodeAuthenticationFailed:
					bad.Add(1)
				default:
					t.Errorf("refresh: %v", err)
				}
			})
		}
		close(start)
		group.Wait()
		if good.Load() != 1 || bad.Load() != 31 {
			t.Errorf("%d got a grant, %d were refused", good.Load(), bad.Load())
		}
	})
}

// TestSweepDeletesExpiredTokens checks that expired tokens are deleted, and not
// before they expire. Otherwise the table would grow with every login.
func TestSweepDeletesExpiredTokens(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		issuer := w.issuer()
		grant := w.mustIssue(t, issuer)
		steps := []struct {
			later   time.Duration
			dropped int
		}{
			{0, 0},
			{90 * time.Minute, 0}, // expired, but only just
			{time.Hour, 1},        // the access token
			{6 * 24 * time.Hour, 0},
			{2 * 24 * time.Hour, 1}, // the refresh token
		}
		for _, step := range steps {
			w.pass(step.later)
			if dropped, err := issuer.Sweep(t.Context()); err != nil || dropped != step.dropped {
				t.Errorf("after another %s: dropped %d, %v", step.later, dropped, err)
			}
		}
		_, err := issuer.Refresh(t.Context(), "192.0.2.1", grant.RefreshToken.Reveal())
		wantCode(t, "a forgotten refresh token", err, landfall.CodeAuthenticationFailed)
	})
}

// away is a store whose database does not answer.
type away struct {
	landfall.Store
	err error
}

func (a away) View(context.Context, func(landfall.View) error) error { return a.err }

func (a away) Update(context.Context, func(landfall.Tx) error) error { return a.err }

// TestDatabaseUnavailable authenticates while the database is unavailable. A caller who
// is told that a token is invalid would discard a valid one and request another.
func TestDatabaseUnavailable(t *testing.T) {
	_, key := auth.NewKey("Acme", landfall.RoleImporter, time.Time{})
	tokens := auth.Tokens()
	for _, cause := range []error{landfall.ErrUnavailable, landfall.ErrUnknownOutcome, context.DeadlineExceeded} {
		store := away{err: cause}
		issuer, gate := auth.NewIssuer(store, auth.Options{}), auth.NewAuthenticator(store, nil)
		_, issued := issuer.Issue(t.Context(), "192.0.2.1", key.Reveal())
		_, refreshed := issuer.Refresh(t.Context(), "192.0.2.1", tokens[1])
		_, identified := gate.Identify(t.Context(), []string{tokens[0]})
		for _, err := range []error{issued, refreshed, identified} {
			var known *landfall.Error
			if !errors.As(err, &known) || known.Kind != landfall.Unavailable || known.RetryAfter <= 0 || !errors.Is(err, cause) {
				t.Errorf("%v gives %v", cause, err)
			}
		}
	}
	broken := errors.New("broken")
	_, err := auth.NewAuthenticator(away{err: broken}, nil).Identify(t.Context(), []string{tokens[0]})
	if !errors.Is(err, broken) || code(err) == landfall.CodeServiceUnavailable {
		t.Errorf("a foreign error became %v", err)
	}
}

// TestKeyUsesAreStored presents a token and checks that the operator sees
// that its key is in use.
func TestKeyUsesAreStored(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		used := func() time.Time {
			var key landfall.APIKey
			if err := w.store.View(t.Context(), func(view landfall.View) (err error) {
				key, err = view.Key(t.Context(), w.key.ID)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			return key.UsedAt
		}
		if !used().IsZero() {
			t.Error("it was used before it was shown")
		}
		grant := w.mustIssue(t, w.issuer())
		if time.Since(used()) > time.Minute {
			t.Error("obtaining a token is no use")
		}
		gate := auth.NewAuthenticator(w.store, w.now)
		if _, err := gate.Identify(t.Context(), []string{grant.Token.Reveal()}); err != nil {
			t.Fatal(err)
		}
		if err := gate.SaveKeyUses(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left := gate.Uses(); len(left) != 0 {
			t.Errorf("%v is still to be written down", left)
		}
		for range 2 {
			if _, err := gate.Identify(t.Context(), []string{grant.Token.Reveal()}); err != nil {
				t.Fatal(err)
			}
		}
		if found := gate.Uses(); len(found) != 1 || found[0] != w.key.ID {
			t.Errorf("used are %v", found)
		}
	})
}
