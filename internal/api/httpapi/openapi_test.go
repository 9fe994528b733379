package httpapi

import (
	"bytes"
	"flag"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"landfall/internal/api/contract"
	"landfall/internal/test/tooltest"
)

var update = flag.Bool("update", false, "rewrite the checked-in API description")

const checkedIn = "../../../api/openapi.json"

// TestOpenAPIIsCheckedIn compares the OpenAPI document with the checked-in one.
// Clients are generated from it, so the author of a change must see the
// difference.
func TestOpenAPIIsCheckedIn(t *testing.T) {
	fresh := OpenAPI()
	if !bytes.Equal(fresh, OpenAPI()) {
		t.Fatal("the document differs from one writing to the next")
	}
	if *update {
		if err := os.WriteFile(checkedIn, fresh, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(checkedIn)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(fresh, kept) {
		t.Error("api/openapi.json is not what the route table says; run make generate")
	}
}

// Two public linters check the checked-in document. Each disabled rule has its
// reason beside it in api/lint.
func TestOpenAPIPassesLinters(t *testing.T) {
	tooltest.SkipIfShort(t)
	programs := filepath.Join(tooltest.Node(t, "../../../api/lint"), "node_modules", ".bin")
	for name, arguments := range map[string][]string{
		"redocly":  {"lint", "--config", "../../../api/lint/redocly.yaml", checkedIn},
		"spectral": {"lint", "--ruleset", "../../../api/lint/spectral.yaml", "--fail-severity", "warn", checkedIn},
	} {
		t.Run(name, func(t *testing.T) {
			linter := exec.CommandContext(t.Context(), filepath.Join(programs, name), arguments...)
			linter.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
			if output, err := linter.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, output)
			}
		})
	}
}

// Every response must match the document.
func TestAnswersMatchOpenAPI(t *testing.T) {
	document, err := openapi3.NewLoader().LoadFromData(OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	if err := document.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	openapi3filter.RegisterBodyDecoder(typeLines[0], openapi3filter.FileBodyDecoder) // lines are plain text
	h := newTestAPI(t)
	ours := sentByOurs(contract.ExampleAccount)
	dryRun := strings.Replace(sentByOurs(contract.ExampleProcess), "{", `{"dry_run":true,`, 1)
	nobody := strings.Replace(sentByOurs(contract.ExampleTransactions), "EXT-0001", "nobody", 1)
	told := map[string]bool{}
	for _, c := range []struct {
		who, method, path, body string
		status                  int
	}{
		{"importer", "POST", validatePath, ours, 200},
		{"importer", "POST", validatePath + "?include_warnings=true", ours, 200},
		{"importer", "POST", validatePath + "?include_warnings=maybe", ours, 400},
		{"importer", "POST", validatePath, contract.ExampleAccount, 400},
		{"", "POST", validatePath, ours, 401},
		{"importer", "POST", stagePath, ours, 201},
		{"importer", "POST", stagePath, ours, 200},
		{"importer", "POST", stagePath + "?include_warnings=1", ours, 200},
		{"importer", "POST", stagePath, "{}", 400},
		{"viewer", "POST", stagePath, ours, 403},
		{"", "POST", stagePath, ours, 401},
		{"importer", "POST", processPath, dryRun, 400},
		{"importer", "POST", processPath, sentByOurs(contract.ExampleProcess), 201},
		{"importer", "POST", processPath, sentByOurs(contract.ExampleProcess), 400},
		{"importer", "POST", processPath, "{}", 400},
		{"importer", "POST", stagePath, accountJSON("OURS", "no team"), 201},
		{"importer", "POST", processPath, creation("OURS", "no team"), 201},
		{"importer", "POST", notesPath, sentByOurs(contract.ExampleNotes), 201},
		{"importer", "POST", notesPath + "?include_warnings=1", sentByOurs(contract.ExampleNotes), 201},
		{"importer", "POST", notesPath, postingJSON("EXT-0001", `"notes":[{"document_paths":[{"document_path":"a.pdf"}],"unpin_at":"2030-01-01T00:00:00Z"}]`), 201},
		{"importer", "POST", notesPath, postingJSON("EXT-0001", `"notes":[{}]`), 400},
		{"importer", "POST", notesPath, postingJSON("nobody", `"notes":[{"body":"x"}]`), 404},
		{"importer", "POST", transactionsPath, sentByOurs(contract.ExampleTransactions), 201},
		{"importer", "POST", transactionsPath + "?include_warnings=1", strings.Replace(sentByOurs(contract.ExampleTransactions), "NOV", "DEC", 1), 201},
		{"importer", "POST", transactionsPath, strings.Replace(sentByOurs(contract.ExampleTransactions), "PAYMENT", "GIFT", 1), 400},
		{"importer", "POST", transactionsPath, postingJSON("EXT-0001", `"transactions":[5]`), 400},
		{"importer", "POST", transactionsPath, "{", 400},
		{"importer", "POST", transactionsPath + "?check_previously_added=perhaps", "{}", 400},
		{"importer", "POST", transactionsPath + "?check_previously_added=0&force_add_to_current_statement=0",
			strings.Replace(sentByOurs(contract.ExampleTransactions), "2025-11-03", "2019-11-03", 1), 400},
		{"importer", "POST", transactionsPath, nobody, 400},
		{"importer", "POST", statementsPath, sentByOurs(contract.ExampleStatements), 201},
		{"importer", "POST", statementsPath + "?include_warnings=1", sentByOurs(contract.ExampleStatements), 201},
		{"importer", "POST", statementsPath + "?include_added=1", sentByOurs(contract.ExampleStatements), 201},
		{"importer", "POST", statementsPath + "?include_added=some", sentByOurs(contract.ExampleStatements), 400},
		{"importer", "POST", statementsPath, strings.Replace(sentByOurs(contract.ExampleStatements), "184", "185", 1), 400},
		{"importer", "POST", instructionPath, sentByOurs(contract.ExampleInstruction), 201},
		{"importer", "POST", instructionPath + "?include_added=1", sentByOurs(contract.ExampleInstruction), 201},
		{"importer", "POST", instructionPath, strings.Replace(sentByOurs(contract.ExampleInstruction), "pm_1001", "not-found", 1), 400},
		{"importer", "POST", instructionPath, strings.Replace(sentByOurs(contract.ExampleInstruction), "pm_1001", "unavailable", 1), 500},
		{"viewer", "POST", instructionPath, sentByOurs(contract.ExampleInstruction), 403},
		{"importer", "POST", inBulkPath(validatePath), ours + "\n{\n\n", 200},
		{"importer", "POST", inBulkPath(stagePath), ours, 200},
		{"importer", "POST", inBulkPath(processPath), sentByOurs(contract.ExampleProcess), 200},
		{"importer", "POST", inBulkPath(notesPath), sentByOurs(contract.ExampleNotes), 200},
		{"importer", "POST", inBulkPath(transactionsPath), sentByOurs(contract.ExampleTransactions), 200},
		{"importer", "POST", inBulkPath(statementsPath), sentByOurs(contract.ExampleStatements), 200},
		{"importer", "POST", inBulkPath(instructionPath), sentByOurs(contract.ExampleInstruction), 200},
		{"viewer", "POST", inBulkPath(stagePath), ours, 403},
		{"", "POST", inBulkPath(stagePath), ours, 401},
		{"reader", "GET", importPath + "/accounts/OURS/EXT-0001/", "", 200},
		{"reader", "GET", importPath + "/accounts/OURS/nobody/", "", 404},
		{"importer", "GET", importPath + "/accounts/OURS/EXT-0001/", "", 403},
		{"reader", "GET", importPath + "/accounts/OURS/", "", 200},
		{"reader", "GET", importPath + "/accounts/OURS/?limit=1", "", 200},
		{"reader", "GET", importPath + "/accounts/OURS/?changed_since=x", "", 400},
		{"reader", "GET", importPath + "/accounts/NONE/", "", 404},
		{"viewer", "GET", importPath + "/accounts/OURS/", "", 403},
		{"viewer", "GET", failedPath, "", 200},
		{"viewer", "GET", importPath + "/failed-account-import-processes/NONE/", "", 404},
		{"viewer", "GET", summaryPath, "", 200},
		{"viewer", "GET", importPath + "/duplicate-accounts/OURS/?limit=1", "", 200},
		{"viewer", "GET", importPath + "/duplicate-accounts/NONE/", "", 404},
		{"viewer", "GET", importPath + "/error-summary/NONE/", "", 404},
		{"viewer", "GET", importPath + "/account-transfer-status/OURS/EXT-0001/", "", 200},
		{"viewer", "GET", importPath + "/account-transfer-status/OURS/nobody/", "", 404},
		{"", "GET", importPath + "/account-transfer-status/OURS/nobody/", "", 401},
		{"viewer", "GET", allPath, "", 200},
		{"viewer", "GET", allPath + "?limit=1", "", 200},
		{"viewer", "GET", allPath + "?limit=0", "", 400},
		{"viewer", "GET", importPath + "/all-account-import-processes/NONE/", "", 404},
		{"viewer", "GET", importPath + "/pending-account-import-processes/OURS/", "", 200},
		{"viewer", "GET", importPath + "/imported-account-import-processes/OURS/", "", 200},
		{"viewer", "GET", importPath + "/control-totals/OURS/", "", 404},
		{"importer", "PUT", importPath + "/control-totals/OURS/", contract.ExampleControlTotals, 200},
		{"importer", "PUT", importPath + "/control-totals/OURS/", `{"accounts":1.5}`, 400},
		{"viewer", "PUT", importPath + "/control-totals/OURS/", contract.ExampleControlTotals, 403},
		{"viewer", "GET", importPath + "/control-totals/OURS/", "", 200},
		{"viewer", "GET", importPath + "/control-totals/OURS/?history=true", "", 200},
		{"viewer", "GET", importPath + "/reconciliation/OURS/sign-offs/", "", 200},
		{"viewer", "GET", importPath + "/reconciliation/OURS/", "", 200},
		{"viewer", "GET", importPath + "/reconciliation/OURS/?measure=accounts&reason=pending", "", 200},
		{"viewer", "GET", importPath + "/reconciliation/OURS/?measure=accounts", "", 400},
		{"viewer", "GET", importPath + "/reconciliation/NONE/", "", 404},
		{"viewer", "GET", importPath + "/rules/", "", 200},
		{"viewer", "GET", importPath + "/events/", "", 200},
		{"viewer", "GET", importPath + "/events/?after=x", "", 400},
		{"viewer", "GET", importPath + "/events/?import_supplier_code=NONE", "", 404},
		{"", "GET", importPath + "/event-schemas/", "", 200},
		{"", "GET", importPath + "/event-schemas/account_import.completed/", "", 200},
		{"", "GET", importPath + "/event-schemas/account_import.lost/", "", 404},
		{"importer", "POST", runsPath, sentByOurs(contract.ExampleRun), 201},
		{"importer", "POST", runsPath, sentByOurs(contract.ExampleRun), 400},
		{"viewer", "GET", runsPath + "{run}/", "", 200},
		{"viewer", "GET", runsPath + "?import_supplier_code=OURS", "", 200},
		{"viewer", "GET", runsPath, "", 400},
		{"viewer", "GET", runsPath + "{run}/failures/", "", 200},
		{"importer", "POST", runsPath + "{run}/pause/", "", 200},
		{"importer", "POST", runsPath + "{run}/resume/", "", 200},
		{"importer", "POST", runsPath + "{run}/cancel/", "{}", 200},
		{"importer", "POST", runsPath + "{run}/resume/", "", 400},
		{"importer", "POST", runsPath + "R-00000000/cancel/", "", 404},
		{"importer", "POST", deliveriesPath + "1-abc/confirm/", "", 404},
		{"importer", "POST", deliveriesPath + "1-abc/refuse/", `{"reason":"unknown tariff"}`, 404},
		{"", "POST", "/v1/graphql/", `{"query":"mutation{obtainServiceToken(input:{apiKey:\"x\"}){token}}"}`, 200},
		{"", "POST", "/v1/graphql/", `{"query":"mutation{"}`, 0},
		{"", "GET", "/v1/graphql/?query=%7B__typename%7D", "", 200},
		{"", "GET", "/healthz", "", 200},
		{"", "GET", "/readyz", "", 200},
		{"", "GET", "/openapi.json", "", 200},
		{"viewer", "GET", "/v1/openapi.json?import_supplier_code=OURS", "", 200},
		{"viewer", "GET", "/v1/openapi.json?import_supplier_code=NONE", "", 404},
		{"viewer", "GET", "/v1/openapi.json", "", 400},
	} {
		c.path = h.ofRun(c.path)
		got := h.call(c.who, c.method, c.path, c.body, linesWhere(c.path))
		h.noteRun(got)
		if c.status != 0 && got.status != c.status {
			t.Errorf("%s %s as %q: got %d %.300s, want %d", c.method, c.path, c.who, got.status, got.body, c.status)
			continue
		}
		request, _ := http.NewRequest(c.method, h.server.URL+c.path, strings.NewReader(c.body))
		request.Header.Set("Content-Type", "application/json")
		found := describedAs(document, h.api, c.method, request.URL.EscapedPath())
		if found == nil {
			t.Errorf("%s %s is not described", c.method, c.path)
			continue
		}
		told[found.Operation.OperationID] = true
		err = openapi3filter.ValidateResponse(t.Context(), &openapi3filter.ResponseValidationInput{
			RequestValidationInput: &openapi3filter.RequestValidationInput{Request: request, Route: found},
			Status:                 got.status, Header: got.header, Body: io.NopCloser(strings.NewReader(got.body)),
			Options: &openapi3filter.Options{IncludeResponseStatus: true},
		})
		if err != nil {
			t.Errorf("%s %s: %d does not match the document: %v", c.method, c.path, got.status, err)
		}
	}
	for _, r := range routeTable() {
		if r.doc != nil && !told[r.doc.id] {
			t.Errorf("no answer of %s was checked", r.doc.id)
		}
	}
}

// describedAs returns the route that the document describes for a path, or nil.
func describedAs(document *openapi3.T, api *API, method, path string) *routers.Route {
	matched := routeFor(api.tree.find(path).routes, method)
	if matched == nil || document.Paths.Value(matched.path) == nil {
		return nil
	}
	item := document.Paths.Value(matched.path)
	return &routers.Route{Spec: document, Path: matched.path, PathItem: item, Method: method, Operation: item.GetOperation(method)}
}
