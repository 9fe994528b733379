// Package auth identifies callers. An organisation has API keys. A key is
// exchanged for a short-lived access token and a refresh token. Every request
// then presents an access token to the Authenticator.
//
// All secrets are 256 bits from the system's random source, so a plain SHA-256 is
// enough to store them: they cannot be guessed from a dictionary, and a stolen
// database contains nothing that could be used as a token.
package auth
