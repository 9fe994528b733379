package app_test

import (
	"context"
	"database/sql"
	"flag"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/app"
	"landfall/internal/lib/calendar"
	"landfall/internal/outbound/payvendor"
	"landfall/internal/service/auth"
	"landfall/internal/service/operate"
	"landfall/internal/test/dbtest"
)

var update = flag.Bool("update", false, "rewrite the answers of stories that changed")

// databases creates a fresh database of each kind.
var databases = dbtest.Fresh

// onBoth runs a test on both kinds of database.
func onBoth(t *testing.T, test func(t *testing.T, database string)) {
	t.Helper()
	for name, fresh := range databases {
		t.Run(name, func(t *testing.T) { test(t, fresh(t)) })
	}
}

// world is a running service with data: organisation Acme may use the suppliers
// NORTH and EMPTY, organisation Other may use SOUTH.
type world struct {
	application *app.App
	operator    *operate.Operator
	server      *httptest.Server
	settings    app.Settings
	log         io.Writer
	shut        func() // stops the service if it is running
	database    string
	documents   string            // folder of the document store, in stories
	words       map[string]string // values that stories may use in braces
}

func newWorld(t *testing.T, database string, change func(*app.Settings)) *world {
	t.Helper()
	return newLoggedWorld(t, database, change, logTo(t))
}

func newLoggedWorld(t *testing.T, database string, change func(*app.Settings), log io.Writer) *world {
	t.Helper()
	settings := app.Defaults()
	settings.Database = database
	if change != nil {
		change(&settings)
	}
	w := &world{database: database, settings: settings, log: log, words: map[string]string{}, shut: func() {}}
	t.Cleanup(func() { w.shut() })
	if err := w.open(t); err != nil {
		t.Fatal(err)
	}
	w.addTestData(t)
	w.defineDays()
	return w
}

// open starts the service with its settings.
func (w *world) open(t *testing.T) error {
	t.Helper()
	application, err := app.New(t.Context(), w.settings, "test", &app.Log{Logger: slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
	if err != nil {
		return err
	}
	rules := []string{}
	for _, rule := range contract.RuleBook() {
		rules = append(rules, rule.Code)
	}
	w.application, w.server = application, httptest.NewServer(application.Handler())
	w.operator = operate.New(application.Store(), operate.Options{Actor: "operator:test", Rules: rules})
	running, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		application.AdvanceRuns(running)
	}()
	w.shut = func() {
		stop()
		<-ended
		w.server.Close()
		if err := application.Close(); err != nil {
			t.Error(err)
		}
		w.shut = func() {}
	}
	return nil
}

// defineDays defines the days around today for stories, in the suppliers' time
// zone.
func (w *world) defineDays() {
	today := calendar.DayOf(time.Now(), calendar.Zone("Europe/London"))
	for word, offset := range map[string]int{
		"yesterday": -1, "today": 0, "tomorrow": 1, "as far ahead as may be": 366, "too far ahead": 367,
	} {
		w.words[word] = today.AddDays(offset).String()
	}
}

// nameDays replaces the days around today with the names that stories use.
func (w *world) nameDays(text string) string {
	for _, word := range []string{"yesterday", "today", "tomorrow"} {
		text = strings.ReplaceAll(text, w.words[word], "{"+word+"}")
	}
	return text
}

func (w *world) addTestData(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, code := range []string{"NORTH", "SOUTH", "EMPTY"} {
		_, err := w.operator.CreateSupplier(ctx, code, operate.SupplierChange{})
		must(err)
	}
	for organisation, supplier := range map[string]string{"Acme": "NORTH", "Other": "SOUTH"} {
		must(w.operator.CreateOrganisation(ctx, organisation))
		must(w.operator.Grant(ctx, supplier, organisation))
	}
	must(w.operator.Grant(ctx, "EMPTY", "Acme"))
	must(w.operator.CreateTeam(ctx, "Migration Team"))
	must(w.operator.SetVendor(ctx, landfall.Vendor{Code: "SANDBOX", Adapter: payvendor.Sandbox}))
	for word, request := range map[string]operate.KeyRequest{
		"":              {Organisation: "Acme", Role: landfall.RoleImporter},
		"viewer ":       {Organisation: "Acme", Role: landfall.RoleViewer},
		"reader ":       {Organisation: "Acme", Role: landfall.RoleReader},
		"other ":        {Organisation: "Other", Role: landfall.RoleImporter},
		"other reader ": {Organisation: "Other", Role: landfall.RoleReader},
	} {
		key, secret, err := w.operator.CreateKey(ctx, request)
		must(err)
		grant, err := auth.NewIssuer(w.application.Store(), auth.Options{}).Issue(ctx, "here", secret.Reveal())
		must(err)
		w.words[word+"key"], w.words[word+"key id"], w.words[word+"token"] = secret.Reveal(), key.ID, grant.Token.Reveal()
	}
}

// setProcess sets a process state directly in the database.
func (w *world) setProcess(t *testing.T, key landfall.Key, assignments string) {
	t.Helper()
	count := w.execute(t, `UPDATE process SET `+assignments+
		` WHERE supplier_id = (SELECT id FROM supplier WHERE code = $1) AND external = $2`, key.Supplier, key.External)
	if count != 1 {
		t.Fatalf("%v is not staged", key)
	}
}

// execute changes the database directly, bypassing the store.
func (w *world) execute(t *testing.T, statement string, arguments ...any) (rows int64) {
	t.Helper()
	driver, source := "pgx", w.database
	if file, ok := strings.CutPrefix(w.database, "sqlite:"); ok {
		driver, source = "sqlite", "file:"+file+"?_pragma=busy_timeout(5000)"
	}
	database, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	defer database.Close()
	result, err := database.ExecContext(t.Context(), statement, arguments...)
	if err != nil {
		t.Fatal(err)
	}
	rows, err = result.RowsAffected()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// logTo shows the log if the test fails.
func logTo(t *testing.T) io.Writer {
	t.Helper()
	var log lockedBuffer
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(log.String())
		}
	})
	return &log
}

type lockedBuffer struct {
	sync.Mutex
	strings.Builder
}

func (b *lockedBuffer) Write(text []byte) (int, error) {
	b.Lock()
	defer b.Unlock()
	return b.Builder.Write(text)
}

func (b *lockedBuffer) String() string {
	b.Lock()
	defer b.Unlock()
	return b.Builder.String()
}
