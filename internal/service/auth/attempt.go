package auth

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
)

// Attempt is one sign-in to the console, for logs and metrics. It contains no secret: a
// name that is not an operator's may be a password in the wrong field, and is left out.
type Attempt struct {
	Outcome   SignInOutcome
	Operator  string // "" when there is no such operator
	Address   string
	Known     bool // by browser or address
	CodeGiven bool // the password was right, and a code was checked
}

// SignInOutcome is the result of a sign-in.
type SignInOutcome string

// The outcomes.
const (
	SignInGranted     SignInOutcome = "granted"
	SignInRefused     SignInOutcome = "refused"    // wrong name or password
	SignInWrongCode   SignInOutcome = "wrong_code" // the password was right
	SignInSlowed      SignInOutcome = "slowed"     // too many attempts
	SignInUnavailable SignInOutcome = "unavailable"
)

// SignInOutcomes lists the outcomes.
var SignInOutcomes = []SignInOutcome{SignInGranted, SignInRefused, SignInWrongCode, SignInSlowed, SignInUnavailable}

// report sets the outcome of a sign-in from its error, and reports and records it.
func (r *Sessions) report(attempt Attempt, from Origin, err error, now time.Time) {
	known, _ := errors.AsType[*landfall.Error](err)
	switch {
	case err == nil:
		attempt.Outcome = SignInGranted
	case errors.Is(err, ErrTOTPNeeded):
		return // the next request decides
	case known != nil && known.Kind == landfall.TooMany:
		attempt.Outcome = SignInSlowed
	case known != nil && known.Kind == landfall.Unauthenticated && attempt.CodeGiven:
		attempt.Outcome = SignInWrongCode
	case known != nil && known.Kind == landfall.Unauthenticated:
		attempt.Outcome = SignInRefused
	default:
		attempt.Outcome = SignInUnavailable
	}
	r.options.Watch(attempt)
	switch attempt.Outcome {
	case SignInRefused, SignInWrongCode, SignInSlowed:
		r.refusals.note(attempt, from, now)
	}
}

// refusalLog records refused sign-ins in the audit. Of many within a time it writes the
// first one at once and the number of the others later, for each operator and for all
// unknown names together, so that an attacker cannot fill the audit.
type refusalLog struct {
	store landfall.Transactor

	mu      sync.Mutex
	windows map[refusalKey]*refusalWindow
}

// refusalKey keeps wrong codes apart: whoever sends one knows the password.
type refusalKey struct {
	operator  string
	wrongCode bool
}

// refusalWindow counts the refusals since the one that was written.
type refusalWindow struct {
	started time.Time
	more    int
	sources map[string]bool
	last    Origin
}

// maxSources limits the networks that are counted.
const maxSources = 100

func newRefusalLog(store landfall.Transactor) *refusalLog {
	return &refusalLog{store: store, windows: map[refusalKey]*refusalWindow{}}
}

// note records a refusal. It does not wait for the database: an answer that takes
// longer would reveal which names exist.
func (l *refusalLog) note(attempt Attempt, from Origin, now time.Time) {
	key := refusalKey{attempt.Operator, attempt.CodeGiven}
	l.mu.Lock()
	defer l.mu.Unlock()
	if window := l.windows[key]; window != nil {
		window.more++
		window.last = from
		if len(window.sources) < maxSources {
			window.sources[network(from.Address)] = true
		}
		return
	}
	l.windows[key] = &refusalWindow{started: now, sources: map[string]bool{}}
	written := key.entry(from, "")
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), limits.CacheLoad)
		defer cancel()
		// If it fails, the log and the metrics still have the attempt.
		_ = l.store.Update(ctx, func(tx landfall.Tx) error { return tx.AppendAudit(ctx, written) })
	}()
}

// entry is the audit entry of a refusal, or of several.
func (k refusalKey) entry(from Origin, detail string) landfall.AuditEntry {
	subject, reason := k.operator, "wrong name or password, or too many attempts"
	if k.operator == "" {
		subject, reason = "unknown name", "no such operator"
	}
	if k.wrongCode {
		reason = "right password, wrong code or too many of them"
	}
	return landfall.AuditEntry{
		Actor: "service", Action: "session.refuse", Subject: subject, Detail: reason + detail, Source: from.Address, RequestID: from.RequestID,
	}
}

// SaveRefusals writes the numbers of refused sign-ins whose time is over, or all of
// them at the end.
func (r *Sessions) SaveRefusals(ctx context.Context, end bool) error {
	due := r.refusals.due(r.options.Clock(), end)
	if len(due) == 0 {
		return nil
	}
	return r.store.Update(ctx, func(tx landfall.Tx) error {
		for _, written := range due {
			if err := tx.AppendAudit(ctx, written); err != nil {
				return err
			}
		}
		return nil
	})
}

// due removes the windows that are over and returns their entries.
func (l *refusalLog) due(now time.Time, end bool) (entries []landfall.AuditEntry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, window := range l.windows {
		if !end && now.Sub(window.started) < limits.RefusedSignIns {
			continue
		}
		delete(l.windows, key)
		if window.more > 0 {
			entries = append(entries, key.entry(window.last, fmt.Sprintf("; %d more since %s from %d networks",
				window.more, window.started.UTC().Format(time.TimeOnly), len(window.sources))))
		}
	}
	return entries
}
