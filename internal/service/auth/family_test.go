package auth_test

import (
	"testing"
	"time"

	"landfall"
	"landfall/internal/service/auth"
)

// A refresh token that is presented again after its use has two holders. One of
// them may be a thief, and the service cannot tell which.
func TestRefreshTokenUsedTwiceEndsItsFamily(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		ctx := t.Context()
		var logins []auth.Login
		issuer := auth.NewIssuer(w.store, auth.Options{Clock: w.now, Watch: func(login auth.Login) { logins = append(logins, login) }})
		gate := auth.NewAuthenticator(w.store, w.now)
		refresh := func(grant auth.Grant) (auth.Grant, error) {
			return issuer.Refresh(ctx, "192.0.2.1", grant.RefreshToken.Reveal())
		}
		other := w.mustIssue(t, issuer)
		first := w.mustIssue(t, issuer)
		second, err := refresh(first)
		wantCode(t, "the first use", err, "")
		third, err := refresh(second)
		wantCode(t, "the next one", err, "")

		_, err = refresh(first)
		wantCode(t, "a second use", err, landfall.CodeAuthenticationFailed)
		if last := logins[len(logins)-1]; !last.Reused || last.Outcome != auth.Refused || last.KeyID != w.key.ID {
			t.Errorf("the log says %+v", last)
		}
		_, err = refresh(third)
		wantCode(t, "the family's newest refresh token", err, landfall.CodeAuthenticationFailed)
		for _, grant := range []auth.Grant{first, second, third} {
			_, err = gate.Identify(ctx, show(grant))
			wantCode(t, "an access token of the family", err, landfall.CodeAuthenticationFailed)
		}
		// Another login with the same key is not affected.
		_, err = gate.Identify(ctx, show(other))
		wantCode(t, "another family's access token", err, "")
		_, err = refresh(other)
		wantCode(t, "another family's refresh token", err, "")
	})
}

func TestTokenFamiliesExpire(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		issuer := auth.NewIssuer(w.store, auth.Options{Clock: w.now, RefreshLife: 7 * 24 * time.Hour, FamilyLife: 10 * 24 * time.Hour})
		grant := w.mustIssue(t, issuer)
		for days := range 9 {
			w.pass(24 * time.Hour)
			var err error
			grant, err = issuer.Refresh(t.Context(), "192.0.2.1", grant.RefreshToken.Reveal())
			if err != nil {
				t.Fatalf("after %d days: %v", days+1, err)
			}
			if left := time.Duration(9-days) * 24 * time.Hour; grant.RefreshExpiresIn > min(left, 7*24*time.Hour) {
				t.Errorf("after %d days a refresh token of %s", days+1, grant.RefreshExpiresIn)
			}
		}
		w.pass(23*time.Hour + 30*time.Minute)
		grant, err := issuer.Refresh(t.Context(), "192.0.2.1", grant.RefreshToken.Reveal())
		if err != nil || grant.ExpiresIn > 30*time.Minute {
			t.Errorf("the last access token lives %s (%v)", grant.ExpiresIn, err)
		}
		w.pass(31 * time.Minute)
		_, err = issuer.Refresh(t.Context(), "192.0.2.1", grant.RefreshToken.Reveal())
		wantCode(t, "refreshing after the end", err, landfall.CodeAuthenticationFailed)
		_, err = auth.NewAuthenticator(w.store, w.now).Identify(t.Context(), show(grant))
		wantCode(t, "an access token after the end", err, landfall.CodeAuthenticationFailed)
		w.pass(2 * time.Hour)
		if _, err := issuer.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, err = issuer.Refresh(t.Context(), "192.0.2.1", grant.RefreshToken.Reveal())
		wantCode(t, "a forgotten family", err, landfall.CodeAuthenticationFailed)
	})
}

// The number of tokens per minute is limited. A valid key once obtained 1,500
// tokens in a second.
func TestTokensAMinute(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		ctx := t.Context()
		w.update(t, func(tx landfall.Tx) error { return tx.SetQuotas(ctx, "Acme", landfall.Quotas{TokensPerMinute: 5}) })
		var last auth.Login
		issuer := auth.NewIssuer(w.store, auth.Options{Clock: w.now, Watch: func(login auth.Login) { last = login }})
		var grant auth.Grant
		for range 5 {
			grant = w.mustIssue(t, issuer)
		}
		for range 100 { // failures of others do not count
			_, _ = issuer.Issue(ctx, "192.0.2.7", auth.WithID(w.text, w.key.ID)+"x")
		}
		_, err := issuer.Issue(ctx, "192.0.2.1", w.text)
		wantCode(t, "the sixth", err, landfall.CodeQuotaExceeded)
		if last.Outcome != auth.OverQuota || last.Organisation != "Acme" {
			t.Errorf("the log says %+v", last)
		}
		_, err = issuer.Refresh(ctx, "192.0.2.1", grant.RefreshToken.Reveal())
		wantCode(t, "a refresh as the sixth", err, landfall.CodeQuotaExceeded)
		w.pass(13 * time.Second)
		_, err = issuer.Refresh(ctx, "192.0.2.1", grant.RefreshToken.Reveal())
		wantCode(t, "a refresh after a fifth of a minute", err, "")
		w.update(t, func(tx landfall.Tx) error { return tx.SetQuotas(ctx, "Acme", landfall.Quotas{}) })
		for range 20 {
			w.mustIssue(t, issuer)
		}
	})
}

// The operator sees who tried to log in, from where and with which result, and no
// secret.
func TestLoginsAreObserved(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		var logins []auth.Login
		issuer := auth.NewIssuer(w.store, auth.Options{
			Clock: w.now, Watch: func(login auth.Login) { logins = append(logins, login) }, Limits: auth.Limits{SourceBurst: 3},
		})
		grant := w.mustIssue(t, issuer)
		_, _ = issuer.Refresh(t.Context(), "192.0.2.1", grant.RefreshToken.Reveal())
		wrong, _ := auth.NewKey("Acme", landfall.RoleImporter, time.Time{})
		for range 2 {
			_, _ = issuer.Issue(t.Context(), "192.0.2.2", auth.WithID(w.text, wrong.ID))
		}
		for range 2 {
			_, _ = issuer.Issue(t.Context(), "192.0.2.2", "nonsense")
		}
		want := []auth.Login{
			{With: "api_key", Outcome: auth.Granted, KeyID: w.key.ID, Organisation: "Acme", Source: "192.0.2.1"},
			{With: "refresh_token", Outcome: auth.Granted, KeyID: w.key.ID, Organisation: "Acme", Source: "192.0.2.1"},
			{With: "api_key", Outcome: auth.Refused, KeyID: wrong.ID, Source: "192.0.2.2"},
			{With: "api_key", Outcome: auth.Refused, KeyID: wrong.ID, Source: "192.0.2.2"},
			{With: "api_key", Outcome: auth.Refused, Source: "192.0.2.2"},
			{With: "api_key", Outcome: auth.Throttled, Source: "192.0.2.2"},
		}
		if len(logins) != len(want) {
			t.Fatalf("%d logins: %+v", len(logins), logins)
		}
		for i := range want {
			if logins[i] != want[i] {
				t.Errorf("login %d is %+v, want %+v", i, logins[i], want[i])
			}
		}
	})
}
