package auth

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"landfall"
)

// A secret must not leak through any of the usual ways to print a value.
func TestSecretIsMaskedEverywhere(t *testing.T) {
	key, text := NewKey("Acme", landfall.RoleImporter, time.Time{})
	grant := Grant{Token: text, RefreshToken: text}
	var log bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&log, nil))
	logger.Info("test", "secret", text, "grant", grant, "pointer", &grant, "key", key)
	slog.New(slog.NewTextHandler(&log, nil)).Info("test", "secret", text, "grant", grant)
	marshalled, err := json.Marshal(map[string]any{"grant": grant, "secret": &text})
	if err != nil {
		t.Fatal(err)
	}
	printed := []string{log.String(), string(marshalled), text.String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		printed = append(printed, fmt.Sprintf(verb, text), fmt.Sprintf(verb, grant), fmt.Sprintf(verb, &grant), fmt.Sprintf(verb, key))
	}
	secret := text.Reveal()[len(keyPrefix)+keyIDLength+1:]
	for _, shown := range printed {
		if strings.Contains(shown, secret) || strings.Contains(shown, fmt.Sprintf("%x", secret)) {
			t.Errorf("the secret is in %q", shown)
		}
	}
	if fmt.Sprint(text) != mask {
		t.Errorf("printed as %v", text)
	}
}

func TestKeyText(t *testing.T) {
	key, text := NewKey("Acme", landfall.RoleViewer, time.Time{})
	whole := text.Reveal()
	if id, ok := parseKey(whole); !ok || id != key.ID {
		t.Fatalf("parseKey gives %q, %t", id, ok)
	}
	if !strings.HasPrefix(whole, "lf_"+key.ID+"_") || key.SecretHash != digest(whole) {
		t.Error("the text does not fit the key")
	}
	if _, other := NewKey("Acme", landfall.RoleViewer, time.Time{}); other.Reveal() == whole {
		t.Error("two keys are the same")
	}
	// Every single mistyped character is detected without a lookup, except for the
	// few that the short check cannot tell apart.
	missed := 0
	for i := range whole {
		changed := []byte(whole)
		changed[i] = '7'
		if whole[i] == '7' {
			changed[i] = '8'
		}
		if _, ok := parseKey(string(changed)); ok {
			missed++
		}
	}
	if missed > 1 {
		t.Errorf("%d of %d typing errors went unnoticed", missed, len(whole))
	}
	for _, odd := range []string{"", "lf_", "lf__", whole + "0", whole[1:], whole[:len(whole)-1], strings.ToUpper(whole),
		" " + whole, whole + "\n", strings.Replace(whole, "_", "-", 2), strings.Repeat("l", len(whole)),
		"lf_" + strings.Repeat("_", len(whole)-3), strings.Repeat("é", len(whole)/2)} {
		if _, ok := parseKey(odd); ok {
			t.Errorf("%q is taken for a key", odd)
		}
	}
}

func TestRandomUsesTheWholeAlphabet(t *testing.T) {
	seen := map[rune]int{}
	for _, letter := range random(32_000) {
		seen[letter]++
	}
	for _, letter := range alphabet {
		if seen[letter] < 700 || seen[letter] > 1300 {
			t.Errorf("%q came %d times in 32,000", letter, seen[letter])
		}
	}
}
