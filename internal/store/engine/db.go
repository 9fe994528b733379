// Package engine is the machine that writes: it opens a SQLite or PostgreSQL
// database, gives it its schema, lets callers' work wait for its turn in one
// queue, runs it in transactions that many of them share, and finds out what
// became of a commit whose answer was lost. It knows nothing of what is kept.
// docs/engine.md has a drawing of it.
package engine

import (
	"context"
	"io/fs"
	"log/slog"
	"sync"
)

// Options says how a database is opened.
type Options struct {
	// Steps holds the schema steps, one folder for each kind of database:
	// sqlite and postgres.
	Steps fs.FS
	// Server says that this process serves requests from the database: on
	// SQLite it must be the only one, and it keeps the place tidy.
	Server bool
	// ApplySchema brings an older schema up to date; without it an older
	// schema is refused. A newer one is refused always.
	ApplySchema bool
	// AllowWeakDurability accepts a database that may forget answered writes
	// in a power cut. It is for trying things out.
	AllowWeakDurability bool
	// Connections is the most a PostgreSQL server is asked for at once.
	Connections int
	// Limits is the table of time limits; what is zero is as usual.
	Limits Limits
	Logger *slog.Logger

	driver  string // of SQLite; tests put a hostile one before it
	planted fault  // tests put a fault back to see that it is found
}

// fault is a mistake that was made once.
type fault uint8

const (
	noFault        fault = iota
	forgetsJob           // a call is forgotten when its group falls
	settlesInUse         // a lost commit is looked up over the connections that lost it
	blamesAll            // a locked row refuses everybody in its batch
	holdsNothing         // what a write depends on is read without a lock
	uncommitted          // a write that returned rows counts as none
	readsUnordered       // tenants who read take no turns
	waitsForDisk         // a read waits as long as its disk does
)

// withDefaults fills in what was left out, so that everybody behind it finds
// a whole table.
func (o Options) withDefaults() Options {
	if o.Connections <= 0 {
		o.Connections = 24
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
	machine machine
	planted fault
	queue   *queue
	updates *Kind
	sweep   *sweeper
	closed  sync.Once
}

// machine is the way one kind of database runs transactions.
type machine interface {
	// view runs fn over a snapshot that refuses writes.
	view(ctx context.Context, tenant string, fn func(*Tx) error) error
	// stream is view for a part of a list.
	stream(ctx context.Context, tenant string, fn func(*Tx) error) error
	// start lets lanes take work from the queue until it closes.
	start(q *queue)
	// share says how many lanes the database stands.
	share() share
	// embedded says that the database is a file that one server has to itself.
	embedded() bool
	// figures says how connections are used, and how long a log has become.
	figures() (pools []PoolFigures, log int64)
	// close waits for what is under way, within the limits, and opens nothing
	// again.
	close() error
}

// share says how many lanes may do the same at once, and how much of it each.
type share struct {
	calls   int // in a batch of many
	batches int // of one kind of work
	groups  int // in a batch, of calls that bring many wishes each
	grouped int // batches of those
	patient int // calls that wait for somebody else's lock
	updates int
}

// Open connects to the database a name stands for.
func Open(ctx context.Context, name Name, options Options) (*DB, error) {
	options = options.withDefaults()
	machine, err := name.target.open(ctx, options)
	if err != nil {
		return nil, err
	}
	db := &DB{machine: machine, planted: options.planted, queue: newQueue(options.Limits)}
	db.updates = db.kind(func(_ context.Context, t *Tx, calls []*Call) error {
		return calls[0].Work.(func(*Tx) error)(t) //nolint:forcetypeassert // Update made it
	}, 1, machine.share().updates)
	// Only now: a lane that took work before its kind was known would find
	// nothing to run.
	machine.start(db.queue)
	if options.Server {
		db.sweep = newSweeper(db, options.Logger)
	}
	return db, nil
}

// View runs fn over one consistent snapshot. Nothing can be written. Tenants
// take turns, and none has all the places, so that nobody's reading keeps
// another from his.
//
// It answers within the limits even when the disk does not: fn may then still
// be stuck in a statement on another goroutine, so what it fills in must not be
// looked at when View answers with an error.
func (db *DB) View(ctx context.Context, tenant string, fn func(*Tx) error) error {
	if db.planted == readsUnordered {
		tenant = ""
	}
	return db.machine.view(ctx, tenant, fn)
}

// Stream is View for a part of a list. Lists have places of their own, so that
// many of them keep nobody else from reading.
func (db *DB) Stream(ctx context.Context, tenant string, fn func(*Tx) error) error {
	return db.machine.stream(ctx, tenant, fn)
}

// Update runs fn in one transaction of a tenant and commits it durably: when
// Update returns nil, the effect survives a crash of this program and of the
// database. When fn returns an error, nothing of it remains and the same error
// comes back. fn may run more than once and on another goroutine.
//
// Its isolation: on SQLite nobody else writes meanwhile. On PostgreSQL every
// statement sees what was committed before it began, so whatever a write
// depends on must be read with a lock ({hold}) or be a condition of the write
// itself; then two updates of the same row happen one after the other, each
// seeing what the one before it left.
//
// Whatever Update answers, a refusal of fn included, rests on a commit of its
// own: what fn found in the database is as durable as what it wrote.
func (db *DB) Update(ctx context.Context, tenant string, fn func(*Tx) error) error {
	return db.updates.Do(ctx, &Call{Tenant: tenant, Work: fn})
}

// Ping commits a mark and nothing else: only a write proves that the database
// can be written to.
func (db *DB) Ping(ctx context.Context) error {
	return db.Update(ctx, housekeeping, func(*Tx) error { return nil })
}

// Embedded says that the database is a file, which a server has to itself.
func (db *DB) Embedded() bool { return db.machine.embedded() }

// Close ends running work and gives back every resource. Again is fine.
func (db *DB) Close() (err error) {
	db.closed.Do(func() {
		if db.sweep != nil {
			db.sweep.close()
		}
		// First whoever waits is refused, then the lanes end: the other way
		// round a call could be taken by a lane that has no connection any
		// more.
		db.queue.close()
		err = db.machine.close()
	})
	return err
}
