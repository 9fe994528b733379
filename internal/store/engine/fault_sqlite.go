package engine

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strconv"
)

// sqliteAway contains the primary result codes of SQLite that mean that it is
// unavailable.
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

// Codes that are treated separately.
const (
	sqliteBusy  = "5"
	sqliteNoDB  = "26"
	sqliteCant  = "14"
	interrupted = 9

	sqliteCorrupt = 11
)

func classifySQLite(err error) Fault {
	var refused interface{ Code() int } // the driver's *sqlite.Error
	if !errors.As(err, &refused) {
		if errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) {
			return Fault{kind: faultUnavailable}
		}
		return Fault{kind: faultInternal}
	}
	found := Fault{code: strconv.Itoa(refused.Code())}
	switch primary := refused.Code() & 0xff; {
	case sqliteAway[primary]:
		found.kind = faultUnavailable
	case primary == interrupted:
		found.kind = faultCancelled
		found.cause = context.Canceled
	}
	return found
}
