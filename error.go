package landfall

import (
	"context"
	"errors"
	"fmt"
	"time"

	"landfall/internal/lib/limits"
)

// Kind is the category of an Error; the HTTP layer turns it into a status.
type Kind uint8

// The kinds of failure. Every kind has exactly one HTTP status.
const (
	Internal            Kind = iota // a fault of the service; the cause is logged, never shown
	Invalid                         // refused input or a business rule
	Unauthenticated                 // no token, or an invalid one
	Forbidden                       // a valid token without the right to do this
	NotFound                        // no such thing, or not for this caller
	MethodNotAllowed                // the path exists, the method does not
	TooLarge                        // the body is over the limit
	UnsupportedMedia                // the body has an unsupported type
	TooMany                         // over a limit; try again after RetryAfter
	Unavailable                     // the database is unavailable, or the server is shutting down
	TooManyFields                   // the header is too large
	UpstreamUnavailable             // a payment vendor or another service we depend on is unavailable
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
	RetryAfter time.Duration // set with TooMany, Unavailable and other errors that go away by themselves
	Cause      error         // for the log only
}

// Error describes the failure for the log. It contains no offending values.
func (e *Error) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s: %v", e.Code, e.Cause)
	}
	return e.Code + ": " + e.Detail
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Is compares by code, so that a sentinel matches every error of its code.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Code == e.Code
}

// Refuse returns the usual refusal: a 400 with a code and a sentence.
func Refuse(code, detail string) *Error {
	return &Error{Kind: Invalid, Code: code, Detail: detail}
}

// RefuseField returns a refusal that points at one field of the request.
func RefuseField(attr, code, detail string) *Error {
	refusal := Refuse(code, detail)
	refusal.Violations = []Violation{{Code: code, Attr: attr, Detail: detail}}
	return refusal
}

// The errors of a store. They are not shown to users: the caller knows what the
// absence of a row means.
var (
	// ErrNotFound means that a row does not exist.
	ErrNotFound = errors.New("not found")
	// ErrExists means that a row with that name already exists.
	ErrExists = errors.New("already exists")
	// ErrUnavailable means that the database cannot be reached or refuses work for
	// now. The same request may succeed later.
	ErrUnavailable = errors.New("database unavailable")
	// ErrOverloaded means that too much work is waiting for the database. Nothing
	// was tried. It is ErrUnavailable too.
	ErrOverloaded = errors.New("too much work is waiting for the database")
	// ErrDiskFull means that the disk of the database is full. It is
	// ErrUnavailable too.
	ErrDiskFull = errors.New("the disk of the database is full")
	// ErrUnknownOutcome means that the answer to a commit was lost, and looking up
	// the outcome failed too. It must never be shown as a refusal.
	ErrUnknownOutcome = errors.New("outcome of the commit is unknown")
	// ErrRevoked means that the author's key is no longer valid: it was revoked or
	// has expired, or its organisation was disabled.
	ErrRevoked = errors.New("the author's key is no longer valid")
	// ErrFenced means that a claim was lost because its lease ended. Another
	// caller may hold the process now, so nothing may be written for the claim.
	ErrFenced = errors.New("claim lost")
)

// UserError turns an error into one that a caller may see; operation is for the
// log. An *Error stays as it is. An unknown outcome is reported like an
// unavailable database and never as a refusal: sending the same request again is
// safe and right in both cases.
func UserError(operation string, err error) *Error {
	var known *Error
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, ErrRevoked):
		return &Error{Kind: Unauthenticated, Code: CodeAuthenticationFailed, Detail: "The credentials are not valid."}
	case errors.Is(err, ErrUnavailable), errors.Is(err, ErrUnknownOutcome),
		errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		detail := "The service cannot do this right now. Send the same request again later."
		if errors.Is(err, ErrDiskFull) {
			detail = "The disk of the database is full, so nothing can be written. Send the same request again when there is space."
		}
		return &Error{
			Kind: Unavailable, Code: CodeServiceUnavailable, RetryAfter: limits.DatabaseRetry, Detail: detail,
			Cause: fmt.Errorf("%s: %w", operation, err),
		}
	}
	return &Error{
		Kind: Internal, Code: CodeInternalError,
		Detail: "Something went wrong on our side.", Cause: fmt.Errorf("%s: %w", operation, err),
	}
}
