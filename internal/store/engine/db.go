// Package engine runs transactions on a SQLite or PostgreSQL database. It opens
// the database, applies its schema, queues the work of all callers fairly,
// batches it into shared transactions, and finds out the outcome of a commit
// whose answer was lost. It knows nothing about what is stored. docs/engine.md
// has a diagram.
package engine

import (
	"context"
	"database/sql"
	"io/fs"
	"log/slog"
	"sync"
	"time"

	"landfall/internal/lib/limits"
)

// Options configures how a database is opened.
type Options struct {
	// Steps contains the schema steps, in the folders sqlite and postgres.
	Steps fs.FS
	// Server means that this process serves requests. On SQLite only one may, and
	// it deletes old commit marks.
	Server bool
	// ApplySchema upgrades an older schema; without it an older schema is
	// refused. A newer one is always refused.
	ApplySchema bool
	// BeforeSteps may refuse to change the schema of a PostgreSQL database that has
	// been in use. A file has a lock instead.
	BeforeSteps func(context.Context, *sql.DB) error
	// OnStep is called before a schema step is applied, with the time 0, and after it.
	OnStep func(step SchemaStep, took time.Duration)
	// First is written before anything else, in a transaction of its own, if the
	// database is a file. While it fails, all writes fail with its error.
	First func(context.Context, *Tx) error
	// AllowWeakDurability accepts a database that may lose committed writes in a
	// power cut. It is for trials.
	AllowWeakDurability bool
	// Password returns the password of a PostgreSQL server for a new connection.
	// nil means that the database's name contains it.
	Password func(context.Context) (string, error)
	// Connections limits the connections to a PostgreSQL server.
	Connections int
	// Application is the application_name of connections to a PostgreSQL server,
	// unless the database's name contains one.
	Application string
	// Limits are the time limits; zero values mean the defaults.
	Limits Limits
	Logger *slog.Logger

	driver string // of SQLite; tests wrap it
	step   int64  // the last one in Steps
}

// withDefaults replaces zero values with defaults.
func (o Options) withDefaults() Options {
	if o.Connections <= 0 {
		o.Connections = limits.DatabaseConnections
	}
	if o.Application == "" {
		o.Application = "landfall"
	}
	if o.driver == "" {
		o.driver = "sqlite"
	}
	o.Limits = o.Limits.or(DefaultLimits())
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// DB is an open database.
type DB struct {
	backend backend
	queue   *queue
	updates *Kind
	sweep   *sweeper
	closed  sync.Once
}

// backend runs transactions on one kind of database.
type backend interface {
	// view runs fn on a read-only snapshot.
	view(ctx context.Context, tenant string, fn func(*Tx) error) error
	// stream is view for a page of a list.
	stream(ctx context.Context, tenant string, fn func(*Tx) error) error
	// start starts the workers, which end when the queue closes.
	start(q *queue)
	// concurrency says how much may run at once.
	concurrency() concurrency
	// embedded reports whether the database is a file of one server.
	embedded() bool
	// stats reports the use of connections and the size of a write-ahead log.
	stats() (pools []PoolStats, log int64)
	// close waits for running work, within the limits.
	close() error
}

// concurrency says how many batches may run at once, and how large they are.
type concurrency struct {
	calls        int // in a batch of a large kind
	batches      int // of one kind
	groups       int // in a batch of a group kind
	groupBatches int // of one group kind
	lockWaits    int // of one kind, by calls that wait for a lock
	updates      int
}

// Open opens a database.
func Open(ctx context.Context, name Name, options Options) (*DB, error) {
	options = options.withDefaults()
	var err error
	if options.step, err = lastStep(options.Steps); err != nil {
		return nil, err
	}
	opened, err := name.target.open(ctx, options)
	if err != nil {
		return nil, err
	}
	db := &DB{backend: opened, queue: newQueue(options.Limits)}
	db.updates = db.newKind(func(_ context.Context, t *Tx, calls []*Call) error {
		return calls[0].Work.(func(*Tx) error)(t) //nolint:forcetypeassert // Update made it
	}, 1, opened.concurrency().updates)
	opened.start(db.queue)
	if options.Server {
		db.sweep = newSweeper(db, options.Logger)
	}
	return db, nil
}

// View runs fn on one consistent, read-only snapshot. Tenants take turns, and
// none may use all connections.
//
// View returns within the limits even when the disk hangs. fn may then still run
// on another goroutine, so do not use what it fills in when View returns an
// error.
func (db *DB) View(ctx context.Context, tenant string, fn func(*Tx) error) error {
	return db.backend.view(ctx, tenant, fn)
}

// Stream is View for a page of a list. Lists have a limit of their own, so that
// many of them do not block other reads.
func (db *DB) Stream(ctx context.Context, tenant string, fn func(*Tx) error) error {
	return db.backend.stream(ctx, tenant, fn)
}

// Update runs fn in one transaction of a tenant and commits it durably: when
// Update returns nil, the effect survives a crash of this program and of the
// database. When fn returns an error, all its changes are rolled back and
// Update returns the same error. fn may run more than once and on another
// goroutine.
//
// Isolation: on SQLite there is no other writer meanwhile. On PostgreSQL every
// statement sees what was committed before it began, so everything that a write
// depends on must be read with a lock ({for_update}) or be a condition of the write
// itself. Then two updates of the same row run one after the other, and each
// sees the changes of the one before it.
//
// Everything that Update returns, including an error of fn, depends on a commit
// of its own: the rows that fn read are as durable as those that it wrote.
func (db *DB) Update(ctx context.Context, tenant string, fn func(*Tx) error) error {
	return db.updates.Do(ctx, &Call{Tenant: tenant, Work: fn})
}

// Ping commits a mark and nothing else. Only a write proves that the database is
// writable.
func (db *DB) Ping(ctx context.Context) error {
	return db.Update(ctx, maintenance, func(*Tx) error { return nil })
}

// Embedded reports whether the database is a file of one server.
func (db *DB) Embedded() bool { return db.backend.embedded() }

// Close ends running work and releases all resources. It may be called again.
func (db *DB) Close() (err error) {
	db.closed.Do(func() {
		if db.sweep != nil {
			db.sweep.close()
		}
		// Refuse waiting calls first; otherwise a worker could take one after
		// its connections were closed.
		db.queue.close()
		err = db.backend.close()
	})
	return err
}
