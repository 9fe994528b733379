package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"

	"landfall"
)

// kind says what a database's error means for us.
type kind uint8

const (
	broken   kind = iota // a fault of ours or of the data
	away                 // the database is gone, full, too busy or too slow
	lost                 // the connection broke, with an answer perhaps under way
	conflict             // another transaction won; the same again may succeed
	left                 // the caller went away
)

// fault is a driver's error with everything taken out that could hold data: a
// driver's text names values, so only its numbers leave this package.
type fault struct {
	kind       kind
	code       string // SQLSTATE, or SQLite's extended result code
	constraint string
	cause      error // our own sentinels and the context's, never a driver's
}

// Error describes the fault by its numbers.
func (f *fault) Error() string {
	text := "database error"
	if f.cause != nil {
		text = f.cause.Error()
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

// Unwrap gives the sentinels to errors.Is.
func (f *fault) Unwrap() error { return f.cause }

// wrap turns an error of database/sql or of a driver into a fault.
func (d *dialect) wrap(err error) error {
	var known *fault
	if err == nil || errors.As(err, &known) {
		return err
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &fault{kind: left, cause: errors.Join(landfall.ErrUnavailable, context.DeadlineExceeded)}
	case errors.Is(err, context.Canceled):
		return &fault{kind: left, cause: context.Canceled}
	}
	found := d.classify(err)
	if found.kind == away || found.kind == lost || found.kind == conflict {
		found.cause = landfall.ErrUnavailable
	}
	return &found
}

// is reports whether an error is a fault of some kind.
func is(err error, wanted kind) bool {
	var found *fault
	return errors.As(err, &found) && found.kind == wanted
}

func classifyPostgres(err error) fault {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		return classifyConnection(err)
	}
	found := fault{code: refused.Code, constraint: refused.ConstraintName}
	switch refused.Code {
	case "40001", "40P01": // serialization failure, deadlock
		found.kind = conflict
		return found
	case "57014", // statement time-out
		"55P03",                   // lock time-out
		"25006",                   // read-only: a standby after a failover
		"25P03",                   // idle in transaction for too long
		"28000", "28P01", "3D000": // the server was set up anew
		found.kind = away
		return found
	case "57P01", "57P02", "57P03": // shutting down, crashed, starting up
		found.kind = lost
		return found
	}
	switch refused.Code[:2] {
	case "08": // connection exception
		found.kind = lost
	case "53", "58": // insufficient resources, system error
		found.kind = away
	}
	return found
}

func classifyConnection(err error) fault {
	var network net.Error
	var connect *pgconn.ConnectError
	switch {
	case errors.As(err, &connect):
		return fault{kind: away}
	case errors.Is(err, driver.ErrBadConn), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, sql.ErrConnDone), errors.Is(err, net.ErrClosed), errors.As(err, &network),
		pgconn.SafeToRetry(err):
		return fault{kind: lost}
	case errors.Is(err, pgx.ErrTxCommitRollback):
		return fault{kind: broken, code: "25P02"}
	}
	return fault{kind: broken}
}

// The primary result codes of SQLite that mean "not now".
var sqliteAway = map[int]bool{
	5:  true, // BUSY: another process writes
	6:  true, // LOCKED
	7:  true, // NOMEM
	8:  true, // READONLY: the file system went read-only
	10: true, // IOERR
	13: true, // FULL
	14: true, // CANTOPEN
	15: true, // PROTOCOL: too much traffic on the locks
}

// The codes that are told apart from the others.
const (
	sqliteBusy = "5"
	sqliteFull = "13"
)

func classifySQLite(err error) fault {
	var refused *sqlite.Error
	if !errors.As(err, &refused) {
		if errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) {
			return fault{kind: away}
		}
		return fault{kind: broken}
	}
	found := fault{code: itoa(refused.Code())}
	switch primary := refused.Code() & 0xff; {
	case sqliteAway[primary]:
		found.kind = away
	case primary == 9: // INTERRUPT
		found.kind = left
		found.cause = context.Canceled
	}
	return found
}
