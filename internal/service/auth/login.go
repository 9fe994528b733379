package auth

import (
	"errors"

	"landfall"
)

// Login is one attempt to obtain service tokens, for logs and metrics. It contains
// no secret: the key id is public.
type Login struct {
	With         string // "api_key" or "refresh_token"
	Outcome      Outcome
	KeyID        string // "" when the credential is malformed; after a failure the key need not exist
	Organisation string // "" unless the key is valid
	Source       string // the caller's address
	Reused       bool   // a refresh token was used twice, and its family has ended
}

// Outcome is the result of a login.
type Outcome string

// The outcomes.
const (
	Granted     Outcome = "granted"
	Refused     Outcome = "refused"    // the credential is not valid
	Throttled   Outcome = "slowed"     // likewise, after too many failures
	OverQuota   Outcome = "over_quota" // the organisation is over its quota of tokens
	Unavailable Outcome = "unavailable"
)

// Outcomes lists the outcomes.
var Outcomes = []Outcome{Granted, Refused, Throttled, OverQuota, Unavailable}

// report sets the outcome of a login from its error and reports it.
func (i *Issuer) report(login Login, err error) {
	known, _ := errors.AsType[*landfall.Error](err)
	switch {
	case err == nil:
		login.Outcome = Granted
	case known == nil:
		login.Outcome = Unavailable
	case known.Code == landfall.CodeQuotaExceeded:
		login.Outcome = OverQuota
	case known.Kind == landfall.TooMany:
		login.Outcome = Throttled
	case known.Kind == landfall.Unauthenticated:
		login.Outcome = Refused
	default:
		login.Outcome = Unavailable
	}
	i.options.Watch(login)
}
