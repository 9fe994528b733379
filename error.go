package landfall

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Kind says what sort of failure an Error is; the edge turns it into a status.
type Kind uint8

// The kinds of failure. Every kind has exactly one HTTP status.
const (
	Internal            Kind = iota // a fault of ours; the cause is logged, never shown
	Invalid                         // refused input or a business rule
	Unauthenticated                 // no token, or a bad one
	Forbidden                       // a good token without the right to do this
	NotFound                        // no such thing, or not for this caller
	MethodNotAllowed                // the path exists, the method does not
	TooLarge                        // the body is over the limit
	UnsupportedMedia                // the body is not what we read
	TooMany                         // over a limit now; come back after RetryAfter
	Unavailable                     // the database is away or we are shutting down
	TooManyFields                   // the header is more than we read
	UpstreamUnavailable             // who must be asked, such as a payment vendor, is away; nothing of ours is broken
)

// Violation is one thing wrong with a request. It never carries the offending
// value, which may be personal data.
type Violation struct {
	Code   string // stable, for machines
	Attr   string // dotted path of the input, e.g. customers.0.landline
	Detail string // a sentence for people; its wording may change
}

// Member is an extra member of an error body, where the contract asks for one.
type Member struct {
	Name  string
	Value any
}

// Error is the one error type a user can see.
type Error struct {
	Kind       Kind
	Code       string
	Detail     string
	Violations []Violation
	Members    []Member
	RetryAfter time.Duration // set with TooMany, Unavailable and whatever ends by itself
	Cause      error         // for the log only
}

// Error describes the failure for a log line; it holds no offending values.
func (e *Error) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s: %v", e.Code, e.Cause)
	}
	return e.Code + ": " + e.Detail
}

// Unwrap gives the cause to errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Cause }

// Is compares by code, so that a sentinel matches every error of its code.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Code == e.Code
}

// Refuse is the ordinary refusal: a 400 with a code and a sentence.
func Refuse(code, detail string) *Error {
	return &Error{Kind: Invalid, Code: code, Detail: detail}
}

// RefuseField is a refusal that points at one field of the request.
func RefuseField(attr, code, detail string) *Error {
	refusal := Refuse(code, detail)
	refusal.Violations = []Violation{{Code: code, Attr: attr, Detail: detail}}
	return refusal
}

// What a store answers besides its results. They are not shown to users: the
// use case that asked knows what the absence of a row means.
var (
	// ErrNotFound means the row asked for does not exist.
	ErrNotFound = errors.New("not found")
	// ErrExists means a row with that name exists already.
	ErrExists = errors.New("already exists")
	// ErrUnavailable means the database cannot be reached or refuses work for
	// now; the same request may succeed later.
	ErrUnavailable = errors.New("database unavailable")
	// ErrOverloaded means that more work waits for the database than can be
	// done soon. Nothing was tried, and it is ErrUnavailable too.
	ErrOverloaded = errors.New("too much work is waiting for the database")
	// ErrUnknownOutcome means a commit was sent and its answer lost, and
	// looking it up failed too. It must never be shown as a refusal.
	ErrUnknownOutcome = errors.New("outcome of the commit is unknown")
	// ErrRevoked means that the key in whose name something was to be written
	// is good no more: revoked, ended, or its organisation disabled.
	ErrRevoked = errors.New("the author's key is good no more")
	// ErrFenced means a claim was lost to its lease: somebody else may hold
	// the process now, and nothing may be written on its behalf.
	ErrFenced = errors.New("claim lost")
)

// retryAfter is what a caller is told to wait when the database is away or too
// busy: long enough to spare it, short enough that a migration hardly notices.
const retryAfter = 2 * time.Second

// UserError turns what somebody below could not do into what a caller is told; doing
// is for the log. Errors that are meant to be seen stay as they are. An unknown
// outcome is told like an absent database, never as a refusal: sending the same
// request again is safe and right in both cases.
func UserError(doing string, err error) *Error {
	var known *Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, ErrRevoked):
		return &Error{Kind: Unauthenticated, Code: CodeAuthenticationFailed, Detail: "The credentials are not valid."}
	case errors.Is(err, ErrUnavailable), errors.Is(err, ErrUnknownOutcome),
		errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return &Error{
			Kind: Unavailable, Code: CodeServiceUnavailable, RetryAfter: retryAfter,
			Detail: "The service cannot do this right now. Send the same request again later.",
			Cause:  fmt.Errorf("%s: %w", doing, err),
		}
	}
	return &Error{
		Kind: Internal, Code: CodeInternalError,
		Detail: "Something went wrong on our side.", Cause: fmt.Errorf("%s: %w", doing, err),
	}
}
