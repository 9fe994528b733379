package engine

import (
	"context"
	"errors"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"
)

// codeLockTimeout is the code of a lock that was not granted in time.
const codeLockTimeout = "55P03"

// noInitFile is how PostgreSQL before version 16 refuses a new connection when
// its disk is full: it gives no better code.
const noInitFile = "could not write init file"

func classifyPostgres(err error) Fault {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		return classifyConnection(err)
	}
	if refused.Code == "XX000" && refused.Message == noInitFile {
		return Fault{kind: faultUnavailable, code: "53100"}
	}
	found := Fault{code: refused.Code, constraint: refused.ConstraintName}
	switch refused.Code {
	case "40001", "40P01": // serialization failure, deadlock
		found.kind = faultConflict
		return found
	case codeLockTimeout:
		found.kind = faultLocked
		return found
	case "57014", // statement time-out
		"25006",                   // read-only: a standby after a failover
		"28000", "28P01", "3D000": // the server was set up again
		found.kind = faultUnavailable
		return found
	case "57P01", "57P02", "57P03", // shutting down, crashed, starting up
		"25P03": // idle in transaction for too long: the connection is closed
		found.kind = faultConnection
		return found
	}
	switch refused.Code[:2] {
	case "08": // connection exception
		found.kind = faultConnection
	case "53", "58": // insufficient resources, system error
		found.kind = faultUnavailable
	}
	var connect *pgconn.ConnectError
	if found.kind == faultInternal && errors.As(err, &connect) {
		// Nothing was done over a connection that was refused.
		found.kind = faultUnavailable
	}
	return found
}

func classifyConnection(err error) Fault {
	var network net.Error
	var connect *pgconn.ConnectError
	switch {
	case errors.Is(err, context.Canceled):
		return Fault{kind: faultCancelled}
	case errors.As(err, &connect):
		return Fault{kind: faultUnavailable}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed),
		errors.As(err, &network), pgconn.SafeToRetry(err):
		return Fault{kind: faultConnection}
	}
	return Fault{kind: faultInternal}
}

// timedOut reports whether an error is a network timeout.
func timedOut(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}
