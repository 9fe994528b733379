package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"landfall/internal/lib/admission"
)

// postgresDB has separate connections for reads, writes and lookups of lost
// commits, so that none can use up those of the others.
type postgresDB struct {
	options     Options
	limits      Limits
	writes      *pgPool
	reads       *pgPool
	resolves    *pgPool
	readLimiter *admission.Limiter // of reads
	listLimiter *admission.Limiter // of those, for pages of lists
	// session are the settings that every transaction must apply, because the
	// connection could not be started with them.
	session []setting
	workers sync.WaitGroup
	queue   *queue
}

// open connects, refuses a server without durable commits, and brings the schema
// up to date. The split of the connections is fixed: a part that could be
// borrowed would be missing just when it is needed.
func (p *postgresServer) open(ctx context.Context, options Options) (backend, error) {
	config := p.config.Copy()
	if config.ConnectTimeout == 0 || config.ConnectTimeout > options.Limits.Connect {
		config.ConnectTimeout = options.Limits.Connect
	}
	all := max(5, options.Connections)
	settles := max(1, all/6)
	writes := max(2, all/2)
	reads := max(2, all-writes-settles)
	m := &postgresDB{
		options: options, limits: options.Limits,
		readLimiter: newReadLimiter(reads, options), listLimiter: newReadLimiter(max(1, reads-2), options),
	}
	m.session = sessionSettings(options.Limits)
	config, accepted, err := negotiate(ctx, config, options, m.session)
	if err != nil {
		return nil, err
	}
	if accepted {
		m.session = nil
	}
	shared := &generation{} // all pools lead to the same server
	m.writes = newPGPool(config, options, shared, writes)
	m.reads = newPGPool(config, options, shared, reads)
	m.resolves = newPGPool(config, options, shared, settles)
	if err := m.check(ctx); err != nil {
		return nil, errors.Join(err, m.close())
	}
	if err := p.upgrade(ctx, options); err != nil {
		return nil, errors.Join(err, m.close())
	}
	return m, nil
}

// check refuses a server that may lose committed writes.
func (m *postgresDB) check(ctx context.Context) error {
	return m.view(ctx, maintenance, func(t *Tx) error {
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
				return t.Fail(err)
			}
			if !m.options.AllowWeakDurability {
				return fmt.Errorf("PostgreSQL runs with %s and may lose committed writes", weak)
			}
			m.options.Logger.Warn("PostgreSQL may lose committed writes", "setting", weak)
		}
		return t.Fail(rows.Err())
	})
}

// concurrency lets two batches of a kind run: while one waits for the disk, the
// other works. More would make smaller batches. Groups are batches already, so
// more of them run, one in each transaction; together they would all be answered,
// and all come back, at once. Calls that wait for locks never occupy all workers.
func (m *postgresDB) concurrency() concurrency {
	third := max(1, cap(m.writes.slots)/3)
	return concurrency{
		calls: maxLargeBatch, batches: 2, groups: 1, groupBatches: min(3, max(2, cap(m.writes.slots)/2)),
		lockWaits: third, updates: third,
	}
}

// embedded is false: several replicas may share the server.
func (m *postgresDB) embedded() bool { return false }

// close waits for the workers, which end within the limits.
func (m *postgresDB) close() error {
	done := make(chan struct{})
	go func() {
		m.workers.Wait()
		close(done)
	}()
	var err error
	select {
	case <-done:
	case <-time.After(m.limits.served()):
		err = ErrUnavailable // they end later
	}
	m.writes.close()
	m.reads.close()
	m.resolves.close()
	return err
}

// readOnly begins a transaction whose statements all see the same snapshot and
// cannot write.
const readOnly = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

// view reads over a snapshot.
func (m *postgresDB) view(ctx context.Context, tenant string, fn func(*Tx) error) error {
	return m.read(ctx, tenant, nil, fn)
}

// read waits for its turn before it takes a connection, which it would otherwise
// keep from others.
func (m *postgresDB) read(ctx context.Context, tenant string, settings []setting, fn func(*Tx) error) error {
	if m.reads.isClosed() {
		return ErrClosed
	}
	leave, err := m.readLimiter.Acquire(ctx, admission.Request{Tenant: tenant})
	if err != nil {
		return notAdmitted(ctx, err)
	}
	defer leave()
	r := &pgTx{pool: m.reads, begin: readOnly, settings: m.with(settings...), silence: m.limits.Silence}
	defer r.end()
	t := &Tx{dialect: postgresDialect, runner: r}
	return t.finish(fn(t))
}

// stream keeps lists from using all connections for reads, and the planner from
// sorting a million rows that the index has in order.
func (m *postgresDB) stream(ctx context.Context, tenant string, fn func(*Tx) error) error {
	leave, err := m.listLimiter.Acquire(ctx, admission.Request{Tenant: tenant})
	if err != nil {
		return notAdmitted(ctx, err)
	}
	defer leave()
	return m.read(ctx, tenant, []setting{{"enable_sort", "off"}}, fn)
}
