package auth

import "landfall"

// Forged gives the table of forged headers to the tests over a real store.
var Forged = forged

// WithID gives a key's text the id of another key and check characters that
// fit, as somebody would who guesses secrets.
func WithID(text, id string) string {
	body := keyPrefix + id + text[len(keyPrefix)+keyIDLength:len(text)-checkLength]
	return body + checksum(body)
}

// Tokens gives the texts of an access and a refresh token nobody issued.
func Tokens() [2]string {
	return [2]string{
		prefixOf(landfall.AccessToken) + random(secretLength),
		prefixOf(landfall.RefreshToken) + random(secretLength),
	}
}

// Uses gives the keys whose use is not written down yet, and forgets them.
func (g *Authenticator) Uses() []string { return g.uses.take() }
