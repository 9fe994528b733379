package auth

import (
	"time"

	"landfall"
)

// The prefixes of the two kinds of token. They help people and secret scanners; the
// stored row decides what a token can be used for.
const (
	accessPrefix  = "lfa_"
	refreshPrefix = "lfr_"
)

// newToken creates a token of a key, and its row.
func newToken(use landfall.TokenUse, keyID string, expires time.Time) (landfall.ServiceToken, Secret) {
	text := prefixOf(use) + random(secretLength)
	return landfall.ServiceToken{
		Hash: digest(text), Use: use, KeyID: keyID, ExpiresAt: expires,
	}, Secret{text}
}

// isToken reports whether a text has the form of a token, so that anything else is
// refused without asking the database.
func isToken(use landfall.TokenUse, text string) bool {
	prefix := prefixOf(use)
	return len(text) == len(prefix)+secretLength && text[:len(prefix)] == prefix && inAlphabet(text[len(prefix):])
}

func prefixOf(use landfall.TokenUse) string {
	if use == landfall.RefreshToken {
		return refreshPrefix
	}
	return accessPrefix
}
