package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/api/contract"
)

// unstable matches what differs between runs of the test: account numbers, run
// ids, positions in the log, times set by the service, and the names of users.
var unstable = regexp.MustCompile(`[0-9a-f]{64}|[AR]-[0-9A-Z]{8}|202[6-9]-\d\d-\d\dT\d\d:\d\d:\d\dZ|"id":"\d+-[0-9a-z]+"|"next":"[^"]+"|"set_by":"[^"]*"`)

// shownExamples returns the examples of the OpenAPI document, by operation and
// status.
func shownExamples(t *testing.T) map[string]string {
	t.Helper()
	type media struct {
		Content map[string]struct {
			Examples map[string]struct {
				Value json.RawMessage `json:"value"`
			} `json:"examples"`
		} `json:"content"`
	}
	var document struct {
		Paths map[string]map[string]struct {
			OperationID string           `json:"operationId"`
			RequestBody media            `json:"requestBody"`
			Responses   map[string]media `json:"responses"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(OpenAPI(), &document); err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{}
	note := func(name string, m media) {
		for _, content := range m.Content {
			for _, example := range content.Examples {
				var plain bytes.Buffer
				if err := json.Compact(&plain, example.Value); err != nil {
					t.Fatal(err)
				}
				shown[name] = plain.String()
			}
		}
	}
	for _, item := range document.Paths {
		for _, operation := range item {
			note(operation.OperationID, operation.RequestBody)
			for status, response := range operation.Responses {
				note(operation.OperationID+" "+status, response)
			}
		}
	}
	return shown
}

// openDemo returns an API with the demo data that the examples use.
func openDemo(t *testing.T) *testAPI {
	t.Helper()
	h := newTestAPI(t)
	ctx := t.Context()
	err := h.store.Update(ctx, func(tx landfall.Tx) error {
		return errors.Join(tx.CreateSupplier(ctx, landfall.NewSupplier("DEMO_ENERGY")),
			tx.GrantVendor(ctx, "SANDBOX", "DEMO_ENERGY"), tx.Grant(ctx, "DEMO_ENERGY", "ours"))
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// The example responses of the OpenAPI document are what the service returns
// for the example requests, sent in the order of the page, and for common
// mistakes.
func TestExamplesMatchResponses(t *testing.T) {
	h := openDemo(t)
	shown := shownExamples(t)
	const supplier = "DEMO_ENERGY"
	ctx := t.Context()
	if err := h.store.Update(ctx, func(tx landfall.Tx) error {
		id, err := tx.CreateSignOff(ctx, landfall.SignOff{Supplier: supplier, SignedAt: time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC), Actor: "operator:ada", Report: []byte("{}"), Page: []byte("<p>")})
		return errors.Join(err, tx.AppendAudit(ctx, landfall.AuditEntry{
			Actor: "operator:ada", Action: landfall.SignOffAction, Subject: supplier, Detail: landfall.SignOffDetail(id, [32]byte{}, [32]byte{}),
		}))
	}); err != nil {
		t.Fatal(err)
	}
	in := func(operation, old, fresh string) string {
		if !strings.Contains(shown[operation], old) {
			t.Fatalf("the example of %s has no %q: %s", operation, old, shown[operation])
		}
		return strings.Replace(shown[operation], old, fresh, 1)
	}
	failing := strings.Replace(in("stageAccount", "EXT-0001", "EXT-0002"), `}`,
		`}],"payment_instructions":[{"vendor":"SANDBOX","reference":"not-found","type":"CARD"}`, 1)
	past := `{"transaction_id":"T-1002","transaction_date":"2019-11-03","amount":"52.50","type":"PAYMENT"}`
	told := map[string]bool{}
	for _, c := range []struct{ operation, who, method, path, body string }{
		{"validateAccount 200", "importer", "POST", validatePath, shown["validateAccount"]},
		{"validateAccount 400", "importer", "POST", validatePath, in("validateAccount", "ada@example.com", "ada")},
		{"stageAccount 201", "importer", "POST", stagePath, shown["stageAccount"]},
		{"stageAccount 200", "importer", "POST", stagePath, shown["stageAccount"]},
		{"processAccount 400", "importer", "POST", processPath, strings.Replace(shown["processAccount"], "{", `{"dry_run":true,`, 1)},
		{"processAccount 201", "importer", "POST", processPath, shown["processAccount"]},
		{"stageAccount 400", "importer", "POST", stagePath, in("stageAccount", `"family_name":"Example"`, `"family_name":"Lovelace"`)},
		{"createNotes 201", "importer", "POST", notesPath, shown["createNotes"]},
		{"createNotes 400", "importer", "POST", notesPath, `{"import_supplier":"DEMO_ENERGY","external_account_number":"EXT-0001","notes":[{}]}`},
		{"createNotes 404", "importer", "POST", notesPath, in("createNotes", "EXT-0001", "nobody")},
		{"createTransactions 200", "importer", "POST", transactionsPath + "?dry_run=true", shown["createTransactions"]},
		{"createTransactions 201", "importer", "POST", transactionsPath + "?force_add_to_current_statement=true", shown["createTransactions"]},
		{"createTransactions 400", "importer", "POST", transactionsPath + "?force_add_to_current_statement=false",
			`{"import_supplier":"DEMO_ENERGY","external_account_number":"EXT-0001","transactions":[` + past + `]}`},
		{"createHistoricalStatements 201", "importer", "POST", statementsPath, shown["createHistoricalStatements"]},
		{"createHistoricalStatements 400", "importer", "POST", statementsPath, in("createHistoricalStatements", "184.1", "185.1")},
		{"createPaymentInstruction 201", "importer", "POST", instructionPath, shown["createPaymentInstruction"]},
		{"createPaymentInstruction 400", "importer", "POST", instructionPath, in("createPaymentInstruction", "pm_1001", "not-found")},
		{"createPaymentInstruction 500", "importer", "POST", instructionPath, in("createPaymentInstruction", "pm_1001", "unavailable")},
		{"getAccount 200", "reader", "GET", importPath + "/accounts/" + supplier + "/EXT-0001/", ""},
		{"streamAccounts 200", "reader", "GET", importPath + "/accounts/" + supplier + "/", ""},
		{"getAccount 404", "reader", "GET", importPath + "/accounts/" + supplier + "/nobody/", ""},
		{"accountTransferStatus 200", "viewer", "GET", importPath + "/account-transfer-status/" + supplier + "/EXT-0001/", ""},
		{"accountTransferStatus 404", "viewer", "GET", importPath + "/account-transfer-status/" + supplier + "/nobody/", ""},
		{"importedAccountImportProcesses 200", "viewer", "GET", importPath + "/imported-account-import-processes/" + supplier + "/", ""},
		{"", "importer", "POST", stagePath, failing},
		{"", "importer", "POST", processPath, in("processAccount", "EXT-0001", "EXT-0002")},
		{"allAccountImportProcesses 200", "viewer", "GET", importPath + "/all-account-import-processes/" + supplier + "/", ""},
		{"allAccountImportProcesses 400", "viewer", "GET", importPath + "/all-account-import-processes/" + supplier + "/?limit=0", ""},
		{"allAccountImportProcesses 404", "viewer", "GET", importPath + "/all-account-import-processes/NONE/", ""},
		{"pendingAccountImportProcesses 200", "viewer", "GET", importPath + "/pending-account-import-processes/" + supplier + "/", ""},
		// What is accepted is no longer listed as a failure.
		{"", "importer", "POST", notesPath, shown["createNotes"]},
		{"", "importer", "POST", transactionsPath, shown["createTransactions"]},
		{"", "importer", "POST", statementsPath, shown["createHistoricalStatements"]},
		{"", "importer", "POST", instructionPath, shown["createPaymentInstruction"]},
		{"failedAccountImportProcesses 200", "viewer", "GET", importPath + "/failed-account-import-processes/" + supplier + "/", ""},
		{"failedAccountImportProcesses 404", "viewer", "GET", importPath + "/failed-account-import-processes/NONE/", ""},
		{"duplicateAccounts 404", "viewer", "GET", importPath + "/duplicate-accounts/NONE/", ""},
		{"errorSummary 200", "viewer", "GET", importPath + "/error-summary/" + supplier + "/", ""},
		{"errorSummary 404", "viewer", "GET", importPath + "/error-summary/NONE/", ""},
		{"controlTotals 404", "viewer", "GET", importPath + "/control-totals/NONE/", ""},
		{"setControlTotals 200", "importer", "PUT", importPath + "/control-totals/" + supplier + "/", shown["setControlTotals"]},
		{"setControlTotals 400", "importer", "PUT", importPath + "/control-totals/" + supplier + "/", `{"accounts":-1}`},
		{"setControlTotals 404", "importer", "PUT", importPath + "/control-totals/NONE/", shown["setControlTotals"]},
		{"controlTotals 200", "viewer", "GET", importPath + "/control-totals/" + supplier + "/", ""},
		{"signOffs 200", "viewer", "GET", importPath + "/reconciliation/" + supplier + "/sign-offs/", ""},
		{"reconciliation 200", "viewer", "GET", importPath + "/reconciliation/" + supplier + "/", ""},
		{"reconciliation 400", "viewer", "GET", importPath + "/reconciliation/" + supplier + "/?measure=accounts&reason=failed&limit=0", ""},
		{"reconciliation 404", "viewer", "GET", importPath + "/reconciliation/NONE/", ""},
		{"events 200", "viewer", "GET", importPath + "/events/?limit=1", ""},
		{"", "importer", "POST", runsPath, shown["startRun"]},
		{"startRun 400", "importer", "POST", runsPath, shown["startRun"]},
		{"", "importer", "POST", runsPath + "{run}/cancel/", ""},
		{"pauseRun 400", "importer", "POST", runsPath + "{run}/pause/", ""},
		{"resumeRun 400", "importer", "POST", runsPath + "{run}/resume/", ""},
		{"run 404", "viewer", "GET", runsPath + "R-00000000/", ""},
		{"runs 404", "viewer", "GET", runsPath + "?import_supplier_code=NONE", ""},
		{"ruleBook 400", "viewer", "GET", importPath + "/rules/?verbose=1", ""},
		{"stageAccount 403", "viewer", "POST", stagePath, shown["stageAccount"]},
		{"stageAccount 401", "", "POST", stagePath, shown["stageAccount"]},
		{"healthz 200", "", "GET", "/healthz", ""},
		{"readyz 200", "", "GET", "/readyz", ""},
	} {
		got := h.call(c.who, c.method, h.ofRun(c.path), c.body)
		h.noteRun(got)
		if c.operation == "" {
			continue
		}
		told[c.operation] = true
		want := shown[c.operation]
		if strings.HasPrefix(want, `"`) { // lines are shown as one text
			if err := json.Unmarshal([]byte(want), &want); err != nil {
				t.Fatal(err)
			}
		}
		if unstable.ReplaceAllString(got.body, "…") != unstable.ReplaceAllString(want, "…") {
			t.Errorf("%s\nanswers %d %s\nshows   %s", c.operation, got.status, got.body, want)
		}
	}
	var untold []string
	for name := range shown {
		if operation, status, response := strings.Cut(name, " "); response && !told[name] && status < "401" &&
			!slices.Contains([]string{"obtainServiceToken", "queryTokenSchema", "ruleBook", "eventTypes", "eventSchema", "runFailures", "cancelRun", "confirmDelivery", "refuseDelivery", "duplicateAccounts"}, operation) &&
			!strings.HasPrefix(operation, "bulk") && !general(shown[name]) {
			untold = append(untold, name)
		}
	}
	if len(untold) > 0 {
		t.Errorf("these responses are not tested: %v", untold)
	}
}

// The examples of deliveries, which need a target, match too.
func TestDeliveryExamplesMatchResponses(t *testing.T) {
	h := openDemo(t)
	shown := shownExamples(t)
	ctx := t.Context()
	err := h.store.Update(ctx, func(tx landfall.Tx) error {
		supplier, err := tx.Supplier(ctx, "DEMO_ENERGY")
		supplier.Target = "BILLING"
		return errors.Join(err, tx.SaveSupplier(ctx, supplier),
			tx.SaveTarget(ctx, landfall.Target{Code: "BILLING", URL: "https://billing.example", AtOnce: 1, State: landfall.TargetActive}))
	})
	if err != nil {
		t.Fatal(err)
	}
	h.call("importer", "POST", stagePath, shown["stageAccount"])
	h.call("importer", "POST", processPath, shown["processAccount"])
	claims, err := h.store.ClaimTargets(ctx, 1, time.Minute)
	if err != nil || len(claims) != 1 {
		t.Fatal(claims, err)
	}
	for _, c := range []struct{ verb, other string }{{"refuse", "confirm"}, {"confirm", "refuse"}} {
		round, err := h.store.TargetRound(ctx, claims[0], 10)
		if err != nil || len(round.Chains) != 1 {
			t.Fatal(round, err)
		}
		one := &round.Chains[0][0]
		if err := h.store.SaveTargetRound(ctx, claims[0], landfall.TargetRoundResult{
			Results: []landfall.TargetResult{{Delivery: one, State: landfall.TargetPending, Status: 202}}, KeepClaim: true, Lease: time.Minute,
		}); err != nil {
			t.Fatal(err)
		}
		id := contract.DeliveryID(one.ID, one.At)
		for _, call := range []struct{ id, verb, response string }{
			{"1-1", c.verb, c.verb + "Delivery 404"}, {id, c.verb, c.verb + "Delivery 200"}, {id, c.other, c.other + "Delivery 400"},
		} {
			got := h.call("importer", "POST", importPath+"/deliveries/"+call.id+"/"+call.verb+"/", shown[call.verb+"Delivery"])
			if want := shown[call.response]; unstable.ReplaceAllString(got.body, "…") != unstable.ReplaceAllString(want, "…") {
				t.Errorf("%s\nanswers %d %s\nshows   %s", call.response, got.status, got.body, want)
			}
		}
		if _, err := h.store.RestartDeliveries(ctx, one.Key, 1); err != nil {
			t.Fatal(err)
		}
	}
}

// A path may contain {run}: the run that a response named last.

var aRun = regexp.MustCompile(`"id":"(R-[0-9A-Z]{8})"`)

func (h *testAPI) noteRun(got reply) {
	if found := aRun.FindStringSubmatch(got.body); found != nil {
		h.run = found[1]
	}
}

func (h *testAPI) ofRun(path string) string { return strings.ReplaceAll(path, "{run}", h.run) }

// general reports whether an example belongs to every operation of its kind.
func general(example string) bool {
	return strings.Contains(example, `"verbose"`) || strings.Contains(example, `"limit"`)
}
