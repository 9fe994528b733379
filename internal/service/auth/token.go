package auth

import (
	"time"

	"landfall"
)

// The recognisable beginnings of the two kinds of token. They help people and
// leak scanners; what a token is good for is decided by the stored row alone.
const (
	accessPrefix  = "lfa_"
	refreshPrefix = "lfr_"
)

// newToken makes a token that came from a key, and the row to keep it by.
func newToken(use landfall.TokenUse, keyID string, expires time.Time) (landfall.ServiceToken, Secret) {
	text := prefixOf(use) + random(secretLength)
	return landfall.ServiceToken{
		Hash: digest(text), Use: use, KeyID: keyID, ExpiresAt: expires,
	}, Secret{text}
}

// isToken reports whether a text has the form of a token, so that anything
// else is refused without asking the database.
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
