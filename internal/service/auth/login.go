package auth

import (
	"errors"

	"landfall"
)

// Login is one attempt to obtain service tokens, for the operator to read. It
// holds no secret: the key's id is the public part of what was shown.
type Login struct {
	With         string // "api_key" or "refresh_token"
	Outcome      Outcome
	KeyID        string // "" when what was shown cannot be ours; of a failure it need not exist
	Organisation string // "" unless the key is known to be good
	Source       string // the caller's address
	Reused       bool   // a refresh token was used twice, and its family has ended
}

// Outcome says what became of a login.
type Outcome string

// The outcomes.
const (
	Granted     Outcome = "granted"
	Refused     Outcome = "refused"    // the credential is not good
	Throttled   Outcome = "slowed"     // likewise, and there were too many such failures
	OverQuota   Outcome = "over_quota" // the organisation has had its tokens for now
	Unavailable Outcome = "unavailable"
)

// Outcomes lists the outcomes.
var Outcomes = []Outcome{Granted, Refused, Throttled, OverQuota, Unavailable}

// report reports a login with the outcome that its error stands for.
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
