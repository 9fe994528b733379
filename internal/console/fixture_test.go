package console

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"landfall"
	"landfall/internal/api/answer"
	"landfall/internal/api/contract"
	"landfall/internal/kit/generate"
	"landfall/internal/outbound/mail"
	"landfall/internal/outbound/webhook"
	"landfall/internal/service/intake"
	"landfall/internal/service/operate"
	"landfall/internal/service/run"
)

// hostileText is a name that must be escaped everywhere.
const hostileText = `<script>window.hacked=1</script>"><img src=x onerror="window.hacked=1">`

// testWorld is a console with suppliers in different states: finished with
// failures, finished, staged, empty.
type testWorld struct {
	*testConsole
	api *answer.API
}

func newTestWorld(t *testing.T) *testWorld {
	t.Helper()
	w := newTestConsole(t).withRunner()
	ctx := t.Context()
	w.seedBasics()
	operator := w.operator()
	var err error
	if w.console.Composer, err = mail.NewComposer(mail.BuiltinTemplates(), "Acme <hello@acme.example>", ""); err != nil {
		t.Fatal(err)
	}
	south := "South " + hostileText
	if screenshots() {
		south = "South Water"
	}
	for code, name := range map[string]string{"WEST": "West Gas", "EAST": "East Coast Energy", "SOUTH": south} {
		if _, err := operator.CreateSupplier(ctx, code, supplierNamed(name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, code := range []string{"NORTH", "WEST", "EAST", "SOUTH"} {
		if err := operator.Grant(ctx, code, "Acme"); err != nil {
			t.Fatal(err)
		}
	}
	if err := operator.CreateTeam(ctx, "Team "+strings.ReplaceAll(hostileText, `"`, "'")); err != nil {
		t.Fatal(err)
	}
	w.stage("NORTH", 240, true)
	w.stage("WEST", 40, false)
	w.saveTarget("BILLING")
	if err := w.store.Update(ctx, func(tx landfall.Tx) error {
		west, err := tx.Supplier(ctx, "WEST")
		if err != nil {
			return err
		}
		west.SendCustomerEmails, west.Target = true, "BILLING"
		if err := tx.SaveSupplier(ctx, west); err != nil {
			return err
		}
		return tx.TouchReplica(ctx, landfall.Replica{ID: "replica-1", Host: "import", Version: "1.0.0"})
	}); err != nil {
		t.Fatal(err)
	}
	w.stage("EAST", 60, false)
	w.turnWarningsIntoErrors("NORTH")
	w.seedAdmin()
	if screenshots() {
		w.seedScreenshots()
	}
	w.runAll("NORTH")
	w.runAll("WEST")
	return w
}

// hostileAccount is an account full of hostile text.
var hostileAccount = landfall.Key{Supplier: "NORTH", External: "spite"}

// saveTarget creates a target.
func (h *testConsole) saveTarget(code string) {
	h.t.Helper()
	if err := h.store.Update(h.t.Context(), func(tx landfall.Tx) error {
		return tx.SaveTarget(h.t.Context(), landfall.Target{Code: code, URL: "https://target.example", AtOnce: 4, State: landfall.TargetActive})
	}); err != nil {
		h.t.Fatal(err)
	}
}

// seedAdmin creates a webhook, vendors, keys and an account full of hostile text.
func (w *testWorld) seedAdmin() {
	w.t.Helper()
	ctx, operator := w.t.Context(), w.operator()
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	w.t.Cleanup(receiver.Close)
	_, _, err := operator.AddWebhook(ctx, operate.WebhookRequest{Name: "billing", Organisation: "Acme", URL: receiver.URL, FromStart: true})
	must := func(err error) {
		w.t.Helper()
		if err != nil {
			w.t.Fatal(err)
		}
	}
	must(err)
	must(operator.SetVendor(ctx, landfall.Vendor{Code: "SANDBOX", Adapter: "sandbox"}))
	must(operator.SetVendor(ctx, landfall.Vendor{Code: "STRIPE", Adapter: "stripe", SecretEnv: "VENDOR_STRIPE_KEY"}))
	must(operator.GrantVendor(ctx, "STRIPE", "NORTH"))
	w.console.VendorHealth = func(code string) string { return map[string]string{"SANDBOX": "good"}[code] }
	for _, role := range []landfall.Role{landfall.RoleImporter, landfall.RoleViewer} {
		_, _, err := operator.CreateKey(ctx, operate.KeyRequest{Organisation: "Acme", Role: role, Life: 90 * 24 * time.Hour})
		must(err)
	}
	w.console.Health = func(context.Context) []HealthItem {
		return []HealthItem{
			{Group: "Database", Name: "writing", State: "ready", Value: "SQLite"}, {Group: "Database", Name: "answered", Value: "in 1.2 ms", Help: "the figures of this page, from one snapshot"},
			{Group: "Replicas", Name: "import-1", State: "ready", Value: "version 1.0.0", Help: "started 2026-11-16 08:12:40 UTC, seen 12:04:10"},
			{Group: "Deliveries", Name: "webhooks failing", Value: "0", State: "good", Help: "their receivers fail; deliveries wait"},
		}
	}
	document, err := json.Marshal(map[string]any{
		"import_supplier": hostileAccount.Supplier, "external_account_number": hostileAccount.External, "billing_name": hostileText,
		"customers": []any{map[string]any{"given_name": hostileText, "family_name": hostileText}}, "notes": []any{map[string]any{"body": hostileText, "is_pinned": true}},
	})
	must(err)
	if response := w.api.Do(ctx, answer.Stage, answer.Call{Who: landfall.Principal{Organisation: "Acme", Role: landfall.RoleImporter}, Body: document}); response.Status >= http.StatusBadRequest {
		w.t.Fatalf("%d %s", response.Status, response.Body)
	}
	must(operator.Skip(ctx, landfall.Key{Supplier: "NORTH", External: "A-1000007"}, strings.ReplaceAll(hostileText, "\n", " ")))
}

// withRunner starts a runner and webhook deliveries.
func (h *testConsole) withRunner() *testWorld {
	service := intake.New(h.store, intake.Options{})
	runner := run.New(h.store, service, run.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	deliveries := webhook.NewDispatcher(h.store, webhook.DispatcherOptions{Sender: h.sender, Watcher: webhook.NewLogWatcher(h.store), Log: slog.New(slog.DiscardHandler), Lease: time.Minute})
	var both sync.WaitGroup
	both.Go(func() { runner.Run(ctx) })
	both.Go(func() { deliveries.Run(ctx) })
	h.t.Cleanup(func() { cancel(); both.Wait() })
	h.console.WakeRuns = runner.Wake
	return &testWorld{h, answer.New(service, runner, nil)}
}

// stage sends generated accounts.
func (w *testWorld) stage(supplier string, accounts int, faulty bool) {
	w.t.Helper()
	var faults []generate.Fault
	if faulty {
		for _, kind := range generate.CommonFaultKinds(false) {
			faults = append(faults, generate.Fault{Kind: kind[0], Share: 0.01})
		}
	}
	w.stageFaulty(supplier, accounts, faults...)
}

// stageFaulty sends generated accounts with chosen mistakes, and returns what it sent.
func (w *testWorld) stageFaulty(supplier string, accounts int, faults ...generate.Fault) (sent []json.RawMessage) {
	w.t.Helper()
	// Other suppliers have other people and supply points.
	order := generate.Options{Accounts: accounts, Seed: uint64(supplier[0]), Supplier: supplier, AsOf: generate.DefaultAsOf, Faults: faults}
	caller := landfall.Principal{Organisation: "Acme", KeyID: "test", Role: landfall.RoleImporter, Delivery: "book"}
	for index := range accounts {
		document := order.Draw(index).Account
		response := w.api.Do(w.t.Context(), answer.Stage, answer.Call{Who: caller, Body: document})
		if response.Status >= http.StatusInternalServerError {
			w.t.Fatalf("account %d of %s: %d %s: %v", index, supplier, response.Status, response.Body, response.Cause)
		}
		sent = append(sent, document)
	}
	return sent
}

// runAll runs all staged accounts.
func (w *testWorld) runAll(supplier string) {
	w.t.Helper()
	w.runLimited(supplier, 0)
}

func (w *testWorld) runLimited(supplier string, limit int) landfall.Run {
	w.t.Helper()
	run, err := w.operator().StartRun(w.t.Context(), landfall.RunPlan{Supplier: supplier, Team: "Night Team", Select: landfall.SelectPending, Limit: limit})
	if err != nil {
		w.t.Fatal(err)
	}
	w.console.WakeRuns()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		var facts operate.RunFacts
		if facts, err = w.operator().ShowRun(w.t.Context(), run.ID, 0); err != nil {
			w.t.Fatal(err)
		}
		if screenshots() { // samples are rare otherwise
			if err := w.store.Update(w.t.Context(), func(tx landfall.Tx) error { return tx.SampleRuns(w.t.Context(), 0) }); err != nil {
				w.t.Fatal(err)
			}
		}
		if facts.State == landfall.RunFinished {
			return facts.Run
		}
		if time.Now().After(end) {
			w.t.Fatalf("run %s is %s", run.ID, facts.State)
		}
	}
}

// turnWarningsIntoErrors makes accounts fail that were staged with a warning.
func (w *testWorld) turnWarningsIntoErrors(supplier string) {
	w.t.Helper()
	change := operate.SupplierChange{Severities: map[string]landfall.Severity{}}
	for _, rule := range contract.RuleBook() {
		if rule.Severity == landfall.SeverityWarning {
			change.Severities[rule.Code] = landfall.SeverityError
		}
	}
	if _, err := w.operator().SetSupplier(w.t.Context(), supplier, change); err != nil {
		w.t.Fatal(err)
	}
}

// screenshots reports whether the test takes screenshots.
func screenshots() bool { return os.Getenv("LANDFALL_SCREENSHOTS") != "" }

// seedScreenshots creates a half-finished, paused run with accounts in every state.
func (w *testWorld) seedScreenshots() {
	w.t.Helper()
	ctx, operator := w.t.Context(), w.operator()
	w.setRules("SOUTH", landfall.SeverityWarning) // so that some fail later
	w.stage("SOUTH", 2400, true)
	for _, external := range []string{"A-1000011", "A-1000012", "A-1000013"} {
		for _, supplier := range []string{"NORTH", "SOUTH"} {
			if err := operator.Skip(ctx, landfall.Key{Supplier: supplier, External: external}, "moves later"); err != nil {
				w.t.Log(err) // the account cannot be skipped; leave it as it is
			}
		}
	}
	w.setRules("SOUTH", landfall.SeverityError)
	w.runLimited("SOUTH", 1400)
	run, err := operator.StartRun(ctx, landfall.RunPlan{Supplier: "SOUTH", Team: "Night Team", Select: landfall.SelectUntried, NotBefore: time.Now().Add(time.Hour)})
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := operator.PauseRun(ctx, run.ID); err != nil {
		w.t.Fatal(err)
	}
	w.console.WakeRuns()
}
