package engine

import (
	"context"
	"errors"
	"fmt"
)

// What a database answers besides its results.
var (
	// ErrNotFound means that a query for one row found none.
	ErrNotFound = errors.New("not found")
	// ErrUnavailable means that the database is away, full, too busy or too
	// slow: the same may succeed later.
	ErrUnavailable = errors.New("database unavailable")
	// ErrOverloaded means that more work waits than can be done soon; nothing
	// was tried. It is ErrUnavailable too.
	ErrOverloaded = errors.New("too much work is waiting for the database")
	// ErrUnknownOutcome means that a commit was sent and neither its answer
	// nor a look afterwards told what became of it.
	ErrUnknownOutcome = errors.New("outcome of the commit is unknown")
	// ErrUnstorable refuses text that one of the databases would refuse and
	// the other keep: what can be kept must not depend on the database.
	ErrUnstorable = errors.New("text holds a NUL or is not UTF-8")
	// ErrClosed is what everything answers after Close. It is ErrUnavailable.
	ErrClosed = fmt.Errorf("%w: it is closed", ErrUnavailable)
)

// What a kind's function may answer instead of a failure.
var (
	// ErrUndone keeps the answers and leaves nothing in the database.
	ErrUndone = errors.New("undone on purpose")
	// ErrAgain runs the function once more in a new transaction, a number of
	// times. An error that wraps it comes back in the end.
	ErrAgain = errors.New("once more")
)

var (
	errBusy   = fmt.Errorf("%w: %w", ErrUnavailable, ErrOverloaded)
	errLocked = fmt.Errorf("%w: another transaction holds what is needed", ErrUnavailable)
	errSilent = fmt.Errorf("%w: it says nothing", ErrUnavailable)
	errEnded  = errors.New("the transaction has ended")
)

// left is the answer to a caller whose patience ended or who went away.
func left(cause error) error {
	if errors.Is(cause, context.DeadlineExceeded) {
		return &Fault{kind: gave, cause: errors.Join(ErrUnavailable, context.DeadlineExceeded)}
	}
	return &Fault{kind: gave, cause: cause}
}

// turnedAway is the answer to a caller who got no turn: he left, or waited in vain.
func turnedAway(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return left(ctx.Err())
	}
	return err
}
