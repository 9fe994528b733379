package engine

import (
	"context"
	"errors"
	"fmt"
)

// Errors of the database.
var (
	// ErrNotFound means that a query for one row found none.
	ErrNotFound = errors.New("not found")
	// ErrUnavailable means that the database is away, full, too busy or too
	// slow. The same call may succeed later.
	ErrUnavailable = errors.New("database unavailable")
	// ErrOverloaded means that more work waits than can be done soon; nothing
	// was tried. It is ErrUnavailable too.
	ErrOverloaded = errors.New("too much work is waiting for the database")
	// ErrUnknownOutcome means that a commit was sent, its answer was lost, and
	// its outcome could not be looked up.
	ErrUnknownOutcome = errors.New("outcome of the commit is unknown")
	// ErrUnstorable means that not both databases could store a text.
	ErrUnstorable = errors.New("text holds a NUL or is not UTF-8")
	// ErrClosed is returned after Close. It is ErrUnavailable.
	ErrClosed = fmt.Errorf("%w: it is closed", ErrUnavailable)
)

// Errors that a kind's function may return on purpose.
var (
	// ErrUndone keeps the outcomes and rolls back.
	ErrUndone = errors.New("undone on purpose")
	// ErrAgain runs the function again in a new transaction, up to maxReruns
	// times. Then the error that wraps it is returned.
	ErrAgain = errors.New("once more")
)

var (
	errBusy   = fmt.Errorf("%w: %w", ErrUnavailable, ErrOverloaded)
	errLocked = fmt.Errorf("%w: another transaction holds a lock", ErrUnavailable)
	errSilent = fmt.Errorf("%w: it does not answer", ErrUnavailable)
	errEnded  = errors.New("the transaction has ended")
)

// callerGone is the error after a caller's context ended.
func callerGone(cause error) error {
	if errors.Is(cause, context.DeadlineExceeded) {
		return &Fault{kind: faultCancelled, cause: errors.Join(ErrUnavailable, context.DeadlineExceeded)}
	}
	return &Fault{kind: faultCancelled, cause: cause}
}

// unavailable marks an error as ErrUnavailable, if it is not already.
func unavailable(err error) error {
	if errors.Is(err, ErrUnavailable) {
		return err
	}
	return errors.Join(ErrUnavailable, err)
}

// notAdmitted is the error of a read that was not admitted.
func notAdmitted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return callerGone(ctx.Err())
	}
	return err
}
