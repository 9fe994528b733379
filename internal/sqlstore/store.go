// Package sqlstore keeps everything in SQLite or PostgreSQL, with one SQL text
// for both. What differs between them is written down in two dialect values;
// what they promise together is written down in landfall.Store.
package sqlstore

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"landfall"
)

// Options says how a store is opened. The zero value is good for commands.
type Options struct {
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
	// StatementTimeout ends a statement that takes too long, LockTimeout one
	// that waits too long for another transaction.
	StatementTimeout time.Duration
	LockTimeout      time.Duration
	Logger           *slog.Logger
	// Random is where account numbers come from; nil means the system's own
	// source. Many goroutines read it at once.
	Random io.Reader
}

func (o Options) withDefaults() Options {
	if o.Connections <= 0 {
		o.Connections = 24
	}
	if o.StatementTimeout <= 0 {
		o.StatementTimeout = 15 * time.Second
	}
	if o.LockTimeout <= 0 {
		o.LockTimeout = 5 * time.Second
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Store is a landfall.Store over one database.
type Store struct {
	engine    engine
	closed    sync.Once
	stagings  *convoy[document, landfall.StageOutcome]
	claims    *convoy[landfall.ClaimRequest, landfall.ClaimOutcome]
	creations *convoy[*landfall.Creation, landfall.CreateOutcome]
	postings  *convoy[*posting, landfall.PostOutcome]
	draw      func() (string, error) // an account number
	sweep     *sweeper
}

var _ landfall.Store = (*Store)(nil)

// engine is the way one kind of database runs transactions.
type engine interface {
	// view runs fn over a snapshot that refuses writes.
	view(ctx context.Context, fn func(*session) error) error
	// update runs fn in a transaction and commits it, or says why not. When
	// fn wrote nothing there is nothing to commit, unless mustWrite asks for
	// a commit that proves that the database can be written to.
	update(ctx context.Context, mustWrite bool, fn func(*session) error) error
	// stream is view for a query that may take long.
	stream(ctx context.Context, fn func(*session) error) error
	// lanes is how many joined stagings may be under way at once.
	lanes() int
	close() error
}

// Open connects to the database a URL names: "sqlite:FILE", a bare file name,
// or "postgres://…".
func Open(ctx context.Context, url string, options Options) (*Store, error) {
	options = options.withDefaults()
	target, err := parse(url)
	if err != nil {
		return nil, err
	}
	base, err := target.open(ctx, options)
	if err != nil {
		return nil, err
	}
	store := &Store{engine: base}
	store.stagings = newConvoy(base.lanes(), store.stage)
	store.draw = func() (string, error) { return landfall.NewAccountNumber(options.Random) }
	store.claims = newConvoy(base.lanes(), store.claim)
	store.creations = newConvoy(base.lanes(), store.create)
	store.postings = newConvoy(base.lanes(), store.post)
	if options.Server {
		store.sweep = newSweeper(base, options.Logger)
	}
	return store, nil
}

// View runs fn over one consistent snapshot.
func (s *Store) View(ctx context.Context, fn func(landfall.View) error) error {
	return s.engine.view(ctx, func(session *session) error {
		return fn(&view{session})
	})
}

// Update runs fn in one transaction and commits it durably.
func (s *Store) Update(ctx context.Context, fn func(landfall.Tx) error) error {
	return s.engine.update(ctx, false, func(session *session) error {
		return fn(&tx{view{session}})
	})
}

// Ping commits a mark and nothing else: only a write proves that the database
// can be written to.
func (s *Store) Ping(ctx context.Context) error {
	return s.engine.update(ctx, true, func(*session) error { return nil })
}

// Close ends running work and gives back every resource. Again is fine.
func (s *Store) Close() (err error) {
	s.closed.Do(func() {
		if s.sweep != nil {
			s.sweep.close()
		}
		s.stagings.close()
		s.claims.close()
		s.creations.close()
		s.postings.close()
		err = s.engine.close()
	})
	return err
}

// view reads within one transaction.
type view struct{ *session }

// tx reads and writes within one transaction. Only an engine's update hands
// one out, so nothing can be written outside a transaction.
type tx struct{ view }

// errClosed is what every method answers after Close.
var errClosed = errors.Join(landfall.ErrUnavailable, errors.New("store is closed"))
