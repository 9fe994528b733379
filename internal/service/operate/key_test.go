package operate_test

import (
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/service/auth"
	"landfall/internal/service/operate"
)

// TestKeyLife rotates a key with an overlap. If the old key ended at once, an
// import would stop in the middle of the night; if it never ended, it would not
// be rotated.
func TestKeyLife(t *testing.T) {
	each(t, func(t *testing.T, d fixture) {
		ctx := t.Context()
		must(t, d.CreateOrganisation(ctx, "Acme"))
		key, text, err := d.CreateKey(ctx, operate.KeyRequest{Organisation: "Acme", Role: landfall.RoleViewer, Life: 90 * 24 * time.Hour})
		must(t, err)
		issuer := auth.NewIssuer(d.store, auth.Options{})
		must(t, second(issuer.Issue(ctx, "192.0.2.1", text.Reveal())))

		next, nextText, err := d.RotateKey(ctx, key.ID, time.Hour)
		must(t, err)
		must(t, second(issuer.Issue(ctx, "192.0.2.1", text.Reveal())), second(issuer.Issue(ctx, "192.0.2.1", nextText.Reveal())))
		keys, err := d.Keys(ctx, "Acme")
		must(t, err)
		if len(keys) != 2 || keys[0].ID != key.ID || keys[1].ID != next.ID || keys[1].Role != landfall.RoleViewer {
			t.Fatalf("keys are %+v", keys)
		}
		if left := time.Until(keys[0].ExpiresAt); left > time.Hour || left < 50*time.Minute {
			t.Errorf("the old key lives another %s", left)
		}
		if left := time.Until(keys[1].ExpiresAt); left > 90*24*time.Hour+time.Minute || left < 89*24*time.Hour {
			t.Errorf("the new key lives another %s", left)
		}
		last, _, err := d.RotateKey(ctx, next.ID, 0)
		must(t, err)
		_, err = issuer.Issue(ctx, "192.0.2.1", nextText.Reveal())
		refusal(t, "old key without overlap", err, landfall.CodeAuthenticationFailed)
		_, _, err = d.RotateKey(ctx, next.ID, 0)
		refusal(t, "rotating an ended key", err, landfall.CodeValidationFailed, "key create")
		must(t, d.RevokeKey(ctx, last.ID), d.RevokeKey(ctx, last.ID))
		_, _, err = d.RotateKey(ctx, last.ID, 0)
		refusal(t, "rotating a revoked key", err, landfall.CodeValidationFailed, "revoked")
		all, err := d.Keys(ctx, "")
		must(t, err)
		if len(all) != 3 || all[2].RevokedAt.IsZero() {
			t.Errorf("keys are %+v", all)
		}
		history := strings.Join(append(d.audit(t, key.ID), d.audit(t, next.ID)...), "\n")
		for _, part := range []string{"key.create: organisation=\"Acme\", role=viewer", "key.rotate: replaced by " + next.ID, "in place of " + key.ID} {
			if !strings.Contains(history, part) {
				t.Errorf("%q is not in the audit:\n%s", part, history)
			}
		}
		if strings.Contains(history, text.Reveal()[14:]) {
			t.Error("the secret is in the audit")
		}
	})
}

// TestKeyRefusals asks for keys that make no sense. If one were created all the
// same, it would be a credential that nobody watches.
func TestKeyRefusals(t *testing.T) {
	each(t, func(t *testing.T, d fixture) {
		ctx := t.Context()
		must(t, d.CreateOrganisation(ctx, "Acme"))
		_, _, err := d.CreateKey(ctx, operate.KeyRequest{Organisation: "Acme", Role: "admin"})
		refusal(t, "role", err, landfall.CodeValidationFailed, "importer", "viewer")
		_, _, err = d.CreateKey(ctx, operate.KeyRequest{Organisation: "Acme", Role: landfall.RoleViewer, Life: -1})
		refusal(t, "life", err, landfall.CodeValidationFailed, "past")
		_, text, err := d.CreateKey(ctx, operate.KeyRequest{Organisation: "Nobody", Role: landfall.RoleViewer})
		refusal(t, "organisation", err, landfall.CodeNotFound, "Nobody")
		if text.Reveal() != "" {
			t.Error("a refused key was shown")
		}
		_, err = d.Keys(ctx, "Nobody")
		refusal(t, "keys of nobody", err, landfall.CodeNotFound, "Nobody")
		refusal(t, "revoke", d.RevokeKey(ctx, "none"), landfall.CodeNotFound, "key list")
		_, _, err = d.RotateKey(ctx, "none", 0)
		refusal(t, "rotate", err, landfall.CodeNotFound, "none")
		_, _, err = d.RotateKey(ctx, "none", -time.Second)
		refusal(t, "overlap", err, landfall.CodeValidationFailed, "negative")
		if keys, err := d.Keys(ctx, ""); err != nil || len(keys) > 0 {
			t.Errorf("keys %+v, %v", keys, err)
		}
	})
}
