// Package sqlstore stores everything in SQLite or PostgreSQL, with one SQL text
// for both. It has one file for each noun or verb. Package engine runs, batches
// and commits the statements; landfall.Store documents what they promise.
package sqlstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
	"landfall/internal/store/engine"
	"landfall/internal/store/seal"
	"landfall/internal/store/sqlset"
)

// Options says how a store is opened. The zero value is suitable for commands.
type Options struct {
	// Server says that this process serves requests from the database. On
	// SQLite it must be the only one, and it frees claims that a former server
	// left behind. It also deletes old commit marks.
	Server bool
	// ApplySchema brings an older schema up to date; without it an older schema
	// is refused. A newer schema is always refused.
	ApplySchema bool
	// AllowWeakDurability accepts a database that may lose acknowledged writes
	// in a power cut. It is for trying things out.
	AllowWeakDurability bool
	// Password returns the password of PostgreSQL for a new connection; nil means
	// that the URL contains it.
	Password func(context.Context) (string, error)
	// Connections is the maximum number of connections to PostgreSQL.
	Connections int
	// Application names this process in PostgreSQL's list of connections.
	Application string
	// LockTimeout limits a wait for another transaction or, on SQLite, for
	// another process.
	LockTimeout time.Duration
	// TransactionTimeout is how long one transaction may take, for commands
	// that count everything; zero means the default.
	TransactionTimeout time.Duration
	// OnSchemaStep is called before a schema step is applied, with the time 0, and
	// after it.
	OnSchemaStep func(step SchemaStep, took time.Duration)
	Logger       *slog.Logger
	// Random is the source of account numbers; nil means the system's source.
	// Many goroutines read it concurrently.
	Random io.Reader
	// SearchTerms returns the terms by which an account is found, given its staged
	// document and its supplier's region. If whole is true, only whole terms are found,
	// otherwise prefixes too. Without it nothing is indexed, and accounts are
	// found by their numbers alone.
	SearchTerms func(document []byte, region string, whole bool) []landfall.SearchTerm
	// Terms says how search terms are stored. By default they are stored as
	// they are, or as digests if there are keys.
	Terms landfall.TermEncoder
	// Keys encrypt personal data. The first one encrypts what is written. A
	// database written with keys opens only with those keys. Without any key,
	// personal data is stored in the clear.
	Keys []seal.Key
	// WithoutNames leaves names and postcodes out of the search while personal
	// data is encrypted: equal digests show how often each occurs.
	WithoutNames bool
	// ReadOnly says that the database is only read: opening it with keys does
	// not turn on encryption.
	ReadOnly bool
	// queueTimeout is how long work waits in the queue before it is refused;
	// zero means the default.
	queueTimeout time.Duration
	// steps are the schema steps of a later program, in tests.
	steps fs.FS
}

func (o Options) engine() engine.Options {
	times := engine.Limits{Lock: o.LockTimeout, Transaction: o.TransactionTimeout, QueueWait: o.queueTimeout, Admission: o.queueTimeout}
	if !o.Server { // nobody else waits, and a busy machine may need longer
		times.Connect = limits.CommandConnect
	}
	steps := o.steps
	if steps == nil {
		steps = schemaSteps()
	}
	return engine.Options{
		Steps: steps, Server: o.Server, ApplySchema: o.ApplySchema, AllowWeakDurability: o.AllowWeakDurability,
		Password: o.Password, Connections: o.Connections, Application: o.Application, Limits: times, Logger: o.Logger, BeforeSteps: refuseOldServers, OnStep: o.OnSchemaStep,
	}
}

// Store is a landfall.Store over one database, for one caller.
type Store struct {
	*shared
	caller landfall.Caller
}

// shared is what the stores of all callers have in common.
type shared struct {
	db            *engine.DB
	stagings      *verb[stagedDocument, landfall.StageOutcome]
	groupStagings *group[stagedDocument, landfall.StageOutcome] // many stagings of one caller
	claims        *verb[landfall.ClaimRequest, landfall.ClaimOutcome]
	peeks         *verb[landfall.ClaimRequest, landfall.ClaimOutcome]
	counted       *verb[landfall.ClaimRequest, landfall.ClaimOutcome]
	creations     *verb[*preparedCreation, landfall.CreateOutcome]
	dryRuns       *verb[*preparedCreation, landfall.CreateOutcome]
	releases      *verb[release, struct{}]
	postings      *verb[*posting, landfall.PostOutcome]
	refusals      *verb[refusal, struct{}]
	undos         *verb[*undoing, landfall.UndoOutcome]
	// The same for runs, which bring whole batches.
	groupClaims, groupPeeks, groupCounted *group[landfall.ClaimRequest, landfall.ClaimOutcome]
	settlements                           *engine.Kind

	sealer  *sealer                // nil if nothing is encrypted
	key     seal.Key               // encrypts what is written, if encryption is on
	keys    keyCache               // remembers which API keys were valid recently
	checked atomic.Int32           // how many large batches stage checks for known accounts
	draw    func() (string, error) // returns a new account number

	terms    landfall.TermEncoder
	termsOf  func(document []byte, region string, whole bool) []landfall.SearchTerm
	indexing sync.Mutex         // only one indexer at a time
	logged   landfall.Watermark // of the audit, for the indexer
}

// All other packages use the store through this interface only.
var _ landfall.Store = (*Store)(nil)

// Open connects to the database that a URL names: "sqlite:FILE", a bare file
// name, or "postgres://…".
func Open(ctx context.Context, url string, options Options) (*Store, error) {
	name, err := engine.Parse(url)
	if err != nil {
		return nil, err
	}
	if options.Random == nil {
		options.Random = rand.Reader
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	store := &Store{shared: &shared{
		draw:  func() (string, error) { return landfall.NewAccountNumber(options.Random) },
		terms: options.Terms, termsOf: options.SearchTerms,
	}}
	opening := options.engine()
	// On SQLite a server is alone with its file. On PostgreSQL other replicas
	// may have claims of their own, which end with their leases.
	if options.Server {
		opening.First = func(ctx context.Context, t *engine.Tx) error { return store.tx(t).freeClaims(ctx) }
	}
	db, err := engine.Open(ctx, name, opening)
	if err != nil {
		return nil, translate(err)
	}
	store.db = db
	// Open the keys before anything is read or written. A missing key must be
	// detected here, and not by the first caller whose account cannot be
	// opened.
	if err := store.openKeys(ctx, options.Keys, options.ReadOnly, !options.WithoutNames); err != nil {
		_ = db.Close() // the first error is the one to return
		return nil, err
	}
	if store.terms == nil {
		store.terms = store.sealer.terms()
	}
	store.declareVerbs()
	if err := store.prepare(ctx, options); err != nil {
		_ = db.Close() // the first error is the one to return
		return nil, err
	}
	return store, nil
}

// prepare does what is necessary before the first request.
func (s *Store) prepare(ctx context.Context, options Options) error {
	if !options.Server {
		return nil
	}
	err := s.checkIdentity(ctx)
	if errors.Is(err, landfall.ErrDiskFull) {
		// Reads still work, and the next start can store the fingerprint.
		options.Logger.Warn("the disk of the database is full; only reads are served until there is space")
		return s.CheckServable(ctx)
	}
	return err
}

// declareVerbs declares the verbs that run in batches for many callers. All
// check that their author may still write, in the transaction that writes.
func (s *Store) declareVerbs() {
	claimant := func(r landfall.ClaimRequest) landfall.Author { return r.By }
	creator := func(c *preparedCreation) landfall.Author { return c.By }
	s.stagings = sqlset.NewVerb(s.db.NewKind, onTx(s, ifAuthorised(&s.keys, func(d stagedDocument) landfall.Author { return d.By }, (*tx).stage)))
	s.groupStagings = sqlset.NewGroup(s.db.NewGroupKind, sqlset.MaxGroup, onTx(s, ifAuthorised(&s.keys, func(d stagedDocument) landfall.Author { return d.By }, (*tx).stage)))
	s.refusals = sqlset.NewVerb(s.db.NewKind, onTx(s, ifAuthorised(&s.keys, func(r refusal) landfall.Author { return r.By }, (*tx).refuseStaging)))
	s.claims = sqlset.NewVerb(s.db.NewKind, onTx(s, ifAuthorised(&s.keys, claimant, (*tx).claim)))
	s.peeks = sqlset.NewVerb(s.db.NewKind, onTx(s, ifAuthorised(&s.keys, claimant, (*tx).peek)))
	s.counted = sqlset.NewVerb(s.db.NewSerialKind, onTx(s, ifAuthorised(&s.keys, claimant, (*tx).claimCounted)))
	s.creations = sqlset.NewVerb(s.db.NewKind, onTx(s, ifAuthorised(&s.keys, creator, s.create)))
	s.dryRuns = sqlset.NewVerb(s.db.NewKind, onTx(s, ifAuthorised(&s.keys, creator, s.dryRun)))
	s.releases = sqlset.NewVerb(s.db.NewKind, onTx(s, s.release))
	s.postings = sqlset.NewVerb(s.db.NewLargeKind, onTx(s, ifAuthorised(&s.keys, func(p *posting) landfall.Author { return p.By }, (*tx).post)))
	s.groupClaims = sqlset.NewGroup(s.db.NewGroupKind, sqlset.MaxBatch, onTx(s, ifAuthorised(&s.keys, claimant, (*tx).claim)))
	s.groupPeeks = sqlset.NewGroup(s.db.NewGroupKind, sqlset.MaxGroup, onTx(s, ifAuthorised(&s.keys, claimant, (*tx).peek)))
	s.groupCounted = sqlset.NewGroup(s.db.NewSerialGroupKind, sqlset.MaxBatch, onTx(s, ifAuthorised(&s.keys, claimant, (*tx).claimCounted)))
	s.settlements = s.db.NewKind(s.settleAll)
	s.undos = sqlset.NewVerb(s.db.NewKind, onTx(s, (*tx).undo)) // an operator has no key
}

// For returns the store for a caller.
func (s *Store) For(caller landfall.Caller) landfall.Store { return &Store{s.shared, caller} }

// tenant names the queue for work of the store's caller. Without an
// organisation it is the queue of the supplier concerned.
func (s *Store) tenant(key landfall.Key) string {
	return s.caller.Priority.String() + "/" + cmp.Or(s.caller.Organisation, key.Supplier)
}

// view and tx wrap the engine's transaction.
func (s *Store) view(t *engine.Tx) *view { return &view{&txSession{t, s.sealer, &s.checked}} }
func (s *Store) tx(t *engine.Tx) *tx     { return &tx{*s.view(t)} }

// View runs fn on one consistent snapshot.
func (s *Store) View(ctx context.Context, fn func(landfall.View) error) error {
	return translate(s.db.View(ctx, s.tenant(landfall.Key{}), func(t *engine.Tx) error { return fn(s.view(t)) }))
}

// read is View for this package.
func (s *Store) read(ctx context.Context, fn func(*view) error) error {
	return translate(s.db.View(ctx, s.tenant(landfall.Key{}), func(t *engine.Tx) error { return fn(s.view(t)) }))
}

// Update runs fn in one transaction and commits it durably.
func (s *Store) Update(ctx context.Context, fn func(landfall.Tx) error) error {
	return s.update(ctx, landfall.Key{}, func(t *tx) error { return fn(t) })
}

// update is Update for a tenant, which the key determines.
func (s *Store) update(ctx context.Context, key landfall.Key, fn func(*tx) error) error {
	return translate(s.db.Update(ctx, s.tenant(key), func(t *engine.Tx) error { return fn(s.tx(t)) }))
}

// stream runs a read that may take long.
func (s *Store) stream(ctx context.Context, fn func(*view) error) error {
	return translate(s.db.Stream(ctx, s.tenant(landfall.Key{}), func(t *engine.Tx) error { return fn(s.view(t)) }))
}

// Figures returns the engine's statistics.
func (s *Store) Figures() engine.Stats { return s.db.Stats() }

// Ping commits a mark and nothing else: only a write proves that the database
// is writable. While too much is waiting for another write, what was committed
// in the last seconds proves it.
func (s *Store) Ping(ctx context.Context) error {
	err := translate(s.db.Ping(ctx))
	if errors.Is(err, landfall.ErrOverloaded) && time.Since(s.db.Stats().LastSuccess) < limits.ReadyProof {
		return nil
	}
	return err
}

// Close ends running work and releases all resources. It may be called more
// than once.
func (s *Store) Close() error { return translate(s.db.Close()) }
