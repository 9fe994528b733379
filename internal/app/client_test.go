package app_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"landfall/client"
	"landfall/internal/kit/generate"
	"landfall/internal/test/dbtest"
)

// customer returns a client of the world, as an integrator would create it.
func (w *world) customer(t *testing.T) *client.Client {
	t.Helper()
	c, err := client.New(w.server.URL, client.WithKey(w.words["key"]), client.WithRetryTime(20*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestClientEndToEnd makes every call of the public client against the
// real service, on both databases.
func TestClientEndToEnd(t *testing.T) {
	onBoth(t, func(t *testing.T, database string) {
		w := newWorld(t, database, nil)
		c, ctx := w.customer(t), t.Context()
		order := generate.Options{Accounts: 20, Seed: 1, Supplier: "NORTH", AsOf: generate.DefaultAsOf}

		entry := order.Draw(0)
		if warnings, err := c.Validate(ctx, entry.Account); err != nil || len(warnings) > 0 {
			t.Fatal(warnings, err)
		}
		staged, err := c.Stage(ctx, entry.Account)
		if err != nil || !staged.First || staged.Supplier != "NORTH" {
			t.Fatalf("%+v %v", staged, err)
		}
		if again, err := c.Stage(ctx, entry.Account); err != nil || again.First {
			t.Fatalf("staged again: %+v %v", again, err)
		}
		creation := client.Creation{Supplier: "NORTH", External: staged.External, Team: "Migration Team", DryRun: true}
		if rehearsed, err := c.Process(ctx, creation); err != nil {
			t.Fatalf("dry run: %+v %v", rehearsed, err)
		}
		creation.DryRun = false
		created, err := c.Process(ctx, creation)
		if err != nil || created.Number == "" {
			t.Fatalf("%+v %v", created, err)
		}
		if _, err := c.Process(ctx, creation); !client.IsCode(err, "account_already_imported") {
			t.Errorf("created again: %v", err)
		}
		envelope := fmt.Sprintf(`"import_supplier":"NORTH","external_account_number":%q`, staged.External)
		notes, err := c.AddNotes(ctx, "{"+envelope+`,"notes":[{"body":"Hello."}]}`)
		if err != nil || len(notes) != 1 || notes[0].Status != "NOTE_CREATION_SUCCESS" {
			t.Errorf("%+v %v", notes, err)
		}
		payment := "{" + envelope + `,"transactions":[{"transaction_id":"late","transaction_date":"2026-06-30","amount":"5.00","type":"PAYMENT"}]}`
		for _, want := range []string{"TRANSACTION_ADDED_TO_ACCOUNT", "TRANSACTION_ALREADY_EXISTS"} {
			posted, err := c.AddTransactions(ctx, payment, client.TransactionOptions{})
			if err != nil || len(posted) != 1 || posted[0].Status != want {
				t.Errorf("%s: %+v %v", want, posted, err)
			}
		}
		if err := c.AddStatements(ctx, "{"+envelope+`,"statements":[]}`); err != nil {
			t.Error(err)
		}
		status, err := c.Status(ctx, "NORTH", staged.External)
		if err != nil || status.State != "IMPORTED" || status.Number != created.Number || status.Notes != 1 {
			t.Errorf("%+v %v", status, err)
		}
		if _, err := c.Status(ctx, "SOUTH", "1"); !client.IsCode(err, "import_supplier_not_found") && err == nil {
			t.Error("another organisation's supplier was shown")
		}
		w.clientInBulk(t, c, order)
	})
}

// clientInBulk stages the rest of the book as a stream and reads the lists.
func (w *world) clientInBulk(t *testing.T, c *client.Client, order generate.Options) {
	t.Helper()
	lines := func(yield func([]byte, error) bool) {
		for place := range order.Accounts {
			line := order.Draw(place).Account
			if place == 5 {
				line = []byte(`{"import_supplier":"NORTH","external_account_number":"broken"}`)
			}
			if !yield(line, nil) {
				return
			}
		}
	}
	statuses := map[int]int{}
	for answer, err := range c.Bulk(t.Context(), client.BulkStage, nil, lines) {
		if err != nil {
			t.Fatal(err)
		}
		statuses[answer.Status]++
		if answer.Line == 1 && !client.IsCode(answer.Err(), "account_already_imported") {
			t.Errorf("line 1: %v", answer.Err())
		}
	}
	if statuses[201] != 18 || statuses[400] != 2 {
		t.Errorf("statuses %v", statuses)
	}
	counts := map[string]int{}
	for _, err := range c.All(t.Context(), "NORTH") {
		if err != nil {
			t.Fatal(err)
		}
		counts["all"]++
	}
	for entry, err := range c.Imported(t.Context(), "NORTH") {
		if err != nil || entry.Number == "" || entry.CreatedAt.IsZero() {
			t.Fatal(entry, err)
		}
		counts["imported"]++
	}
	for failed, err := range c.Failures(t.Context(), "NORTH") {
		if err != nil || failed.External != "broken" || failed.At != "STAGING" {
			t.Fatalf("%+v %v", failed, err)
		}
		counts["failed"]++
	}
	if counts["all"] != 19 || counts["imported"] != 1 || counts["failed"] != 1 {
		t.Errorf("lists %v", counts)
	}
	if summary, err := c.ErrorSummary(t.Context(), "NORTH"); err != nil || summary.Accounts != 1 || len(summary.Groups) != 1 {
		t.Errorf("%+v %v", summary, err)
	}
}

// TestClientReadsEveryField makes the calls that read: events, totals and the
// rule book, and renews a token without the key.
func TestClientReadsEveryField(t *testing.T) {
	onBoth(t, func(t *testing.T, database string) {
		w := newWorld(t, database, nil)
		c, ctx := w.customer(t), t.Context()
		order := generate.Options{Accounts: 5, Seed: 1, Supplier: "NORTH", AsOf: generate.DefaultAsOf}
		var accounts [][]byte
		var creations []client.Creation
		for place := range order.Accounts {
			entry := order.Draw(place)
			accounts = append(accounts, entry.Account)
			creations = append(creations, client.Creation{Supplier: "NORTH", External: fmt.Sprintf("A-%07d", 1_000_001+place), Team: "Migration Team"})
		}
		for outcome, err := range c.StageAll(ctx, client.Documents(accounts)) {
			if err != nil || outcome.Err != nil || !outcome.Value.First {
				t.Fatalf("%+v %v", outcome, err)
			}
		}
		for outcome, err := range c.ProcessAll(ctx, client.Documents(creations)) {
			if err != nil || outcome.Err != nil || outcome.Value.Number == "" {
				t.Fatalf("%+v %v", outcome, err)
			}
		}
		received := 0
		for page, err := range c.Follow(ctx, client.EventQuery{Supplier: "NORTH"}) {
			if err != nil {
				t.Fatal(err)
			}
			for _, event := range page.Events {
				if event.Type == "account_import.completed" {
					received++
				}
			}
			if received == len(accounts) {
				break
			}
		}
		count := int64(order.Accounts + 1)
		if kept, err := c.SetControlTotals(ctx, "NORTH", client.ControlTotals{Accounts: &count}); err != nil || *kept.Accounts != count {
			t.Fatalf("%+v %v", kept, err)
		}
		if kept, err := c.ControlTotals(ctx, "NORTH"); err != nil || *kept.Accounts != count || kept.SetBy == "" {
			t.Fatalf("%+v %v", kept, err)
		}
		found, err := c.Reconciliation(ctx, "NORTH")
		if err != nil || found.Measures[0].Name != "accounts" || *found.Measures[0].Unexplained.Count != 1 {
			t.Fatalf("%+v %v", found, err)
		}
		figures := 0
		for account, err := range c.ImportedFigures(ctx, "NORTH") {
			if err != nil || account.Currency != "GBP" || account.Balance == "" || account.LedgerEntries == 0 {
				t.Fatalf("%+v %v", account, err)
			}
			figures++
		}
		if figures != order.Accounts {
			t.Errorf("%d accounts have figures", figures)
		}
		w.clientRefers(t, c)
	})
}

// clientRefers reads the reference data that is the same for every caller.
func (w *world) clientRefers(t *testing.T, c *client.Client) {
	t.Helper()
	ctx := t.Context()
	if rules, err := c.Rules(ctx); err != nil || len(rules.Rules) == 0 || len(rules.Codes) == 0 {
		t.Errorf("%+v %v", rules, err)
	}
	types, err := c.EventTypes(ctx)
	if err != nil || len(types) == 0 {
		t.Fatalf("%+v %v", types, err)
	}
	if schema, err := c.EventSchema(ctx, types[0].Type); err != nil || len(schema) == 0 {
		t.Errorf("%s %v", schema, err)
	}
	if document, err := c.OpenAPI(ctx); err != nil || len(document) == 0 {
		t.Error(err)
	}
	if err := errors.Join(c.Alive(ctx), c.Ready(ctx)); err != nil {
		t.Error(err)
	}
}

// TestClientWithoutTheKey uses a client that has only a refresh token.
func TestClientWithoutTheKey(t *testing.T) {
	w := newWorld(t, dbtest.SQLite(t), nil)
	body := fmt.Sprintf(`{"query":"mutation { obtainServiceToken(input: {apiKey: \"%s\"}) { refreshToken } }"}`, w.words["key"])
	answer, err := http.Post(w.server.URL+"/v1/graphql/", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var obtained struct {
		Data struct {
			Obtained struct{ RefreshToken string } `json:"obtainServiceToken"`
		}
	}
	if err := json.NewDecoder(answer.Body).Decode(&obtained); err != nil {
		t.Fatal(err)
	}
	refresh := obtained.Data.Obtained.RefreshToken
	for range 3 {
		kept := refresh
		c, err := client.New(w.server.URL, client.WithRefreshToken(refresh, func(next string) { kept = next }))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Rules(t.Context()); err != nil {
			t.Fatal(err)
		}
		if kept == refresh || kept == "" {
			t.Fatal("a refresh token is valid once, and the next one was not returned")
		}
		refresh = kept
	}
}
