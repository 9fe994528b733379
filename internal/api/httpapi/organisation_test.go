package httpapi

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"landfall"
)

// tenancy describes how each route that needs a token is called for a supplier.
// {S} is replaced by the supplier's code.
var tenancy = map[string]struct {
	path, body string
	own        int  // the status for the organisation's own supplier
	hides      bool // the response depends on the supplier
}{
	"validateAccount": {validatePath, `{"import_supplier":"{S}","external_account_number":"new","customers":[{}]}`, 200, true},
	"stageAccount":    {stagePath, `{"import_supplier":"{S}","external_account_number":"new","customers":[{}]}`, 201, true},
	"processAccount": {processPath,
		`{"import_supplier_code":"{S}","external_account_number":"staged","operations_team_name":"Migration Team"}`, 201, true},
	"createNotes": {notesPath, `{"import_supplier":"{S}","external_account_number":"there","notes":[{"body":"x"}]}`, 201, true},
	"createTransactions": {transactionsPath, `{"import_supplier":"{S}","external_account_number":"there","transactions":[
		{"transaction_id":"1","transaction_date":"2026-01-01","amount":1,"type":"PAYMENT"}]}`, 201, true},
	"createHistoricalStatements": {statementsPath, `{"import_supplier":"{S}","external_account_number":"there","statements":[
		{"statement_id":"1","bill_period_from_date":"2026-01-01","bill_period_to_date":"2026-01-31"}]}`, 201, true},
	"createPaymentInstruction": {instructionPath, `{"import_supplier":"{S}","external_account_number":"there",
		"vendor":"SANDBOX","reference":"pm_1","type":"CARD"}`, 201, true},
	"supplierOpenapi":               {"/v1/openapi.json?import_supplier_code={S}", "", 200, true},
	"failedAccountImportProcesses":  {importPath + "/failed-account-import-processes/{S}/", "", 200, true},
	"duplicateAccounts":             {importPath + "/duplicate-accounts/{S}/", "", 200, true},
	"errorSummary":                  {importPath + "/error-summary/{S}/", "", 200, true},
	"getAccount":                    {importPath + "/accounts/{S}/there/", "", 200, true},
	"streamAccounts":                {importPath + "/accounts/{S}/", "", 200, true},
	"accountTransferStatus":         {importPath + "/account-transfer-status/{S}/there/", "", 200, true},
	"allAccountImportProcesses":     {importPath + "/all-account-import-processes/{S}/", "", 200, true},
	"pendingAccountImportProcesses": {importPath + "/pending-account-import-processes/{S}/", "", 200, true},
	"importedAccountImportProcesses": {
		importPath + "/imported-account-import-processes/{S}/", "", 200, true},
	"events":   {importPath + "/events/?import_supplier_code={S}", "", 200, true},
	"ruleBook": {importPath + "/rules/", "", 200, false},
	"startRun": {runsPath, `{"import_supplier_code":"{S}","operations_team_name":"Migration Team"}`, 201, true},
	"runs":     {runsPath + "?import_supplier_code={S}", "", 200, true},
	// {R} is a run that was cancelled.
	"run":         {runsPath + "{R}/", "", 200, true},
	"pauseRun":    {runsPath + "{R}/pause/", "", 400, true},
	"resumeRun":   {runsPath + "{R}/resume/", "", 400, true},
	"cancelRun":   {runsPath + "{R}/cancel/", "", 200, true},
	"runFailures": {runsPath + "{R}/failures/", "", 200, true},
	// There is none; the store's tests have those of others.
	"confirmDelivery":  {deliveriesPath + "1-abc/confirm/", "", 404, false},
	"refuseDelivery":   {deliveriesPath + "1-abc/refuse/", `{"reason":"unknown tariff"}`, 404, false},
	"setControlTotals": {importPath + "/control-totals/{S}/", `{"accounts":2}`, 200, true},
	"controlTotals":    {importPath + "/control-totals/{S}/", "", 200, true},
	"signOffs":         {importPath + "/reconciliation/{S}/sign-offs/", "", 200, true},
	"reconciliation":   {importPath + "/reconciliation/{S}/", "", 200, true},
}

// A supplier of another organisation must look exactly like one that does not
// exist, and a caller without a valid token must learn nothing.
func TestTenantMatrix(t *testing.T) {
	h := newTestAPI(t)
	for who, supplier := range map[string]string{"importer": "OURS", "other": "THEIRS"} {
		h.create(who, supplier, "there")
		if got := h.call(who, "POST", stagePath, accountJSON(supplier, "staged")); got.status != 201 {
			t.Fatalf("staging for %s: %d %s", supplier, got.status, got.body)
		}
	}
	cancelled := map[string]string{"NONE": "R-00000000"}
	for who, supplier := range map[string]string{"importer": "OURS", "other": "THEIRS"} {
		h.noteRun(h.call(who, "POST", runsPath, strings.ReplaceAll(tenancy["startRun"].body, "{S}", supplier)))
		if got := h.call(who, "POST", h.ofRun(runsPath+"{run}/cancel/"), ""); got.status != 200 {
			t.Fatalf("cancelling a run of %s: %d %s", supplier, got.status, got.body)
		}
		cancelled[supplier] = h.run
	}
	revoked := h.addKey("revoked", "ours", landfall.RoleImporter)
	ctx := t.Context()
	if err := h.store.Update(ctx, func(tx landfall.Tx) error { return tx.RevokeKey(ctx, revoked) }); err != nil {
		t.Fatal(err)
	}
	time.Sleep(60 * time.Millisecond) // longer than an authentication is cached
	h.tokens["garbage"] = "garbage"
	h.tokens["key instead of token"] = h.keys["importer"]

	for _, r := range routeTable() {
		if r.access == publicAccess || r.bulk { // see TestLinesAreCheckedByOrganisation
			continue
		}
		row, known := tenancy[r.doc.id]
		if !known {
			t.Errorf("%s has no row in the matrix of organisations", r.doc.id)
			continue
		}
		ask := func(who, supplier string) reply {
			path := strings.NewReplacer("{S}", supplier, "{R}", cancelled[supplier]).Replace(row.path)
			return h.call(who, r.method, path, strings.ReplaceAll(row.body, "{S}", supplier))
		}
		t.Run(r.doc.id, func(t *testing.T) {
			for _, who := range []string{"", "garbage", "revoked", "key instead of token"} {
				for _, supplier := range []string{"OURS", "THEIRS", "NONE"} {
					if got := ask(who, supplier); got.status != 401 || strings.Contains(got.body, supplier) {
						t.Errorf("token %q, %s: got %d %s", who, supplier, got.status, got.body)
					}
				}
			}
			own := "importer"
			if r.access == personalAccess {
				own = "reader"
			}
			if row.hides {
				theirs, none := ask(own, "THEIRS"), ask(own, "NONE")
				if theirs.status < 400 || theirs.status != none.status || theirs.body != none.body {
					t.Errorf("another's supplier and none differ:\n%d %s\n%d %s", theirs.status, theirs.body, none.status, none.body)
				}
			}
			// Who may not use the route. A refusal says nothing about the supplier.
			for _, who := range map[access][]string{
				readAccess: {}, writeAccess: {"viewer", "reader"}, personalAccess: {"viewer", "importer"},
			}[r.access] {
				for _, supplier := range []string{"OURS", "THEIRS", "NONE"} {
					if got := ask(who, supplier); got.status != 403 || got.code() != "permission_denied" {
						t.Errorf("%s: got %d %s", who, got.status, got.body)
					}
				}
			}
			if r.access == readAccess {
				for _, who := range []string{"viewer", "reader"} {
					if got := ask(who, "OURS"); got.status != row.own {
						t.Errorf("%s: got %d %s", who, got.status, got.body)
					}
				}
			}
			if got := ask(own, "OURS"); got.status != row.own {
				t.Errorf("own: got %d %s", got.status, got.body)
			}
		})
	}
	if got := h.call("other", "GET", importPath+"/all-account-import-processes/THEIRS/", ""); strings.Contains(got.body, "new") {
		t.Errorf("a refused request left something behind: %s", got.body)
	}
}

func TestOpenRoutesNeedNoToken(t *testing.T) {
	h := newTestAPI(t)
	for _, r := range routeTable() {
		if r.access != publicAccess || r.method != http.MethodGet || strings.Contains(r.path, "graphql") {
			continue
		}
		path := strings.NewReplacer("{file}", "page.css", "{page}", "site.css", "{event_type}", "run.started").Replace(r.path)
		if got := h.call("", "GET", path, ""); got.status != 200 {
			t.Errorf("%s: got %d %s", path, got.status, got.body)
		}
	}
}
