package engine

import (
	"context"
	"errors"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"
)

func classifyPostgres(err error) Fault {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		return classifyConnection(err)
	}
	found := Fault{code: refused.Code, constraint: refused.ConstraintName}
	switch refused.Code {
	case "40001", "40P01": // serialization failure, deadlock
		found.kind = conflict
		return found
	case "55P03": // lock time-out
		found.kind = locked
		return found
	case "57014", // statement time-out
		"25006",                   // read-only: a standby after a failover
		"28000", "28P01", "3D000": // the server was set up anew
		found.kind = away
		return found
	case "57P01", "57P02", "57P03", // shutting down, crashed, starting up
		"25P03": // idle in transaction for too long: the connection is gone
		found.kind = lost
		return found
	}
	switch refused.Code[:2] {
	case "08": // connection exception
		found.kind = lost
	case "53", "58": // insufficient resources, system error
		found.kind = away
	}
	var connect *pgconn.ConnectError
	if found.kind == broken && errors.As(err, &connect) {
		// Whatever a server refuses a connection for, nothing was done over it.
		found.kind = away
	}
	return found
}

func classifyConnection(err error) Fault {
	var network net.Error
	var connect *pgconn.ConnectError
	switch {
	case errors.Is(err, context.Canceled):
		return Fault{kind: gave}
	case errors.As(err, &connect):
		return Fault{kind: away}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed),
		errors.As(err, &network), pgconn.SafeToRetry(err):
		return Fault{kind: lost}
	}
	return Fault{kind: broken}
}

// timedOut reports whether an error is that of somebody who said nothing.
func timedOut(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}
