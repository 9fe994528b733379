package graphql_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/api/graphql"
	"landfall/internal/service/auth"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
)

// TestTokenEndToEnd goes from an API key to a principal and through every kind of
// invalid key, over a real store.
func TestTokenEndToEnd(t *testing.T) {
	store, err := sqlstore.Open(t.Context(), dbtest.SQLite(t),
		sqlstore.Options{Server: true, ApplySchema: true})
	if err != nil {
		t.Fatal(err)
	}
	good, goodText := auth.NewKey("Acme", landfall.RoleImporter, time.Time{})
	revoked, revokedText := auth.NewKey("Acme", landfall.RoleImporter, time.Time{})
	expired, expiredText := auth.NewKey("Acme", landfall.RoleImporter, time.Now().Add(-time.Second))
	_, unknownText := auth.NewKey("Acme", landfall.RoleImporter, time.Time{})
	ctx := t.Context()
	err = store.Update(ctx, func(tx landfall.Tx) error {
		return errors.Join(tx.CreateOrganisation(ctx, "Acme"), tx.CreateKey(ctx, good), tx.CreateKey(ctx, revoked),
			tx.CreateKey(ctx, expired), tx.RevokeKey(ctx, revoked.ID))
	})
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	handler := graphql.New(auth.NewIssuer(store, auth.Options{}), graphql.Options{Log: slog.New(slog.NewJSONHandler(&log, nil))})
	try := func(key string) answer { return ask(t, handler, post(login, map[string]any{"key": key})) }

	got := try(goodText.Reveal())
	var token struct{ Token, RefreshToken string }
	if err := json.Unmarshal(got.Data["obtainServiceToken"], &token); err != nil || got.Code != http.StatusOK {
		t.Fatalf("%d %v", got.Code, err)
	}
	principal, err := auth.NewAuthenticator(store, nil).Identify(ctx, []string{"Token " + token.Token})
	if err != nil || principal.Organisation != "Acme" || principal.KeyID != good.ID {
		t.Errorf("%+v, %v", principal, err)
	}

	// Every invalid key gets the same answer, to the byte.
	bodies := map[string]bool{}
	for _, key := range []string{revokedText.Reveal(), expiredText.Reveal(), unknownText.Reveal(), "nonsense", "", token.Token} {
		got := try(key)
		if got.Code != http.StatusOK || got.code() != "AUTHENTICATION_FAILED" || string(got.Data["obtainServiceToken"]) != "null" {
			t.Errorf("%d %s", got.Code, got.Body)
		}
		if key != "" && strings.Contains(got.Body.String(), key) {
			t.Errorf("the key is repeated in %s", got.Body)
		}
		bodies[got.Body.String()] = true
	}
	if len(bodies) != 1 {
		t.Errorf("the answers differ: %v", bodies)
	}

	// Repeated failures are slowed down; the right key still works.
	for range 40 {
		got = try("nonsense")
	}
	if got.Code != http.StatusTooManyRequests || got.code() != "RATE_LIMITED" || got.Header().Get("Retry-After") == "" {
		t.Errorf("after 40 failures: %d %v %s", got.Code, got.Header(), got.Body)
	}
	if got := try(goodText.Reveal()); got.Code != http.StatusOK || len(got.Errors) > 0 {
		t.Errorf("the right key after them: %d %s", got.Code, got.code())
	}

	if err := store.Close(); err != nil {
		t.Error(err)
	}
	if got := try(goodText.Reveal()); got.Code != http.StatusServiceUnavailable || got.code() != "SERVICE_UNAVAILABLE" {
		t.Errorf("without a database: %d %s", got.Code, got.Body)
	}
	for _, secret := range []string{goodText.Reveal(), revokedText.Reveal(), unknownText.Reveal(), token.Token, token.RefreshToken} {
		if strings.Contains(log.String(), secret[len(secret)-40:]) {
			t.Errorf("a secret was logged: %s", log.String())
		}
	}
	if log.Len() == 0 {
		t.Error("nothing was logged about the lost database")
	}
}
