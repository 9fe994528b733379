package answer_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"landfall"
	"landfall/internal/api/answer"
	"landfall/internal/outbound/payvendor"
	"landfall/internal/service/intake"
	"landfall/internal/service/operate"
	"landfall/internal/service/run"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
)

const (
	team   = "Movers"
	vendor = "SANDBOX"
	ours   = "Acme"
	mixed  = "currency_mismatch" // must not be refused: totals are kept per currency
)

// TestModel lets suppliers and operators perform random operations on a few
// accounts of the whole service except HTTP, and applies the same to plain maps.
// After every step both must agree on answers, lists, statuses, failures and
// totals.
func TestModel(t *testing.T) {
	// Each sequence makes hundreds of calls. Use -rapid.checks for more sequences.
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
		if err := checks.Value.Set("40"); err != nil {
			t.Fatal(err)
		}
	}
	for name, database := range map[string]func(*testing.T) string{
		"sqlite":   func(t *testing.T) string { return dbtest.SQLite(t) },
		"postgres": func(t *testing.T) string { return dbtest.Postgres(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, database(t))
			stories := 0
			rapid.Check(t, func(r *rapid.T) {
				stories++
				m := s.begin(r, fmt.Sprintf("S%d", stories))
				r.Repeat(map[string]func(*rapid.T){
					"stage": m.stage, "process": m.process, "dry run": m.dryRun, "undo": m.undo, "skip": m.skip, "unskip": m.unskip,
					"run": m.run, "undo run": m.undoRun, "post": m.post, "post more": m.post, "status": m.setStatus, "window": m.setWindow, "": func(r *rapid.T) { m.compare(r) },
				})
			})
			s.inspect(t)
		})
	}
}

// service is the real service without HTTP.
type service struct {
	ctx      context.Context
	store    *sqlstore.Store
	api      *answer.API
	operator *operate.Operator
	runs     *run.Runner
	who      landfall.Principal
}

func serve(t *testing.T, database string) *service {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), database, sqlstore.Options{ApplySchema: true, AllowWeakDurability: true, Server: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	imports := intake.New(store, intake.Options{Verifier: payvendor.New(payvendor.Options{})})
	runs := run.New(store, imports, run.Options{Workers: 2})
	s := &service{
		ctx: t.Context(), store: store, api: answer.New(imports, runs, nil), runs: runs,
		operator: operate.New(store, operate.Options{Actor: "operator:model", Rules: []string{mixed}}),
	}
	if err := errors.Join(
		s.operator.CreateOrganisation(s.ctx, ours), s.operator.CreateTeam(s.ctx, team),
		s.operator.SetVendor(s.ctx, landfall.Vendor{Code: vendor, Adapter: payvendor.Sandbox}),
	); err != nil {
		t.Fatal(err)
	}
	key, _, err := s.operator.CreateKey(s.ctx, operate.KeyRequest{Organisation: ours, Role: landfall.RoleImporter})
	if err != nil {
		t.Fatal(err)
	}
	s.who = landfall.Principal{Organisation: ours, Role: landfall.RoleImporter, KeyID: key.ID}
	var playing sync.WaitGroup
	ctx, stop := context.WithCancel(s.ctx)
	playing.Go(func() { s.runs.Run(ctx) })
	t.Cleanup(func() { stop(); playing.Wait() })
	return s
}

// inspect runs the store's consistency checks.
func (s *service) inspect(t *testing.T) {
	t.Helper()
	for seen, err := range s.store.Inspect(s.ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if seen.Finding != nil {
			t.Errorf("%v: %s", seen.Finding.Key, seen.Finding.What)
		}
	}
}

// ownDelivery stages every account.
const ownDelivery = "own"

// failer fails a sequence that went wrong.
type failer interface {
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// model represents one supplier as plain maps.
type model struct {
	*service
	code      string
	status    landfall.SupplierStatus
	undoable  bool // the undo window is open
	last      string
	clock     int // orders failures
	processes map[string]*modelled
	refusals  map[string]modelledFailure // of stagings, by external number
	order     []string                   // of first staging
	retired   map[string]bool            // numbers of undone accounts
	ran       []*modelledRun
}

// modelledRun is a run that has ended.
type modelledRun struct {
	id              string
	dry             bool
	created, undone int // accounts
}

// modelled is one account import process.
type modelled struct {
	staged  []*sampleDocument // revisions
	skipped bool
	failure *modelledFailure
	account *modelledAccount // nil until it is created
	undone  []string         // numbers
}

type modelledFailure struct {
	code, at string
	clock    int
}

// modelledAccount is an account: the run that created it, its figures and its
// items.
type modelledAccount struct {
	number  string
	run     *modelledRun // the run that created it, or nil
	figures landfall.Figures
	has     map[string]bool // notes, transactions, statements, instructions by kind and name
	posted  bool            // something was added that did not come with its delivery
	refused map[landfall.PostingKind]bool
}

func (p *modelled) current() *sampleDocument { return p.staged[len(p.staged)-1] }

// begin creates a separate supplier for one sequence.
func (s *service) begin(r failer, code string) *model {
	_, err := s.operator.CreateSupplier(s.ctx, code, operate.SupplierChange{Severities: map[string]landfall.Severity{mixed: landfall.SeverityOff}})
	if err == nil {
		err = s.operator.Grant(s.ctx, code, ours)
	}
	if err != nil {
		r.Fatal(err)
	}
	m := &model{
		service: s, code: code, status: landfall.Ongoing, undoable: true,
		processes: map[string]*modelled{}, refusals: map[string]modelledFailure{}, retired: map[string]bool{},
	}
	m.claim(r)
	return m
}

var externals = []string{"1", "2", "a/b", "é"}

// somebody draws an account, often the previous one, so that several operations
// meet the same account.
func (m *model) somebody(r *rapid.T) string {
	if m.last == "" || rapid.IntRange(0, 2).Draw(r, "the same") == 0 {
		m.last = rapid.SampledFrom(externals).Draw(r, "account")
	}
	return m.last
}

func (m *model) key(external string) landfall.Key {
	return landfall.Key{Supplier: m.code, External: external}
}

// said is an answer as the model reads it.
type said struct {
	Status int
	Code   string `json:"code"`
	Number string `json:"platform_account_number"`
	body   []byte
}

// ask makes one API call.
func (m *model) ask(r failer, verb *answer.Verb, call answer.Call) said {
	delivery := cmp.Or(call.Who.Delivery, ownDelivery)
	call.Who = m.who
	call.Who.Delivery = delivery
	given := m.api.Do(m.ctx, verb, call)
	body := slices.Clone(given.Body)
	if given.Pieces != nil {
		if err := given.Pieces(func(piece []byte, _ bool) error { body = append(body, piece...); return nil }); err != nil {
			r.Fatal(err)
		}
	}
	told := said{body: body}
	_ = json.Unmarshal(body, &told) // a list has neither code nor number
	told.Status = given.Status
	if given.Status >= 500 {
		r.Fatalf("%s: %d %s %v", verb.Path, given.Status, body, given.Cause)
	}
	return told
}

// expect compares an answer with the status and code that the model predicts.
func (m *model) expect(r failer, what string, told said, status int, code string) {
	if told.Status != status || told.Code != code {
		r.Fatalf("%s: got %d %s, want %d %s\n%s", what, told.Status, told.Code, status, code, told.body)
	}
}

// refusedWith compares an operator's refusal with the code that the model
// predicts.
func (m *model) refusedWith(r failer, what string, err error, code string) {
	told := ""
	if known, ok := errors.AsType[*landfall.Error](err); ok {
		told = known.Code
	}
	if told != code || err != nil && told == "" {
		r.Fatalf("%s: got %v, want %q", what, err, code)
	}
}

func (m *model) setStatus(r *rapid.T) {
	// The supplier is ongoing most of the time; otherwise most operations would be
	// refused.
	choices := append([]landfall.SupplierStatus{landfall.Ongoing, landfall.Ongoing}, landfall.SupplierStatuses...)
	m.status = rapid.SampledFrom(choices).Draw(r, "status")
	if _, err := m.operator.SetSupplier(m.ctx, m.code, operate.SupplierChange{Status: &m.status}); err != nil {
		r.Fatal(err)
	}
}

func (m *model) setWindow(r *rapid.T) {
	m.undoable = rapid.IntRange(0, 3).Draw(r, "window") > 0
	window := time.Duration(0)
	if m.undoable {
		window = 72 * time.Hour
	}
	if _, err := m.operator.SetSupplier(m.ctx, m.code, operate.SupplierChange{UndoWindow: &window}); err != nil {
		r.Fatal(err)
	}
}
