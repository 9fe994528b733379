package app_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"landfall"
)

// metrics returns the metrics without labels by name.
func (w *world) metrics(t *testing.T) map[string]float64 {
	t.Helper()
	shown := httptest.NewRecorder()
	w.application.Ops().ServeHTTP(shown, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	values := map[string]float64{}
	for line := range strings.Lines(shown.Body.String()) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if number, err := strconv.ParseFloat(value, 64); err == nil {
			values[name] = number
		}
	}
	return values
}

// Support saw supply points, meters, documents and payment references without asking for
// personal data, so the audit did not know.
func TestSupportSawSupplyPointsBeforeAReveal(t *testing.T) {
	onBoth(t, func(t *testing.T, database string) {
		w := newWorld(t, database, nil)
		personal := []string{"1012345678901", "SERIAL-4471-XY", "REGISTER-77", "lovelace/letter.pdf", "lovelace/bill.pdf", "MANDATE-90210", "a private note"}
		account := strings.NewReplacer("\n", "").Replace(`{"import_supplier":"NORTH","external_account_number":"1","customers":[{"given_name":"Ada","family_name":"Lovelace"}],
"supply_addresses":[{"supply_address1":"1 St James Square","supply_points":[{"identifier":"1012345678901","supply_type":"ELECTRICITY","supply_start_date":"2019-05-01",
"meters":[{"serial_number":"SERIAL-4471-XY","registers":[{"register_id":"REGISTER-77"}]}]}]}],
"current_statement_transactions":[{"transaction_id":"T-1","transaction_date":"2020-01-01","amount":1,"type":"PAYMENT","reason":"PRIVATE_REASON","note":"a private note"}],
"notes":[{"body":"she called","document_paths":[{"document_path":"lovelace/letter.pdf"}]}],
"statements":[{"statement_id":"S-1","bill_period_from_date":"2019-05-01","bill_period_to_date":"2019-05-31","statement_path":"lovelace/bill.pdf"}],
"payment_instructions":[{"vendor":"SANDBOX","reference":"MANDATE-90210","type":"DIRECT_DEBIT"}]}`)
		if status, answer := w.post(t, "account-import-process/create-or-update/", "application/json", strings.NewReader(account)); status != http.StatusCreated {
			t.Fatalf("%d %s", status, answer)
		}
		sam := w.operatorBrowser(t, "sam", landfall.ConsoleSupport)
		hidden := func(when string) {
			t.Helper()
			for _, path := range []string{"accounts/NORTH/1/", "search/?q=NORTH", "search/?q=1", "suppliers/NORTH/accounts/", "suppliers/NORTH/accounts/?state=imported"} {
				_, body := sam.get(path)
				for _, text := range personal {
					if strings.Contains(body, text) {
						t.Errorf("%s, %s shows %s", when, path, text)
					}
				}
			}
		}
		hidden("staged")
		if status, answer := w.post(t, "account-import-process/process/", "application/json",
			strings.NewReader(`{"import_supplier_code":"NORTH","external_account_number":"1","operations_team_name":"Migration Team"}`)); status != http.StatusCreated {
			t.Fatalf("%d %s", status, answer)
		}
		hidden("created")
		status, body := sam.post("accounts/NORTH/1/reveal/", url.Values{"reason": {"the customer called"}})
		for _, text := range personal {
			if !strings.Contains(body, text) {
				t.Errorf("a reveal (%d) does not show %s", status, text)
			}
		}
		if entries := w.audited(t, "account.reveal"); len(entries) != 1 || entries[0].Actor != "operator:sam" || entries[0].RequestID == "" {
			t.Errorf("the audit has %+v", entries)
		}
		hidden("after a reveal")
	})
}
