package auth

import (
	"strings"
	"time"

	"landfall"
)

// These are the parts of a key's text, lf_<id>_<secret><check>. The check
// characters detect a mistyped key without a database query; they are not secret.
const (
	keyPrefix   = "lf_"
	keyIDLength = 10
	checkLength = 4
)

// NewKey creates a key for an organisation. The returned text is the only copy of
// the secret. A zero expiry means that the key does not expire.
func NewKey(organisation string, role landfall.Role, expires time.Time) (landfall.APIKey, Secret) {
	id := random(keyIDLength)
	body := keyPrefix + id + "_" + random(secretLength)
	text := body + checksum(body)
	return landfall.APIKey{
		ID: id, Organisation: organisation, Role: role,
		SecretHash: digest(text), ExpiresAt: expires,
	}, Secret{text}
}

// parseKey returns the public id in a key's text, or false if the text cannot be
// one of our keys.
func parseKey(text string) (id string, ok bool) {
	const length = len(keyPrefix) + keyIDLength + 1 + secretLength + checkLength
	if len(text) != length || !strings.HasPrefix(text, keyPrefix) {
		return "", false
	}
	id, rest, found := strings.Cut(text[len(keyPrefix):], "_")
	if !found || len(id) != keyIDLength || !inAlphabet(id) || !inAlphabet(rest) {
		return "", false
	}
	body := text[:length-checkLength]
	return id, text[length-checkLength:] == checksum(body)
}

// checksum returns the check characters of a key's text.
func checksum(body string) string {
	sum := digest(body)
	letters := make([]byte, checkLength)
	for i := range letters {
		letters[i] = alphabet[sum[i]&31]
	}
	return string(letters)
}

// valid reports whether a key may be used at an instant.
func valid(key landfall.APIKey, organisation landfall.Organisation, now time.Time) bool {
	return key.RevokedAt.IsZero() && !organisation.Disabled && notEnded(now, key.ExpiresAt)
}

// notEnded reports whether an end is in the future; a zero end means never.
func notEnded(now, end time.Time) bool { return end.IsZero() || now.Before(end) }
