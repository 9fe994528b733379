package auth_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/service/auth"
)

// Every malformed header gets one of three answers, each identical to the byte:
// the header is missing, it is invalid, or it contains a key instead of a token.
// The last one looks only at the prefix, so it reveals nothing about any key.
func TestForgedHeadersGetOneAnswer(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		gate := auth.NewAuthenticator(w.store, w.now)
		answers := map[string]bool{}
		for name, header := range auth.Forged() {
			principal, err := gate.Identify(t.Context(), header)
			var refusal *landfall.Error
			if !errors.As(err, &refusal) || refusal.Kind != landfall.Unauthenticated ||
				refusal.Code != landfall.CodeAuthenticationFailed || principal != (landfall.Principal{}) {
				t.Errorf("%s: %+v, %v", name, principal, err)
				continue
			}
			answers[refusal.Detail] = true
			if strings.Contains(refusal.Detail, "API key") != strings.Contains(strings.Join(header, ""), "lf_") {
				t.Errorf("%s: %s", name, refusal.Detail)
			}
		}
		if len(answers) > 2 {
			t.Errorf("the answers differ: %v", answers)
		}
		_, err := gate.Identify(t.Context(), nil)
		wantCode(t, "no header", err, landfall.CodeNotAuthenticated)
	})
}

func TestBadKeysGetOneAnswer(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		_, unknown := auth.NewKey("Acme", landfall.RoleImporter, time.Time{})
		_, other := auth.NewKey("Acme", landfall.RoleImporter, time.Time{})
		id := len("lf_") + len(w.key.ID)
		details := map[string]bool{}
		for name, text := range map[string]string{
			"unknown": unknown.Reveal(), "empty": "", "word": "secret", "right id, wrong secret": w.text[:id] + other.Reveal()[id:],
			"cut": w.text[:len(w.text)-1], "longer": w.text + "0", "blank behind": w.text + " ", "NUL": w.text + "\x00",
			"long": strings.Repeat("lf_", 100_000), "SQL": "lf_' OR 1=1 --", "hash": w.key.ID,
		} {
			_, err := w.issuer().Issue(t.Context(), "192.0.2.1", text)
			wantCode(t, name, err, landfall.CodeAuthenticationFailed)
			details[err.Error()] = true
			if len(text) > 20 && strings.Contains(err.Error(), text[:20]) {
				t.Errorf("%s: the error repeats the key", name)
			}
		}
		if len(details) != 1 {
			t.Errorf("the answers differ: %v", details)
		}
	})
}

// Guessing is slowed down without affecting the owner of the key.
func TestGuessingIsSlowedDown(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		now := time.Now()
		issuer := auth.NewIssuer(w.store, auth.Options{Clock: func() time.Time { return now }})
		_, other := auth.NewKey("Acme", landfall.RoleImporter, time.Time{})
		wrong := auth.WithID(other.Reveal(), w.key.ID)
		last := ""
		for range 11 {
			_, err := issuer.Issue(t.Context(), "192.0.2.66", wrong)
			last = code(err)
		}
		if last != landfall.CodeTooManyRequests {
			t.Fatalf("the eleventh failure on one key: %s", last)
		}
		_, err := issuer.Issue(t.Context(), "198.51.100.1", wrong)
		wantCode(t, "the same key from elsewhere", err, landfall.CodeTooManyRequests)
		var refusal *landfall.Error
		if errors.As(err, &refusal); refusal.Kind != landfall.TooMany || refusal.RetryAfter <= 0 || refusal.RetryAfter > 6*time.Second {
			t.Errorf("refusal is %+v", refusal)
		}
		for range 30 {
			_, err = issuer.Issue(t.Context(), "192.0.2.66", "nonsense")
		}
		wantCode(t, "nonsense from one address", err, landfall.CodeTooManyRequests)
		_, err = issuer.Refresh(t.Context(), "192.0.2.66", "nonsense")
		wantCode(t, "refresh from that address", err, landfall.CodeTooManyRequests)
		_, err = issuer.Issue(t.Context(), "192.0.2.66", w.text)
		wantCode(t, "the right key from that address", err, "")
		now = now.Add(refusal.RetryAfter)
		_, err = issuer.Issue(t.Context(), "198.51.100.2", wrong)
		wantCode(t, "after waiting", err, landfall.CodeAuthenticationFailed)
	})
}
