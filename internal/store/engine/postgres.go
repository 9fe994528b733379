package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"landfall/internal/lib/admission"
)

// postgres keeps readers, writers and those who look up lost commits apart, so
// that none can use up the connections of the others.
type postgres struct {
	options Options
	limits  Limits
	writes  *pool
	reads   *pool
	settles *pool
	turns   *admission.Limiter // of those who read
	lists   *admission.Limiter // of them, those who read a part of a list
	// session is what a connection that we do not have to ourselves must be
	// told in every transaction; nothing where it was told at its start.
	session []setting
	lanes   sync.WaitGroup
	queue   *queue
}

// open connects, refuses a server that cannot keep its promises, and brings
// the schema up to date. The connections are split for good: a share that
// could be borrowed would be gone just when it is needed.
func (p *postgresServer) open(ctx context.Context, options Options) (machine, error) {
	config := p.config.Copy()
	if config.ConnectTimeout == 0 || config.ConnectTimeout > options.Limits.Connect {
		config.ConnectTimeout = options.Limits.Connect
	}
	all := max(5, options.Connections)
	settles := max(1, all/6)
	writes := max(2, all/2)
	reads := max(2, all-writes-settles)
	m := &postgres{
		options: options, limits: options.Limits,
		turns: readTurns(reads, options), lists: readTurns(max(1, reads-2), options),
	}
	m.session = sessionSettings(options.Limits)
	greeted, told, err := greet(ctx, config, options.Limits, m.session)
	if err != nil {
		return nil, err
	}
	if told {
		m.session = nil
	}
	// All three lead to the same server: what one learns counts for all.
	common := &era{}
	m.writes = newPool(greeted, options.Limits, common, writes)
	m.writes.planted = options.planted
	m.reads = newPool(greeted, options.Limits, common, reads)
	m.settles = newPool(greeted, options.Limits, common, settles)
	if options.planted == settlesInUse {
		m.settles = m.writes
	}
	if err := m.check(ctx); err != nil {
		return nil, errors.Join(err, m.close())
	}
	if err := p.upgrade(ctx, options); err != nil {
		return nil, errors.Join(err, m.close())
	}
	return m, nil
}

// check refuses a server that may forget answered writes.
func (m *postgres) check(ctx context.Context) error {
	return m.view(ctx, housekeeping, func(t *Tx) error {
		rows, err := t.Query(ctx, `SELECT name || '=' || setting FROM pg_settings
			WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes') AND setting = 'off'
			OR name = 'server_encoding' AND setting <> 'UTF8'`)
		if err != nil {
			return fmt.Errorf("cannot use the PostgreSQL server: %w", err)
		}
		defer rows.Close()
		for rows.Next() {
			var weak string
			if err := rows.Scan(&weak); err != nil {
				return t.Note(err)
			}
			if !m.options.AllowWeakDurability {
				return fmt.Errorf("PostgreSQL runs with %s and may lose answered writes", weak)
			}
			m.options.Logger.Warn("PostgreSQL may lose answered writes", "setting", weak)
		}
		return t.Note(rows.Err())
	})
}

// share lets two batches of a kind be under way: while one waits for the disk,
// the other is at work. More would make smaller batches. Groups are batches already, of
// which more can be under way; joined they would all be answered at once, and all come
// back at once. Who waits for locks never has all the lanes.
func (m *postgres) share() share {
	third := max(1, cap(m.writes.slots)/3)
	return share{
		calls: longestMany, batches: 2, groups: 1, grouped: min(3, max(2, cap(m.writes.slots)/2)),
		patient: third, updates: third,
	}
}

// embedded is false: many replicas may share the server.
func (m *postgres) embedded() bool { return false }

// close lets lanes end what they have begun, within the limits that it has
// anyway.
func (m *postgres) close() error {
	done := make(chan struct{})
	go func() {
		m.lanes.Wait()
		close(done)
	}()
	var err error
	select {
	case <-done:
	case <-time.After(m.limits.served()):
		err = ErrUnavailable // they end by themselves
	}
	m.writes.close()
	m.reads.close()
	m.settles.close()
	return err
}

// readOnly makes every statement of a view see the same moment, and has the
// server refuse what would write.
const readOnly = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

// view reads over a snapshot.
func (m *postgres) view(ctx context.Context, tenant string, fn func(*Tx) error) error {
	return m.read(ctx, tenant, nil, fn)
}

// read waits for its turn before it takes a connection: who waited with one
// in hand would keep it from those whose turn it is.
func (m *postgres) read(ctx context.Context, tenant string, settings []setting, fn func(*Tx) error) error {
	if m.reads.ended() {
		return ErrClosed
	}
	leave, err := m.turns.Acquire(ctx, admission.Request{Tenant: tenant})
	if err != nil {
		return turnedAway(ctx, err)
	}
	defer leave()
	r := &exchange{pool: m.reads, begin: readOnly, settings: m.with(settings...), silence: m.limits.Silence}
	defer r.end()
	t := &Tx{dialect: postgresDialect, runner: r}
	return t.verdict(fn(t))
}

// stream keeps lists from taking every connection that reads, and the planner
// from sorting a million rows that the index has in order.
func (m *postgres) stream(ctx context.Context, tenant string, fn func(*Tx) error) error {
	leave, err := m.lists.Acquire(ctx, admission.Request{Tenant: tenant})
	if err != nil {
		return turnedAway(ctx, err)
	}
	defer leave()
	return m.read(ctx, tenant, []setting{{"enable_sort", "off"}}, fn)
}
