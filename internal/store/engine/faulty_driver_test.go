package engine

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// faultyDriver is a driver before SQLite's own that does as it is told: it fails a
// statement before or after it was carried out, or hangs.
type faultyDriver struct {
	inner   driver.Driver
	lock    sync.Mutex
	failure failure
	ran     atomic.Int64
}

// failure decides about a statement: an error to fail with, and whether it is
// carried out before.
type failure func(text string) (fail error, after bool)

var hostiles atomic.Int64

// newFaultyDriver registers one and gives its name.
func newFaultyDriver(t testing.TB) (*faultyDriver, string) {
	t.Helper()
	db, err := sql.Open("sqlite", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	h := &faultyDriver{inner: db.Driver()}
	name := fmt.Sprint("faultyDriver", hostiles.Add(1))
	sql.Register(name, h)
	return h, name
}

func (h *faultyDriver) set(m failure) {
	h.lock.Lock()
	defer h.lock.Unlock()
	h.failure = m
}

func (h *faultyDriver) decide(text string) (error, bool) { //nolint:revive // as failure has it
	h.ran.Add(1)
	h.lock.Lock()
	m := h.failure
	h.lock.Unlock()
	if m == nil {
		return nil, false
	}
	return m(text)
}

// Open is the driver's.
func (h *faultyDriver) Open(name string) (driver.Conn, error) {
	if fail, _ := h.decide("OPEN"); fail != nil {
		return nil, fail
	}
	conn, err := h.inner.Open(name)
	return &hostileConn{conn, h}, err
}

type hostileConn struct {
	driver.Conn
	of *faultyDriver
}

// PrepareContext is the connection's.
func (c *hostileConn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	inner, err := c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	return &hostileStmt{inner, text, c.of}, nil
}

type hostileStmt struct {
	driver.Stmt
	text string
	of   *faultyDriver
}

// ExecContext is the statement's.
func (s *hostileStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	fail, after := s.of.decide(s.text)
	if fail != nil && !after {
		return nil, fail
	}
	result, err := s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
	if fail != nil {
		return nil, fail
	}
	return result, err
}

// QueryContext is the statement's.
func (s *hostileStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if fail, _ := s.of.decide(s.text); fail != nil {
		return nil, fail
	}
	return s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
}

// coded is an error with a result code of SQLite.
type coded int

// Error names the code.
func (c coded) Error() string { return fmt.Sprint("faultyDriver ", int(c)) }

// Code is what tells the driver's errors apart.
func (c coded) Code() int { return int(c) }

const (
	errIO       coded = 10
	errDiskFull coded = 13
	ordinary    coded = 1
)

// nth fails the n-th statement from now whose text begins with a word.
func nth(n int64, word string, fail error, after bool) failure {
	var seen atomic.Int64
	return func(text string) (error, bool) {
		if strings.HasPrefix(strings.TrimSpace(text), word) && seen.Add(1) == n {
			return fail, after
		}
		return nil, false
	}
}
