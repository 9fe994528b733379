package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"landfall"
)

// postgresServer names a PostgreSQL database.
type postgresServer struct{ config *pgx.ConnConfig }

func parsePostgres(text string) (target, error) {
	asked, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("the PostgreSQL URL cannot be read: check it for characters that need escaping")
	}
	config, err := pgx.ParseConfig(text)
	if err != nil {
		return nil, errors.New("the PostgreSQL URL holds a setting that cannot be read")
	}
	if config.DefaultQueryExecMode == pgx.QueryExecModeSimpleProtocol {
		return nil, errors.New("default_query_exec_mode=simple_protocol can repeat a write whose answer was lost: use exec or cache_describe")
	}
	if !asked.Query().Has("target_session_attrs") {
		config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 5 * time.Second
	}
	config.DialFunc = (&net.Dialer{KeepAlive: 15 * time.Second}).DialContext
	return &postgresServer{config}, nil
}

// pool opens connections with the settings of a session. What the URL says
// itself counts more.
func (p *postgresServer) pool(size int, settings map[string]string) *sql.DB {
	config := p.config.Copy()
	for name, value := range settings {
		if _, ok := config.RuntimeParams[name]; !ok {
			config.RuntimeParams[name] = value
		}
	}
	db := stdlib.OpenDB(*config)
	db.SetMaxOpenConns(size)
	db.SetMaxIdleConns(size)
	db.SetConnMaxIdleTime(5 * time.Minute)
	return db
}

func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// postgresEngine keeps readers and writers apart, so that neither can use up
// the connections of the other.
type postgresEngine struct {
	writes *sql.DB
	reads  *sql.DB
	lists  chan struct{} // how many lists may run at once
	closed atomic.Bool
}

func (p *postgresServer) open(ctx context.Context, options Options) (engine, error) {
	settings := map[string]string{
		"application_name":                    "landfall",
		"statement_timeout":                   milliseconds(options.StatementTimeout),
		"lock_timeout":                        milliseconds(options.LockTimeout),
		"idle_in_transaction_session_timeout": milliseconds(4 * options.StatementTimeout),
		// Our statements look rows up by their keys: one plan fits all.
		"plan_cache_mode": "force_generic_plan",
		// A plan made while a table was small stays for long, so it must be one
		// that is good for a large table: one that looks at few rows.
		"enable_seqscan": "off", "enable_hashjoin": "off", "enable_mergejoin": "off",
		"cpu_tuple_cost": "1", "random_page_cost": "0.1",
		// Statements after a wait must see what was waited for.
		"default_transaction_isolation": "read committed",
	}
	half := max(2, options.Connections/2)
	e := &postgresEngine{
		writes: p.pool(half, settings), reads: p.pool(half, settings), lists: make(chan struct{}, max(1, half-2)),
	}
	if err := e.check(ctx, options); err != nil {
		return nil, errors.Join(err, e.close())
	}
	if err := p.upgrade(ctx, options); err != nil {
		return nil, errors.Join(err, e.close())
	}
	return e, nil
}

// check refuses a server that may forget answered writes.
func (e *postgresEngine) check(ctx context.Context, options Options) error {
	return e.view(ctx, func(s *session) error {
		weak, err := collect(ctx, s, func(scan scanner, name *string) error { return scan(name) },
			`SELECT name || '=' || setting FROM pg_settings
			WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes') AND setting = 'off'
			OR name = 'server_encoding' AND setting <> 'UTF8'`)
		if err != nil {
			return fmt.Errorf("cannot use the PostgreSQL server: %w", err)
		}
		for _, setting := range weak {
			if !options.AllowWeakDurability {
				return fmt.Errorf("PostgreSQL runs with %s and may lose answered writes", setting)
			}
			options.Logger.Warn("PostgreSQL may lose answered writes", "setting", setting)
		}
		return nil
	})
}

// lanes is two: while one batch waits for the disk, the other is at work. More
// lanes make smaller batches.
func (e *postgresEngine) lanes() int { return 2 }

func (e *postgresEngine) close() error {
	e.closed.Store(true)
	return postgresDialect.wrap(errors.Join(e.writes.Close(), e.reads.Close()))
}

func (e *postgresEngine) view(ctx context.Context, fn func(*session) error) error {
	if e.closed.Load() {
		return errClosed
	}
	begun, err := e.reads.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return postgresDialect.wrap(err)
	}
	defer begun.Rollback()
	s := &session{dialect: postgresDialect, runner: begun}
	return s.verdict(fn(s))
}

// stream lifts the limit on statements, which is meant for short ones, and
// keeps the planner from sorting a million rows that the index has in order.
func (e *postgresEngine) stream(ctx context.Context, fn func(*session) error) error {
	select {
	case e.lists <- struct{}{}:
	case <-ctx.Done():
		return postgresDialect.wrap(ctx.Err())
	}
	defer func() { <-e.lists }()
	return e.view(ctx, func(s *session) error {
		var lifted, kept string
		if err := s.one(ctx, `SELECT set_config('statement_timeout', '0', true), set_config('enable_sort', 'off', true)`,
			nil, []any{&lifted, &kept}); err != nil {
			return err
		}
		return fn(s)
	})
}

const (
	longestRetry = 5
	updateLimit  = time.Minute
)

func (e *postgresEngine) update(ctx context.Context, mustWrite bool, fn func(*session) error) error {
	for attempt := 1; ; attempt++ {
		if e.closed.Load() {
			return errClosed
		}
		err := e.attempt(ctx, mustWrite, fn)
		// Before its commit a transaction leaves nothing, so it may run again:
		// when another one was in its way, or when its connection broke.
		again := is(err, conflict) || is(err, lost) && attempt == 1
		if !again || attempt == longestRetry {
			return err
		}
		pause := time.Duration(rand.Int64N(int64(10*time.Millisecond) << attempt)) //nolint:gosec // only to come at another time than the others
		select {
		case <-ctx.Done():
			return postgresDialect.wrap(ctx.Err())
		case <-time.After(pause):
		}
	}
}

// attempt runs fn in a transaction once. A fault that says conflict or lost
// means that nothing of it remains.
func (e *postgresEngine) attempt(ctx context.Context, mustWrite bool, fn func(*session) error) error {
	// The caller's patience ends statements, but never a commit under way.
	whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), updateLimit)
	defer cancel()
	conn, err := e.writes.Conn(ctx)
	if err != nil {
		return postgresDialect.wrap(err)
	}
	defer conn.Close()
	begun, err := conn.BeginTx(whole, nil)
	if err != nil {
		return postgresDialect.wrap(err)
	}
	defer begun.Rollback()
	s := &session{dialect: postgresDialect, runner: begun}
	err = s.verdict(fn(s))
	if err != nil || !s.wrote && !mustWrite {
		return err
	}
	m := newMark()
	if err := m.leave(ctx, &tx{view{&session{dialect: postgresDialect, runner: begun}}}); err != nil {
		return err
	}
	err = postgresDialect.wrap(begun.Commit())
	if err == nil || refused(err) {
		return err
	}
	committed, unknown := m.settle(ctx, e.alone)
	switch {
	case unknown != nil:
		return unknown
	case committed:
		return nil
	}
	// It did not happen and never will, so it may run again.
	return &fault{kind: lost, cause: landfall.ErrUnavailable}
}

// refused reports whether the server answered a commit by rolling back.
func refused(err error) bool {
	var answer *fault
	if !errors.As(err, &answer) || len(answer.code) < 2 {
		return false
	}
	switch answer.code[:2] {
	case "23", "25", "40": // a constraint, a failed transaction, another one won
		return true
	}
	return false
}

// alone runs fn in a transaction of its own, without a mark.
func (e *postgresEngine) alone(ctx context.Context, fn func(*tx) error) error {
	begun, err := e.writes.BeginTx(ctx, nil)
	if err != nil {
		return postgresDialect.wrap(err)
	}
	defer begun.Rollback()
	s := &session{dialect: postgresDialect, runner: begun}
	if err := s.verdict(fn(&tx{view{s}})); err != nil {
		return err
	}
	return postgresDialect.wrap(begun.Commit())
}
