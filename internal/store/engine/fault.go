package engine

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
)

// faultKind classifies errors of a database.
type faultKind uint8

const (
	faultInternal    faultKind = iota // a bug, or a constraint
	faultUnavailable                  // away, full, too busy or too slow
	faultConnection                   // the connection broke, perhaps before an answer arrived
	faultConflict                     // another transaction won; a retry may succeed
	faultLocked                       // another transaction holds a lock
	faultCancelled                    // the caller cancelled
)

// Fault is a driver's error without anything that could contain data. The text
// of a driver's error may contain values, so only its codes leave this package.
type Fault struct { //nolint:errname // it is also a classification
	kind       faultKind
	code       string // SQLSTATE, or SQLite's extended result code
	constraint string
	reason     string // why there is no connection
	cause      error  // our own sentinels and the context's, never a driver's
}

// Error describes the fault by its codes and in words.
func (f *Fault) Error() string {
	text := "database error"
	if f.cause != nil {
		text = f.cause.Error()
	}
	if words := cmp.Or(f.reason, CodeWords(f.code)); words != "" {
		text += ": " + words
	}
	if f.code != "" {
		text += " (code " + f.code
		if f.constraint != "" {
			text += ", constraint " + f.constraint
		}
		text += ")"
	}
	return text
}

// diskFullCodes are the codes of a full disk: PostgreSQL's disk_full, SQLite's
// SQLITE_FULL, and its error when not even the index of the log fits.
var diskFullCodes = map[string]bool{"53100": true, "13": true, "4874": true}

// DiskFull reports whether an error says that the disk of the database is full.
func DiskFull(err error) bool { return diskFullCodes[errorCode(err)] }

// Unwrap returns the sentinel error.
func (f *Fault) Unwrap() error { return f.cause }

// wrap turns an error of database/sql or of a driver into a fault.
func (d *dialect) wrap(err error) error {
	var known *Fault
	if err == nil || errors.As(err, &known) {
		return err
	}
	if ours, is := errors.AsType[*UnreadableError](err); is {
		return &Fault{kind: faultInternal, cause: ours}
	}
	found := d.classify(err)
	if found.code == "" && found.kind != faultUnavailable {
		switch {
		case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
			return callerGone(err)
		case errors.Is(err, ErrUnavailable):
			return err
		}
	}
	if found.kind != faultInternal && found.kind != faultCancelled {
		found.cause = ErrUnavailable
	}
	return &found
}

// UnreadableError means that one of our own scanners cannot read a column. Its
// text does not contain the value.
type UnreadableError struct{ Cause error }

// Error returns the cause's text.
func (u *UnreadableError) Error() string { return u.Cause.Error() }

// Unwrap returns the cause.
func (u *UnreadableError) Unwrap() error { return u.Cause }

// isFault reports whether an error is a fault of a kind.
func isFault(err error, wanted faultKind) bool {
	var found *Fault
	return errors.As(err, &found) && found.kind == wanted
}

// errorCode returns the database's code of an error, or "".
func errorCode(err error) string {
	if found, ok := errors.AsType[*Fault](err); ok {
		return found.code
	}
	return ""
}

// Damaged reports whether the database says that its own data is damaged.
func Damaged(err error) bool {
	number := errorCode(err)
	if len(number) == 5 { // a SQLSTATE; XX is data corrupted, index corrupted or internal error
		return strings.HasPrefix(number, "XX")
	}
	code, _ := strconv.Atoi(number)
	return code&0xff == sqliteCorrupt
}

// NotUnique reports whether a write violated a unique constraint.
func NotUnique(err error) bool {
	number := errorCode(err)
	return number == "23505" || number == "2067" || number == "1555"
}

// fromCaller reports whether an error came from a caller's function and not from
// the database.
func fromCaller(err error) bool {
	var found *Fault
	return !errors.As(err, &found) && !errors.Is(err, ErrUnavailable) && !errors.Is(err, ErrUnknownOutcome)
}
