package auth

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"landfall"
	"landfall/internal/lib/cache"
	"landfall/internal/lib/limits"
)

// SessionOptions are the settings of Sessions; zero values mean the defaults.
type SessionOptions struct {
	Idle         time.Duration    // how long an unused session lasts; an hour
	Length       time.Duration    // how long a session lasts at most; 12 hours
	SecondFactor bool             // every operator needs a second factor
	Clock        func() time.Time // time.Now
	Watch        func(Attempt)    // called for every sign-in; must not block
}

// Sessions signs operators in to the console and identifies them.
type Sessions struct {
	store     landfall.Transactor
	options   SessionOptions
	passwords passwords
	limiter   *loginLimiter
	refusals  *refusalLog
	sessions  *cache.Cache[[32]byte, cachedSession]
	setUp     atomic.Bool // there is an operator
}

type cachedSession struct {
	session  landfall.Session
	operator landfall.Operator
}

// NewSessions returns the sessions of a store.
func NewSessions(store landfall.Transactor, options SessionOptions) *Sessions {
	setDefault(&options.Idle, limits.ConsoleIdle)
	setDefault(&options.Length, limits.ConsoleSession)
	if options.Clock == nil {
		options.Clock = time.Now
	}
	if options.Watch == nil {
		options.Watch = func(Attempt) {}
	}
	return &Sessions{
		store: store, options: options, passwords: newPasswords(), limiter: newLoginLimiter(), refusals: newRefusalLog(store),
		sessions: cache.New[[32]byte, cachedSession](cache.Limits{TTL: limits.SessionCache, LoadTimeout: limits.CacheLoad, Size: 1000}),
	}
}

// Idle returns how long an unused session lasts.
func (r *Sessions) Idle() time.Duration { return r.options.Idle }

// Origin is where a request comes from, for the audit.
type Origin struct{ Address, RequestID string }

// SignIn is an attempt to sign in.
type SignIn struct {
	Origin
	Name, Password string
	Code           string // of the second factor, or a recovery code
	Device         string // the secret that an earlier sign-in left in the browser
	Agent          string
}

// SignedIn is a new session. Its secrets are for cookies of the browser.
type SignedIn struct {
	Secret  Secret
	Device  Secret
	Session landfall.Session
	// ResetBy is who reset the operator's sign-in, which this sign-in tells them once;
	// "" if nobody did.
	ResetBy string
	ResetAt time.Time
}

// ErrTOTPNeeded means that the password is right and a code is required.
var ErrTOTPNeeded = &landfall.Error{
	Kind: landfall.Unauthenticated, Code: landfall.CodeNotAuthenticated,
	Detail: "Enter the code from your authenticator app, or a recovery code.",
}

// maxAgentLength limits the stored User-Agent.
const maxAgentLength = 200

// maxDevices is how many browsers of an operator are remembered.
const maxDevices = 20

// SignIn opens a session. Whatever is wrong, the error is the same and takes as long.
func (r *Sessions) SignIn(ctx context.Context, request SignIn) (signedIn SignedIn, err error) {
	now := r.options.Clock()
	attempt := Attempt{Address: request.Address}
	defer func() { r.report(attempt, request.Origin, err, now) }()
	operator, knownBy, err := r.find(ctx, request)
	if err != nil {
		return SignedIn{}, err
	}
	attempt.Operator, attempt.Known = operator.Name, knownBy != ""
	if wait := r.limiter.take(request.Name, request.Address, knownBy, now); wait > 0 {
		return SignedIn{}, throttled(wait)
	}
	kept := operator.Password
	if kept == "" || operator.Disabled {
		kept = dummyHash
	}
	in := turn{known: attempt.Known, tenant: operator.Name}
	if !in.known {
		in.tenant = site(request.Address)
	}
	right, err := r.passwords.check(ctx, in, kept, request.Password)
	if err != nil {
		return SignedIn{}, landfall.UserError("checking a password", err)
	}
	if !right || kept == dummyHash {
		return SignedIn{}, wrongPassword()
	}
	if operator.TOTPSecret != "" && strings.TrimSpace(request.Code) == "" {
		return SignedIn{}, ErrTOTPNeeded
	}
	attempt.CodeGiven = operator.TOTPSecret != ""
	attempted := operator
	return r.open(ctx, operator, request, landfall.SignInPassword, func(tx landfall.Tx, operator *landfall.Operator) (refusal, err error) {
		if operator.Password != attempted.Password {
			return wrongPassword(), nil
		}
		return r.checkCode(ctx, tx, operator, request.Origin, request.Code, now)
	})
}

// SignInKnown opens a session for an operator who was identified by other means than a
// password. The detail is for the audit.
func (r *Sessions) SignInKnown(ctx context.Context, request SignIn, method string) (signedIn SignedIn, err error) {
	now := r.options.Clock()
	attempt := Attempt{Address: request.Address}
	defer func() { r.report(attempt, request.Origin, err, now) }()
	operator, knownBy, err := r.find(ctx, request)
	if err != nil {
		return SignedIn{}, err
	}
	attempt.Operator, attempt.Known = operator.Name, knownBy != ""
	if operator.Name == "" || operator.Disabled {
		refusal := refused()
		refusal.Detail = "You are known to the sign-in provider, but not here, or your access was disabled. Ask an administrator to invite " + request.Name + "."
		return SignedIn{}, refusal
	}
	return r.open(ctx, operator, request, method, func(landfall.Tx, *landfall.Operator) (refusal, err error) { return nil, nil })
}

// find returns the operator with a name, or one without a name, and by what they are
// known: their browser, or the network of one of their browsers.
func (r *Sessions) find(ctx context.Context, request SignIn) (operator landfall.Operator, knownBy string, err error) {
	var devices []landfall.Device
	err = r.store.View(ctx, func(view landfall.View) (err error) {
		// An unknown name runs the same queries.
		if operator, err = view.Operator(ctx, request.Name); err != nil && !errors.Is(err, landfall.ErrNotFound) {
			return err
		}
		devices, err = view.Devices(ctx, request.Name)
		return err
	})
	if err != nil {
		return landfall.Operator{}, "", landfall.UserError("looking up an operator", err)
	}
	from, shown := network(request.Address), digest(request.Device)
	for _, device := range devices {
		switch {
		// A browser is named by its hash, so that others at its address cannot use up
		// its attempts.
		case device.Hash == shown:
			return operator, string(shown[:]), nil
		case device.Network == from:
			knownBy = from
		}
	}
	return operator, knownBy, nil
}

// open starts a session if the operator is still the one who was checked. The check
// returns its refusal apart from the error, because it may write.
func (r *Sessions) open(ctx context.Context, checked landfall.Operator, request SignIn, method string,
	check func(landfall.Tx, *landfall.Operator) (refusal, err error),
) (SignedIn, error) {
	text, browser := random(secretLength), request.Device
	if len(browser) != secretLength || !inAlphabet(browser) {
		browser = random(secretLength)
	}
	session := landfall.Session{
		ID: random(10), Hash: digest(text), Operator: checked.Name,
		Address: request.Address, Agent: truncate(request.Agent, maxAgentLength), Method: method,
	}
	device := landfall.Device{Hash: digest(browser), Operator: checked.Name, Network: network(request.Address)}
	var refusal error
	signedIn := SignedIn{Secret: Secret{text}, Device: Secret{browser}, Session: session}
	err := r.store.Update(ctx, func(tx landfall.Tx) error {
		operator, err := tx.Operator(ctx, checked.Name)
		if err != nil {
			return err
		}
		if operator.Disabled {
			return wrongPassword()
		}
		// A wrong code is counted, so this transaction must commit.
		if refusal, err = check(tx, &operator); err != nil || refusal != nil {
			return err
		}
		if err := tx.StartSession(ctx, session, r.options.Length); err != nil {
			return err
		}
		if !operator.ResetAt.IsZero() {
			signedIn.ResetBy, signedIn.ResetAt = operator.InvitedBy, operator.ResetAt
			operator.ResetAt = time.Time{}
			if err := tx.SaveOperator(ctx, operator); err != nil {
				return err
			}
		}
		if err := tx.SaveDevice(ctx, device, maxDevices); err != nil {
			return err
		}
		return tx.AppendAudit(ctx, entry(operator.Name, request.Origin, "session.start", "session "+session.ID+" by "+method))
	})
	if err == nil {
		err = refusal
	}
	if err != nil {
		return SignedIn{}, landfall.UserError("opening a session", err)
	}
	return signedIn, nil
}

// entry is what the audit records of an operator's own sign-in.
func entry(operator string, from Origin, action, detail string) landfall.AuditEntry {
	return landfall.AuditEntry{
		Actor: "operator:" + operator, Action: action, Subject: operator, Detail: detail, Source: from.Address, RequestID: from.RequestID,
	}
}

// Identify returns the operator and session of a browser's secret, and records
// that the session is in use. A disabled operator has no sessions.
func (r *Sessions) Identify(ctx context.Context, text string) (landfall.Operator, landfall.Session, error) {
	found, err := r.lookUp(ctx, text)
	if err != nil {
		return landfall.Operator{}, landfall.Session{}, err
	}
	if r.options.Clock().Sub(found.session.SeenAt) > time.Minute {
		// An error here is ignored: a page must work while the database is read-only.
		if err := r.store.Update(ctx, func(tx landfall.Tx) error { return tx.TouchSession(ctx, found.session.ID) }); err != nil {
			return found.operator, found.session, nil //nolint:nilerr // the next page records it
		}
	}
	return found.operator, found.session, nil
}

// IdentifyLive is Identify for a page that updates itself. It does not count as use of
// the session, and notices the end of the session with a delay of half a second.
func (r *Sessions) IdentifyLive(ctx context.Context, text string) (landfall.Operator, landfall.Session, error) {
	found, err := r.sessions.Get(ctx, digest(text), r.options.Clock(), func(ctx context.Context) (cachedSession, error) {
		return r.lookUp(ctx, text)
	})
	return found.operator, found.session, err
}

// lookUp reads a session every time, so that every replica refuses one that has ended.
func (r *Sessions) lookUp(ctx context.Context, text string) (found cachedSession, err error) {
	if len(text) != secretLength || !inAlphabet(text) {
		return cachedSession{}, missing()
	}
	err = r.store.View(ctx, func(view landfall.View) (err error) {
		found.session, found.operator, err = view.Session(ctx, digest(text), r.options.Idle)
		return err
	})
	switch {
	case errors.Is(err, landfall.ErrNotFound) || err == nil && found.operator.Disabled:
		return cachedSession{}, missing()
	case err != nil:
		return cachedSession{}, landfall.UserError("looking up a session", err)
	}
	return found, nil
}

// Sweep deletes sessions that are over.
func (r *Sessions) Sweep(ctx context.Context) (dropped int, err error) {
	err = r.store.Update(ctx, func(tx landfall.Tx) (err error) {
		dropped, err = tx.DropEndedSessions(ctx, sweepBatch)
		return err
	})
	return dropped, err
}

// truncate cuts a text to a number of characters.
func truncate(text string, longest int) string {
	text = strings.ToValidUTF8(text, "")
	if utf8.RuneCountInString(text) <= longest {
		return text
	}
	return string([]rune(text)[:longest])
}

// wrongPassword is the error of every failed sign-in.
func wrongPassword() *landfall.Error {
	refusal := refused()
	refusal.Detail = "The name or the password is not right."
	return refusal
}
