// Package auth answers who is asking. An organisation holds API keys; a key
// buys a short-lived access token and a refresh token; every request then
// shows an access token at the gate.
//
// All secrets are 256 bits from the system's random source, so a plain
// SHA-256 is enough to keep them by: there is no dictionary to try, and a
// stolen database holds nothing that could be shown at the gate.
package auth
