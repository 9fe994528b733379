// Package sqlstore keeps everything in SQLite or PostgreSQL, with one SQL text
// for both: one file for each noun or verb. How texts are run, joined and
// committed is the engine's; what they promise together is written down in
// landfall.Store.
package sqlstore

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"landfall"
	"landfall/internal/store/engine"
	"landfall/internal/store/seal"
	"landfall/internal/store/sqlset"
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
	// LockTimeout ends a wait for another transaction, or on SQLite for
	// another process.
	LockTimeout time.Duration
	// Patience is how long one transaction may take, for whoever counts all
	// there is; zero is as usual.
	TransactionTimeout time.Duration
	Logger             *slog.Logger
	// Random is where account numbers come from; nil means the system's own
	// source. Many goroutines read it at once.
	Random io.Reader
	// SearchTerms says what an account of a supplier's region is found by, where
	// only whole terms are found or beginnings too. Without it nothing is
	// entered, and accounts are found by their numbers alone.
	SearchTerms func(data *landfall.AccountData, region string, whole bool) []landfall.SearchTerm
	// Terms is how those are kept; nil keeps them as they are, or as digests
	// where there are keys.
	Terms landfall.TermEncoder
	// Keys encrypt what is personal, the first one what is written; a database
	// that was written with keys opens with no others. Without any it is kept
	// as it is.
	Keys []seal.Key
	// Looks says that the database is only looked at: it is not made one that is
	// encrypted.
	ReadOnly bool
	// turn is how long work waits for its turn before it is refused; zero is as
	// usual.
	queueTimeout time.Duration
}

// engine gives the options as the engine reads them.
func (o Options) engine() engine.Options {
	limits := engine.Limits{Lock: o.LockTimeout, Transaction: o.TransactionTimeout, QueueWait: o.queueTimeout, Admission: o.queueTimeout}
	return engine.Options{
		Steps: schemaSteps(), Server: o.Server, ApplySchema: o.ApplySchema, AllowWeakDurability: o.AllowWeakDurability,
		Connections: o.Connections, Limits: limits, Logger: o.Logger,
	}
}

// Store is a landfall.Store over one database.
type Store struct {
	db            *engine.DB
	stagings      *batchVerb[stagedDocument, landfall.StageOutcome]
	groupStagings *engine.Kind // many stagings of one caller
	claims        *batchVerb[landfall.ClaimRequest, landfall.ClaimOutcome]
	peeks         *batchVerb[landfall.ClaimRequest, landfall.ClaimOutcome]
	counted       *batchVerb[landfall.ClaimRequest, landfall.ClaimOutcome]
	creations     *batchVerb[*prepared, landfall.CreateOutcome]
	dryRuns       *batchVerb[*prepared, landfall.CreateOutcome]
	releases      *batchVerb[release, struct{}]
	postings      *batchVerb[*posting, landfall.PostOutcome]
	refusals      *batchVerb[refusal, struct{}]
	undos         *batchVerb[*undoing, landfall.UndoOutcome]
	// The same for a run, which brings whole batches.
	groupClaims, groupPeeks, groupCounted, settlements *engine.Kind

	sealer   *sealer                // nil where nothing is encrypted
	key      seal.Key               // encrypts what is written, if anything is encrypted
	keys     keyCache               // of the keys that write
	expected atomic.Int32           // newcomers or oldFriends
	draw     func() (string, error) // an account number

	terms    landfall.TermEncoder
	termsOf  func(data *landfall.AccountData, region string, whole bool) []landfall.SearchTerm
	indexing sync.Mutex         // one at a time enters terms
	logged   landfall.Watermark // of the log, for whoever enters
}

// Everything above knows it by this port alone.
var _ landfall.Store = (*Store)(nil)

// Open connects to the database a URL names: "sqlite:FILE", a bare file name,
// or "postgres://…".
func Open(ctx context.Context, url string, options Options) (*Store, error) {
	name, err := engine.Parse(url)
	if err != nil {
		return nil, err
	}
	if options.Random == nil {
		options.Random = rand.Reader
	}
	db, err := engine.Open(ctx, name, options.engine())
	if err != nil {
		return nil, translate(err)
	}
	store := &Store{
		db: db, draw: func() (string, error) { return landfall.NewAccountNumber(options.Random) },
		terms: options.Terms, termsOf: options.SearchTerms,
	}
	// Before anything is read or written: a key that is missing has to be found out
	// here, and not by the first caller whose account does not open.
	if err := store.openKeys(ctx, options.Keys, options.ReadOnly); err != nil {
		_ = db.Close() // the error that brought us here counts
		return nil, err
	}
	if store.terms == nil {
		store.terms = store.sealer.terms()
	}
	store.declareVerbs()
	if err := store.prepare(ctx, options); err != nil {
		_ = db.Close() // the error that brought us here counts
		return nil, err
	}
	return store, nil
}

// prepare does what must have been done before anybody is served.
func (s *Store) prepare(ctx context.Context, options Options) error {
	if !options.Server {
		return nil
	}
	if err := s.checkIdentity(ctx); err != nil {
		return err
	}
	// A server is alone with its file. On PostgreSQL other replicas may be at work
	// with claims of their own, which end by their leases.
	if s.db.Embedded() {
		if err := s.freeClaims(ctx); err != nil {
			return err
		}
	}
	return nil
}

// declareVerbs declares the verbs that are done for many callers at once. All of them
// ask whether their author may still write, in the transaction that writes.
func (s *Store) declareVerbs() {
	claimant := func(r landfall.ClaimRequest) landfall.Author { return r.By }
	creator := func(c *prepared) landfall.Author { return c.By }
	s.stagings = newBatchVerb(s, ifAuthorised(&s.keys, func(d stagedDocument) landfall.Author { return d.By }, (*tx).stage))
	s.groupStagings = newGroup(s, longestGroup, ifAuthorised(&s.keys, func(d stagedDocument) landfall.Author { return d.By }, (*tx).stage))
	s.refusals = newBatchVerb(s, ifAuthorised(&s.keys, func(r refusal) landfall.Author { return r.By }, (*tx).refuseStaging))
	s.claims = newBatchVerb(s, ifAuthorised(&s.keys, claimant, (*tx).claim))
	s.peeks = newBatchVerb(s, ifAuthorised(&s.keys, claimant, (*tx).peek))
	s.counted = newBatchVerb(s, ifAuthorised(&s.keys, claimant, (*tx).claimCounted))
	s.creations = newBatchVerb(s, ifAuthorised(&s.keys, creator, s.create))
	s.dryRuns = newBatchVerb(s, ifAuthorised(&s.keys, creator, s.dryRun))
	s.releases = newBatchVerb(s, s.release)
	s.postings = newLongBatchVerb(s, ifAuthorised(&s.keys, func(p *posting) landfall.Author { return p.By }, (*tx).post))
	s.groupClaims = newGroup(s, sqlset.MaxBatch, ifAuthorised(&s.keys, claimant, (*tx).claim))
	s.groupPeeks = newGroup(s, longestGroup, ifAuthorised(&s.keys, claimant, (*tx).peek))
	s.groupCounted = newGroup(s, sqlset.MaxBatch, ifAuthorised(&s.keys, claimant, (*tx).claimCounted))
	s.settlements = s.db.NewKind(s.settleAll)
	s.undos = newBatchVerb(s, (*tx).undo) // an operator has no key
}

// view and tx give the engine's transaction in the words of this package.
func (s *Store) view(t *engine.Tx) *view { return &view{&txSession{t, s.sealer, &s.expected}} }
func (s *Store) tx(t *engine.Tx) *tx     { return &tx{*s.view(t)} }

// View runs fn over one consistent snapshot.
func (s *Store) View(ctx context.Context, fn func(landfall.View) error) error {
	return translate(s.db.View(ctx, tenant(ctx, landfall.Key{}), func(t *engine.Tx) error { return fn(s.view(t)) }))
}

// Update runs fn in one transaction and commits it durably.
func (s *Store) Update(ctx context.Context, fn func(landfall.Tx) error) error {
	return s.update(ctx, landfall.Key{}, func(t *tx) error { return fn(t) })
}

// update is Update about a key.
func (s *Store) update(ctx context.Context, key landfall.Key, fn func(*tx) error) error {
	return translate(s.db.Update(ctx, tenant(ctx, key), func(t *engine.Tx) error { return fn(s.tx(t)) }))
}

// stream reads what may be long.
func (s *Store) stream(ctx context.Context, fn func(*view) error) error {
	return translate(s.db.Stream(ctx, tenant(ctx, landfall.Key{}), func(t *engine.Tx) error { return fn(s.view(t)) }))
}

// Figures says how the engine is doing.
func (s *Store) Figures() engine.Stats { return s.db.Stats() }

// Ping commits a mark and nothing else: only a write proves that the database
// can be written to.
func (s *Store) Ping(ctx context.Context) error { return translate(s.db.Ping(ctx)) }

// Close ends running work and gives back every resource. Again is fine.
func (s *Store) Close() error { return translate(s.db.Close()) }
