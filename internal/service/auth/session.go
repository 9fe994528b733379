package auth

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"landfall"
	"landfall/internal/lib/cache"
	"landfall/internal/lib/limits"
)

// SessionOptions are the settings of Sessions; zero values mean the defaults.
type SessionOptions struct {
	Idle   time.Duration    // how long an unused session lasts; an hour
	Length time.Duration    // how long a session lasts at most; 12 hours
	Clock  func() time.Time // time.Now
}

// Sessions signs operators in to the console and identifies them.
type Sessions struct {
	store     landfall.Transactor
	options   SessionOptions
	passwords passwords
	limiter   *loginLimiter
	sessions  *cache.Cache[[32]byte, cachedSession]
}

// cachedSession is a session with its operator.
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
	return &Sessions{
		store: store, options: options, passwords: newPasswords(), limiter: newLoginLimiter(),
		// A page makes several requests at once; an ended session is still noticed
		// within a second.
		sessions: cache.New[[32]byte, cachedSession](cache.Limits{TTL: limits.SessionCache, LoadTimeout: limits.CacheLoad, Size: 1000}),
	}
}

// Idle returns how long an unused session lasts.
func (r *Sessions) Idle() time.Duration { return r.options.Idle }

// SignIn is an attempt to sign in.
type SignIn struct {
	Name, Password string
	Code           string // of the second factor
	Address        string
	Agent          string
}

// ErrTOTPNeeded means that the password is right and a code is required.
var ErrTOTPNeeded = &landfall.Error{
	Kind: landfall.Unauthenticated, Code: landfall.CodeNotAuthenticated,
	Detail: "Enter the code from your authenticator app.",
}

// maxAgentLength limits the stored User-Agent.
const maxAgentLength = 200

// SignIn opens a session and returns the secret for the browser's cookie. Whatever
// is wrong, the error is the same and takes as long.
func (r *Sessions) SignIn(ctx context.Context, request SignIn) (Secret, landfall.Session, error) {
	now := r.options.Clock()
	if wait := r.limiter.take(request.Name, request.Address, now); wait > 0 {
		return Secret{}, landfall.Session{}, throttled(wait)
	}
	operator, err := r.find(ctx, request.Name)
	if err != nil {
		return Secret{}, landfall.Session{}, err
	}
	kept := operator.Password
	if kept == "" || operator.Disabled {
		kept = dummyHash
	}
	right, err := r.passwords.check(ctx, kept, request.Password)
	if err != nil {
		return Secret{}, landfall.Session{}, landfall.UserError("checking a password", err)
	}
	if !right || kept == dummyHash {
		return Secret{}, landfall.Session{}, wrongPassword()
	}
	if operator.TOTPSecret != "" && strings.TrimSpace(request.Code) == "" {
		return Secret{}, landfall.Session{}, ErrTOTPNeeded
	}
	secret, session, err := r.open(ctx, operator, request, now)
	if err == nil {
		r.limiter.trust(request.Name, request.Address)
	}
	return secret, session, err
}

// find returns the operator with a name, or one without a password.
func (r *Sessions) find(ctx context.Context, name string) (operator landfall.Operator, err error) {
	err = r.store.View(ctx, func(view landfall.View) (err error) {
		operator, err = view.Operator(ctx, name)
		return err
	})
	switch {
	case errors.Is(err, landfall.ErrNotFound):
		return landfall.Operator{}, nil
	case err != nil:
		return landfall.Operator{}, landfall.UserError("looking up an operator", err)
	}
	return operator, nil
}

// open starts a session after the password was checked, if the code of the second
// factor is right too. A code works only once, even for concurrent sign-ins.
func (r *Sessions) open(ctx context.Context, checked landfall.Operator, request SignIn, now time.Time) (Secret, landfall.Session, error) {
	text := random(secretLength)
	session := landfall.Session{
		ID: random(10), Hash: digest(text), Operator: checked.Name,
		Address: request.Address, Agent: truncate(request.Agent, maxAgentLength),
	}
	err := r.store.Update(ctx, func(tx landfall.Tx) error {
		operator, err := tx.Operator(ctx, checked.Name)
		if err != nil {
			return err
		}
		if operator.Disabled || operator.Password != checked.Password {
			return wrongPassword()
		}
		if operator.TOTPSecret != "" {
			step, right := checkTOTP(operator.TOTPSecret, request.Code, operator.TOTPUsed, now)
			if !right {
				return wrongCode()
			}
			operator.TOTPUsed = step
			if err := tx.SaveOperator(ctx, operator); err != nil {
				return err
			}
		}
		if err := tx.StartSession(ctx, session, r.options.Length); err != nil {
			return err
		}
		return tx.AppendAudit(ctx, landfall.AuditEntry{
			Actor: "operator:" + operator.Name, Action: "session.start", Subject: operator.Name,
			Detail: fmt.Sprintf("session %s from %s", session.ID, session.Address),
		})
	})
	if err != nil {
		return Secret{}, landfall.Session{}, landfall.UserError("opening a session", err)
	}
	return Secret{text}, session, nil
}

// Identify returns the operator and session of a browser's secret, and records
// that the session is in use. A disabled operator has no sessions.
func (r *Sessions) Identify(ctx context.Context, text string) (landfall.Operator, landfall.Session, error) {
	if len(text) != secretLength || !inAlphabet(text) {
		return landfall.Operator{}, landfall.Session{}, missing()
	}
	hash, now := digest(text), r.options.Clock()
	found, err := r.sessions.Get(ctx, hash, now, func(ctx context.Context) (found cachedSession, err error) {
		err = r.store.View(ctx, func(view landfall.View) (err error) {
			found.session, found.operator, err = view.Session(ctx, hash, r.options.Idle)
			return err
		})
		if errors.Is(err, landfall.ErrNotFound) {
			return cachedSession{}, nil
		}
		return found, err
	})
	if err != nil {
		return landfall.Operator{}, landfall.Session{}, landfall.UserError("looking up a session", err)
	}
	if found.session.ID == "" || found.operator.Disabled {
		return landfall.Operator{}, landfall.Session{}, missing()
	}
	if now.Sub(found.session.SeenAt) > time.Minute {
		// An error here is ignored: a page must work while the database is read-only.
		if err := r.store.Update(ctx, func(tx landfall.Tx) error { return tx.TouchSession(ctx, found.session.ID) }); err != nil {
			return found.operator, found.session, nil //nolint:nilerr // the next page records it
		}
	}
	return found.operator, found.session, nil
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

func wrongCode() *landfall.Error {
	refusal := refused()
	refusal.Detail = "The code is not right, or was used before. Wait for the next one."
	return refusal
}
