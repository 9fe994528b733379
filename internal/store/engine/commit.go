package engine

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// commit leaves a mark and commits, in one exchange. Neither a caller's
// patience nor a limit of ours cancels a commit under way; when its answer does
// not come, or comes with a warning that a standby was not waited for, it is
// looked up.
func (m *postgres) commit(x *exchange, lazily bool) error {
	// A mark names this commit alone. One used for a second try would be found
	// there, and say that the first had happened.
	left := newMark()
	asked, err := m.send(x, func(batch *pgx.Batch) {
		if lazily {
			batch.Queue("SET LOCAL synchronous_commit = off")
		}
		batch.Queue(postgresDialect.text(leaving), left[:])
	})
	if err == nil || !asked || refused(err) {
		return err
	}
	if m.options.planted != settlesInUse {
		x.end() // what it holds must not be in the way of looking
	}
	committed, unknown := left.settle(m.limits.Settle, m.settle)
	switch {
	case unknown != nil:
		return unknown
	case committed:
		return nil
	}
	// It did not happen and never will, so it may run again.
	return &Fault{kind: lost, cause: ErrUnavailable}
}

// errWarned stands for a commit that the server had doubts about.
var errWarned = &Fault{kind: lost, cause: ErrUnavailable}

// send ends a transaction with a commit and what goes before it. It tells
// whether the server may have been asked to commit: after an error before, it
// skips the rest of the exchange.
func (m *postgres) send(x *exchange, before func(*pgx.Batch)) (asked bool, err error) {
	batch := &pgx.Batch{}
	if x.conn == nil {
		if err := x.take(context.Background()); err != nil {
			return false, err
		}
		batch = x.opening()
	}
	before(batch)
	batch.Queue("COMMIT")
	c := x.conn
	c.wire.limit(m.limits.Commit, time.Now().Add(m.limits.Commit))
	c.warned.Store(false)
	c.committing.Store(true)
	results := c.SendBatch(context.Background(), batch)
	var tag string
	last := batch.Len() - 1
	for i := 0; i <= last && err == nil; i++ {
		var answer pgconn.CommandTag
		answer, err = results.Exec()
		var no *pgconn.PgError
		// The server answers statement by statement. When one before the COMMIT
		// is refused it reads no further, so nothing can have been committed.
		asked = i == last || !errors.As(err, &no)
		tag = answer.String()
	}
	if rest := results.Close(); err == nil {
		err = rest
	}
	// With the outcome open the connection stays marked: the driver must not
	// send a cancellation for it even while it is being closed.
	if !asked || err == nil {
		c.committing.Store(false)
	}
	err = x.note(postgresDialect.wrap(err))
	switch {
	case err != nil:
		return asked, err
	// A failed transaction answers COMMIT with success and the word ROLLBACK.
	case tag != "COMMIT":
		return false, &Fault{kind: broken, code: "25P02"}
	case c.warned.Load():
		return true, errWarned
	}
	return true, nil
}

// refused reports whether the server answered a commit by rolling back.
func refused(err error) bool {
	number := code(err)
	if len(number) < 2 {
		return false
	}
	switch number[:2] {
	case "23", "25", "40": // a constraint, a failed transaction, another one won
		return true
	}
	return false
}

// settle runs fn in a transaction of its own, over a connection that is kept
// for this: those that were lost may all be waiting.
func (m *postgres) settle(_ context.Context, fn func(*Tx) error) error {
	limit := milliseconds(m.limits.Settle)
	x := &exchange{
		pool: m.settles, begin: "BEGIN", silence: m.limits.Settle,
		settings: m.with(setting{"lock_timeout", limit}, setting{"statement_timeout", limit}),
	}
	defer x.end()
	t := &Tx{dialect: postgresDialect, runner: x}
	if err := t.verdict(fn(t)); err != nil {
		return err
	}
	_, err := m.send(x, func(*pgx.Batch) {})
	return err
}
