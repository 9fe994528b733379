package engine

import (
	"context"
	"errors"
)

// means says what a database's error means for us.
type means uint8

const (
	broken   means = iota // a fault of ours or of the data
	away                  // the database is gone, full, too busy or too slow
	lost                  // the connection broke, with an answer perhaps under way
	conflict              // another transaction won; the same again may succeed
	locked                // another transaction holds what is needed
	gave                  // the caller went away
)

// Fault is a driver's error with everything taken out that could hold data: a
// driver's text names values, so only its numbers leave this package.
type Fault struct { //nolint:errname // it says what befell the database, and is more than an error
	kind       means
	code       string // SQLSTATE, or SQLite's extended result code
	constraint string
	cause      error // our own sentinels and the context's, never a driver's
}

// Error describes the fault by its numbers.
func (f *Fault) Error() string {
	text := "database error"
	if f.cause != nil {
		text = f.cause.Error()
	}
	if f.code != "" {
		text += " (code " + f.code
		if full[f.code] {
			text += ", its disk is full"
		}
		if f.constraint != "" {
			text += ", constraint " + f.constraint
		}
		text += ")"
	}
	return text
}

// full are the codes of a disk that takes nothing more: PostgreSQL's disk_full,
// SQLite's SQLITE_FULL, and what it says when not even its index of the log fits.
var full = map[string]bool{"53100": true, "13": true, "4874": true}

// Unwrap gives the sentinels to errors.Is.
func (f *Fault) Unwrap() error { return f.cause }

// wrap turns an error of database/sql or of a driver into a fault.
func (d *dialect) wrap(err error) error {
	var known *Fault
	if err == nil || errors.As(err, &known) {
		return err
	}
	if ours, is := errors.AsType[*UnreadableError](err); is {
		return &Fault{kind: broken, cause: ours}
	}
	found := d.classify(err)
	if found.code == "" && found.kind != away {
		switch {
		case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
			return left(err)
		case errors.Is(err, ErrUnavailable):
			return err
		}
	}
	if found.kind != broken && found.kind != gave {
		found.cause = ErrUnavailable
	}
	return &found
}

// UnreadableError is the error of a reader of our own that makes nothing of a column.
// It says so without the value, and is passed on.
type UnreadableError struct{ Cause error }

// Error is the cause's text.
func (u *UnreadableError) Error() string { return u.Cause.Error() }

// Unwrap gives the cause to errors.Is.
func (u *UnreadableError) Unwrap() error { return u.Cause }

// is reports whether an error is a fault of some kind.
func is(err error, wanted means) bool {
	var found *Fault
	return errors.As(err, &found) && found.kind == wanted
}

// code gives the database's own number of an error, or nothing.
func code(err error) string {
	if found, ok := errors.AsType[*Fault](err); ok {
		return found.code
	}
	return ""
}

// NotUnique reports whether a write was refused because a value that must be
// unique is taken.
func NotUnique(err error) bool {
	number := code(err)
	return number == "23505" || number == "2067" || number == "1555"
}

// ours reports whether an error came from a caller's function and not from the
// database: then it is an answer and no trouble.
func ours(err error) bool {
	var found *Fault
	return !errors.As(err, &found) && !errors.Is(err, ErrUnavailable) && !errors.Is(err, ErrUnknownOutcome)
}
