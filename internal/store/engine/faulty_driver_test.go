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

// faultyDriver wraps SQLite's driver. As the test sets it, it fails a statement
// before or after executing it, or hangs.
type faultyDriver struct {
	inner   driver.Driver
	lock    sync.Mutex
	failure failure
	ran     atomic.Int64
}

// failure decides about a statement: the error to return, and whether to
// execute the statement first.
type failure func(text string) (fail error, after bool)

var hostiles atomic.Int64

// newFaultyDriver registers a faultyDriver and returns its name.
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

// Open implements driver.Driver.
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

// PrepareContext implements driver.ConnPrepareContext.
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

// ExecContext implements driver.StmtExecContext.
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

// QueryContext implements driver.StmtQueryContext.
func (s *hostileStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if fail, _ := s.of.decide(s.text); fail != nil {
		return nil, fail
	}
	return s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
}

// coded is an error with a SQLite result code.
type coded int

// Error returns the code as text.
func (c coded) Error() string { return fmt.Sprint("faultyDriver ", int(c)) }

// Code implements the method by which the engine recognises the driver's
// errors.
func (c coded) Code() int { return int(c) }

const (
	errIO       coded = 10
	errDiskFull coded = 13
	ordinary    coded = 1
)

// nth fails the n-th statement from now that starts with a word.
func nth(n int64, word string, fail error, after bool) failure {
	var seen atomic.Int64
	return func(text string) (error, bool) {
		if strings.HasPrefix(strings.TrimSpace(text), word) && seen.Add(1) == n {
			return fail, after
		}
		return nil, false
	}
}
