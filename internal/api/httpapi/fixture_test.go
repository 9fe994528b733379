package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"landfall"
	"landfall/internal/api/answer"
	"landfall/internal/api/graphql"
	"landfall/internal/outbound/payvendor"
	"landfall/internal/service/auth"
	"landfall/internal/service/intake"
	runservice "landfall/internal/service/run"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
)

// testAPI is the whole API over a real store, with two organisations that must
// not see each other: ours is granted OURS, the other THEIRS.
type testAPI struct {
	t      testing.TB
	store  *sqlstore.Store
	api    *API
	server *httptest.Server
	log    *journal
	issuer *auth.Issuer
	keys   map[string]string // secrets by name, for the canary
	tokens map[string]string // by name: importer, viewer, other
	run    string            // that a response named last

	closeStore func() error
	hungUp     atomic.Int64 // connections that the server closed
}

func newTestAPI(t testing.TB, adjust ...func(*Options)) *testAPI {
	t.Helper()
	return newTestAPIOn(t, dbtest.SQLite(t), adjust...)
}

// openFunc opens an API over one of the databases.
type openFunc func(adjust ...func(*Options)) *testAPI

// onBoth runs a test on both databases: how callers affect each other must not
// depend on the database.
func onBoth(t *testing.T, test func(t *testing.T, open openFunc)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		test(t, func(adjust ...func(*Options)) *testAPI { return newTestAPI(t, adjust...) })
	})
	t.Run("postgres", func(t *testing.T) {
		test(t, func(adjust ...func(*Options)) *testAPI { return newTestAPIOn(t, dbtest.Postgres(t), adjust...) })
	})
}

func newTestAPIOn(t testing.TB, address string, adjust ...func(*Options)) *testAPI {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), address, sqlstore.Options{ApplySchema: true})
	if err != nil {
		t.Fatal(err)
	}
	closeOnce := sync.OnceValue(store.Close)
	t.Cleanup(func() { _ = closeOnce() })
	h := &testAPI{closeStore: closeOnce, t: t, store: store, log: &journal{}, keys: map[string]string{}, tokens: map[string]string{}}
	h.issuer = auth.NewIssuer(store, auth.Options{})
	h.addTestData()

	metrics := NewMetrics("test")
	service := intake.New(store, intake.Options{Verifier: payvendor.New(payvendor.Options{Tries: 1})})
	options := Options{
		Schema:  service.SupplierSchema,
		Facts:   service.SupplierFacts,
		Answers: answer.New(service, runservice.New(store, service, runservice.Options{}), metrics.Count).WithSource("https://landfall.example.com"), Metrics: metrics, Authenticator: auth.NewAuthenticator(store, nil),
		Token:  graphql.New(h.issuer, graphql.Options{Log: h.log.logger()}),
		Logger: h.log.logger(), Ready: store.Ping,
	}
	for _, change := range adjust {
		change(&options)
	}
	h.api = New(options)
	h.server = httptest.NewUnstartedServer(h.api)
	h.server.Config.ConnContext = WithConn
	h.server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			h.hungUp.Add(1)
		}
	}
	h.server.Start()
	t.Cleanup(h.server.Close)
	return h
}

func (h *testAPI) addTestData() {
	h.t.Helper()
	ctx := h.t.Context()
	err := h.store.Update(ctx, func(tx landfall.Tx) error {
		for organisation, supplier := range map[string]string{"ours": "OURS", "theirs": "THEIRS"} {
			if err := tx.CreateOrganisation(ctx, organisation); err != nil {
				return err
			}
			if err := tx.CreateSupplier(ctx, landfall.NewSupplier(supplier)); err != nil {
				return err
			}
			if err := tx.Grant(ctx, supplier, organisation); err != nil {
				return err
			}
		}
		return errors.Join(tx.CreateTeam(ctx, "Migration Team"),
			tx.SaveVendor(ctx, landfall.Vendor{Code: "SANDBOX", Adapter: payvendor.Sandbox}))
	})
	if err != nil {
		h.t.Fatal(err)
	}
	h.addKey("importer", "ours", landfall.RoleImporter)
	h.addKey("viewer", "ours", landfall.RoleViewer)
	h.addKey("reader", "ours", landfall.RoleReader)
	h.addKey("other", "theirs", landfall.RoleImporter)
}

// addKey creates a key and a token for it, both stored under a name.
func (h *testAPI) addKey(name, organisation string, role landfall.Role) string {
	h.t.Helper()
	ctx := h.t.Context()
	key, secret := auth.NewKey(organisation, role, time.Time{})
	if err := h.store.Update(ctx, func(tx landfall.Tx) error { return tx.CreateKey(ctx, key) }); err != nil {
		h.t.Fatal(err)
	}
	grant, err := h.issuer.Issue(ctx, "127.0.0.1", secret.Reveal())
	if err != nil {
		h.t.Fatal(err)
	}
	h.keys[name] = secret.Reveal()
	h.tokens[name] = grant.Token.Reveal()
	return key.ID
}

// reply is a response that was read completely.
type reply struct {
	status int
	header http.Header
	body   string
	closes bool // the server closes the connection
}

func (a reply) code() string {
	var body struct {
		Code   string            `json:"code"`
		Detail string            `json:"detail"`
		Errors []json.RawMessage `json:"errors"`
	}
	if json.Unmarshal([]byte(a.body), &body) != nil || body.Errors == nil || body.Detail == "" {
		return "not the error form"
	}
	return body.Code
}

// call sends one request with the token of a name; "" sends no token.
func (h *testAPI) call(who, method, path, body string, adjust ...func(*http.Request)) reply {
	h.t.Helper()
	request, err := http.NewRequestWithContext(h.t.Context(), method, h.server.URL+path, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	if body == "" {
		request.Body, request.ContentLength = nil, 0
	} else {
		request.Header.Set("Content-Type", "application/json")
	}
	if token, known := h.tokens[who]; known {
		request.Header.Set("Authorization", "Token "+token)
	}
	for _, change := range adjust {
		change(request)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		h.t.Fatal(err)
	}
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	return reply{response.StatusCode, response.Header, string(read), response.Close}
}

const (
	validatePath = importPath + "/validate-account/"
	stagePath    = importPath + "/account-import-process/create-or-update/"
	allPath      = importPath + "/all-account-import-processes/OURS/"

	processPath      = importPath + "/account-import-process/process/"
	notesPath        = importPath + "/notes/create/"
	transactionsPath = importPath + "/transactions/create/"
	statementsPath   = importPath + "/historical-statements/create/"
	instructionPath  = importPath + "/payment-instruction/create/"
	failedPath       = importPath + "/failed-account-import-processes/OURS/"
	summaryPath      = importPath + "/error-summary/OURS/"
)

// creation returns the body that creates an account.
func creation(supplier, external string) string {
	body, _ := json.Marshal(map[string]any{
		"import_supplier_code": supplier, "external_account_number": external, "operations_team_name": "Migration Team",
	})
	return string(body)
}

// postingJSON returns the body that adds something to an account of OURS.
func postingJSON(external, rest string) string {
	return `{"import_supplier":"OURS","external_account_number":"` + external + `",` + rest + `}`
}

// create stages and creates an account.
func (h *testAPI) create(who, supplier, external string) {
	h.t.Helper()
	if got := h.call(who, "POST", stagePath, accountJSON(supplier, external)); got.status != 201 {
		h.t.Fatalf("staging %s: %d %s", external, got.status, got.body)
	}
	if got := h.call(who, "POST", processPath, creation(supplier, external)); got.status != 201 {
		h.t.Fatalf("creating %s: %d %s", external, got.status, got.body)
	}
}

func accountJSON(supplier, external string) string {
	body, _ := json.Marshal(map[string]any{
		"import_supplier": supplier, "external_account_number": external, "customers": []any{map[string]any{}},
	})
	return string(body)
}

// journal is a log that can be read while it is written.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(line []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(line)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func (j *journal) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// callJSON posts a body with the content type of JSON, even if it is empty.
func (h *testAPI) callJSON(who, path, body string) reply {
	h.t.Helper()
	return h.call(who, http.MethodPost, path, body, func(r *http.Request) { r.Header.Set("Content-Type", "application/json") })
}

// sentByOurs replaces the supplier of an example by one that is granted here.
func sentByOurs(example string) string { return strings.ReplaceAll(example, "DEMO_ENERGY", "OURS") }
