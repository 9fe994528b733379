package auth

import "landfall"

// Forged exposes the table of forged headers to the tests that use a real store.
var Forged = forged

// WithID replaces the id in a key's text with that of another key and recomputes
// the check characters, as an attacker who guesses secrets would.
func WithID(text, id string) string {
	body := keyPrefix + id + text[len(keyPrefix)+keyIDLength:len(text)-checkLength]
	return body + checksum(body)
}

// Tokens returns the texts of an access token and a refresh token that were never
// issued.
func Tokens() [2]string {
	return [2]string{
		prefixOf(landfall.AccessToken) + random(secretLength),
		prefixOf(landfall.RefreshToken) + random(secretLength),
	}
}

// Uses returns the keys whose use is not recorded yet, and clears them.
func (g *Authenticator) Uses() []string { return g.uses.take() }
