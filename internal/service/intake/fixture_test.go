package intake

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
)

// fixture is a Service over a real store with supplier S, granted to us, the team
// Team and the vendor V. The test controls how the file store and the vendor
// answer.
type fixture struct {
	*Service
	t        *testing.T
	store    *sqlstore.Store
	database string
	hooks    *hookedStore
	files    *fakeFiles
	vendor   *fakeVendor
}

// onBoth runs a test on both kinds of database.
func onBoth(t *testing.T, test func(t *testing.T, g *fixture), adjust ...func(*Options)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, onSQLite(t, adjust...)) })
	t.Run("postgres", func(t *testing.T) { test(t, newFixture(t, dbtest.Postgres(t), adjust...)) })
}

func onSQLite(t *testing.T, adjust ...func(*Options)) *fixture {
	t.Helper()
	return newFixture(t, dbtest.SQLite(t), adjust...)
}

func newFixture(t *testing.T, database string, adjust ...func(*Options)) *fixture {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), database, sqlstore.Options{ApplySchema: true, AllowWeakDurability: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	g := &fixture{t: t, store: store, database: database, hooks: &hookedStore{Store: store}, files: &fakeFiles{}, vendor: &fakeVendor{}}
	updateStore(t, store, func(ctx context.Context, tx landfall.Tx) error {
		return errors.Join(tx.CreateOrganisation(ctx, "ours"), tx.CreateSupplier(ctx, landfall.NewSupplier("S")),
			tx.Grant(ctx, "S", "ours"), tx.CreateTeam(ctx, "Team"), tx.SaveVendor(ctx, landfall.Vendor{Code: "V", Adapter: "sandbox"}))
	})
	options := Options{Files: g.files, Verifier: g.vendor}
	for _, change := range adjust {
		change(&options)
	}
	g.Service = New(g.hooks, options)
	return g
}

// hookedStore lets a test run code between calls to the store.
type hookedStore struct {
	landfall.Store
	beforeCreate func()
	afterCreate  func()
	failRelease  error
	renewed      atomic.Int32
}

// For returns the same store for every caller.
func (s *hookedStore) For(landfall.Caller) landfall.Store { return s }

func (s *hookedStore) Release(ctx context.Context, claim landfall.Claim, attempt landfall.Attempt) error {
	if s.failRelease != nil {
		return s.failRelease
	}
	return s.Store.Release(ctx, claim, attempt)
}

func (s *hookedStore) Create(ctx context.Context, creation landfall.Creation) (landfall.CreateOutcome, error) {
	if s.beforeCreate != nil {
		s.beforeCreate()
	}
	if s.afterCreate != nil {
		defer s.afterCreate()
	}
	return s.Store.Create(ctx, creation)
}

func (s *hookedStore) Renew(ctx context.Context, claim landfall.Claim) error {
	s.renewed.Add(1)
	return s.Store.Renew(ctx, claim)
}

// fakeFiles is a file store that has every file except those marked as missing.
type fakeFiles struct {
	mu      sync.Mutex
	missing string // part of the paths that do not exist
	away    bool
	asked   []string
}

func (f *fakeFiles) Location(landfall.Supplier, string) string { return "" }

func (f *fakeFiles) Check(_ context.Context, _ landfall.Supplier, path string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, path)
	if f.away {
		return &landfall.Error{Kind: landfall.Unavailable, Code: landfall.CodeFileStoreUnavailable, Detail: "Away."}
	}
	if f.missing != "" && strings.Contains(path, f.missing) {
		return landfall.Refuse(landfall.CodeFileMissing, "Not there.")
	}
	return nil
}

// fakeVendor knows every instruction unless configured otherwise.
type fakeVendor struct {
	asked  atomic.Int32
	answer func(ctx context.Context, instruction landfall.Instruction) error
}

func (v *fakeVendor) Verify(ctx context.Context, _ string, _ landfall.Vendor, instruction landfall.Instruction) (landfall.InstructionDetails, error) {
	v.asked.Add(1)
	if v.answer != nil {
		if err := v.answer(ctx, instruction); err != nil {
			return landfall.InstructionDetails{}, err
		}
	}
	return landfall.InstructionDetails{Status: "active", LastDigits: "4242"}, nil
}

func testKey(external string) landfall.Key { return landfall.Key{Supplier: "S", External: external} }

// stage stages an account with the given members added to the smallest one.
func (g *fixture) stage(external, rest string) {
	g.t.Helper()
	body := fmt.Sprintf(`{"import_supplier":"S","external_account_number":%q,"customers":[{}]%s}`, external, rest)
	if _, err := g.Stage(g.t.Context(), ours, []byte(body)); err != nil {
		g.t.Fatalf("staging %s: %v", external, describe(err))
	}
}

func (g *fixture) process(external string, dryRun bool) (Created, error) {
	return g.Process(g.t.Context(), ours, contract.ProcessRequest{Key: testKey(external), Team: "Team", DryRun: dryRun})
}

// create creates an account with an open period that began long ago.
func (g *fixture) create(external, rest string) string {
	g.t.Helper()
	g.stage(external, `,"last_statement_closing_date":"2020-01-31"`+rest)
	outcome, err := g.process(external, false)
	if err != nil {
		g.t.Fatalf("creating %s: %v", external, describe(err))
	}
	return outcome.Number
}

func (g *fixture) supplierIs(change func(*landfall.Supplier)) {
	g.t.Helper()
	ctx := g.t.Context()
	err := g.store.Update(ctx, func(tx landfall.Tx) error {
		supplier, err := tx.Supplier(ctx, "S")
		if err != nil {
			return err
		}
		change(&supplier)
		return tx.SaveSupplier(ctx, supplier)
	})
	if err != nil {
		g.t.Fatal(err)
	}
	time.Sleep(supplierCacheLimits.TTL) // a cached supplier may be used for this long
}

func (g *fixture) view(fn func(ctx context.Context, view landfall.View) error) {
	g.t.Helper()
	ctx := g.t.Context()
	if err := g.store.View(ctx, func(view landfall.View) error { return fn(ctx, view) }); err != nil {
		g.t.Fatal(err)
	}
}

func (g *fixture) account(external string) (account landfall.Account) {
	g.t.Helper()
	g.view(func(ctx context.Context, view landfall.View) (err error) {
		account, err = view.Account(ctx, testKey(external))
		return err
	})
	return account
}

func (g *fixture) processOf(external string) (process landfall.Process) {
	g.t.Helper()
	g.view(func(ctx context.Context, view landfall.View) (err error) {
		process, err = view.Process(ctx, testKey(external))
		return err
	})
	return process
}

// events returns the types of the events about account 1.
func (g *fixture) events() (types []landfall.EventType) {
	g.t.Helper()
	g.view(func(ctx context.Context, view landfall.View) error {
		events, err := view.Events(ctx, testKey("1"))
		for _, event := range events {
			types = append(types, event.Type)
		}
		return err
	})
	return types
}

// rows counts the rows of every table that stores part of an account.
func (g *fixture) rows() map[string]int {
	g.t.Helper()
	database := g.open()
	defer database.Close()
	counts := map[string]int{}
	for table := range strings.FieldsSeq(`process staging account customer address supply_point agreement meter statement_period
		ledger_entry note historical_statement instruction payment_schedule mail event`) {
		var count int
		query := "SELECT count(*) FROM " + table
		if table == "event" {
			query += " WHERE type <> 'post_import.failed'" // a refusal is told, and changes nothing else
		}
		if err := database.QueryRowContext(g.t.Context(), query).Scan(&count); err != nil {
			g.t.Fatal(err)
		}
		counts[table] = count
	}
	return counts
}

// describe formats an error with everything it refers to.
func describe(err error) string {
	if known, is := errors.AsType[*landfall.Error](err); is {
		return fmt.Sprintf("%v %v", known, known.Violations)
	}
	return fmt.Sprint(err)
}

// firstAttr returns the code and path of the first violation.
func firstAttr(err error) string {
	if known, is := errors.AsType[*landfall.Error](err); is && len(known.Violations) > 0 {
		return known.Violations[0].Code + " at " + known.Violations[0].Attr
	}
	return codeOf(err)
}

// tally counts how often each word was recorded. It is safe for concurrent use.
type tally struct {
	mu     sync.Mutex
	counts map[string]int
}

func (c *tally) add(word string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = map[string]int{}
	}
	c.counts[word]++
}

// race runs a function n times concurrently.
func race(n int, run func(i int)) {
	var runners sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		runners.Go(func() { <-start; run(i) })
	}
	close(start)
	runners.Wait()
}

// execute changes the database directly, bypassing the store.
func (g *fixture) execute(statement string) int64 {
	g.t.Helper()
	database := g.open()
	defer database.Close()
	result, err := database.ExecContext(g.t.Context(), statement)
	if err != nil {
		g.t.Fatal(err)
	}
	changed, err := result.RowsAffected()
	if err != nil {
		g.t.Fatal(err)
	}
	return changed
}

func (g *fixture) open() *sql.DB {
	g.t.Helper()
	driver, source := "pgx", g.database
	if file, ok := strings.CutPrefix(g.database, "sqlite:"); ok {
		driver, source = "sqlite", "file:"+file+"?_pragma=busy_timeout(5000)"
	}
	database, err := sql.Open(driver, source)
	if err != nil {
		g.t.Fatal(err)
	}
	return database
}
