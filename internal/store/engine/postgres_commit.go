package engine

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// commit inserts a mark and commits, in one round trip. Nothing cancels a commit
// that was sent. If its answer does not arrive, or warns that a standby was not
// waited for, the outcome is looked up.
func (m *postgresDB) commit(x *pgTx, async bool) error {
	// A mark is for this commit only: one that was used again would be found and
	// say that the first commit had happened.
	mark := newMark()
	asked, err := m.send(x, func(batch *pgx.Batch) {
		if async {
			batch.Queue("SET LOCAL synchronous_commit = off")
		}
		batch.Queue(postgresDialect.text(insertMark(m.options.step)), mark[:])
	})
	if errorCode(err) == postgresFenced {
		return errOutdated
	}
	if err == nil || !asked || commitRefused(err) {
		return err
	}
	x.end() // its locks must not block the lookup
	committed, unknown := mark.resolve(m.limits.Resolve, m.inResolveTx)
	switch {
	case unknown != nil:
		return unknown
	case committed:
		return nil
	}
	// It did not happen and never will, so the transaction may run again.
	return &Fault{kind: faultConnection, cause: ErrUnavailable}
}

// errWarned is the error of a commit that the server warned about.
var errWarned = &Fault{kind: faultConnection, cause: ErrUnavailable}

// send ends a transaction with the statements of before and a COMMIT. It reports
// whether the server may have been asked to commit: after an error it skips the
// rest of the batch.
func (m *postgresDB) send(x *pgTx, before func(*pgx.Batch)) (asked bool, err error) {
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
		// The server answers statement by statement. If it refuses one before the
		// COMMIT, it skips the rest, so nothing was committed.
		asked = i == last || !errors.As(err, &no)
		tag = answer.String()
	}
	if rest := results.Close(); err == nil {
		err = rest
	}
	// While the outcome is open, committing stays set: the driver must not send
	// a cancellation even while it closes the connection.
	if !asked || err == nil {
		c.committing.Store(false)
	}
	err = x.note(postgresDialect.wrap(err))
	switch {
	case err != nil:
		return asked, err
	// A failed transaction answers COMMIT with the tag ROLLBACK.
	case tag != "COMMIT":
		return false, &Fault{kind: faultInternal, code: "25P02"}
	case c.warned.Load():
		return true, errWarned
	}
	return true, nil
}

// commitRefused reports whether the server rolled back instead of committing.
func commitRefused(err error) bool {
	number := errorCode(err)
	if len(number) < 2 {
		return false
	}
	switch number[:2] {
	case "23", "25", "40": // a constraint, a failed transaction, another one won
		return true
	}
	return false
}

// inResolveTx runs fn in a transaction on a connection reserved for lookups,
// because all others may be stuck.
func (m *postgresDB) inResolveTx(_ context.Context, fn func(*Tx) error) error {
	limit := milliseconds(m.limits.Resolve)
	x := &pgTx{
		pool: m.resolves, begin: "BEGIN", silence: m.limits.Resolve,
		settings: m.with(setting{"lock_timeout", limit}, setting{"statement_timeout", limit}),
	}
	defer x.end()
	t := &Tx{dialect: postgresDialect, runner: x}
	if err := t.finish(fn(t)); err != nil {
		return err
	}
	_, err := m.send(x, func(*pgx.Batch) {})
	return err
}
