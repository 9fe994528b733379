package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"landfall/internal/api/contract"
)

const canary = "Canary7f3a"

// filled returns a value of a schema with the canary in every string.
func filled(schema any, all map[string]any, depth int) any {
	raw, _ := json.Marshal(schema)
	var s struct {
		Ref        string         `json:"$ref"`
		OneOf      []any          `json:"oneOf"`
		Properties map[string]any `json:"properties"`
		Items      any            `json:"items"`
	}
	_ = json.Unmarshal(raw, &s)
	switch {
	case depth > 12:
		return nil
	case s.Ref != "":
		return filled(all[strings.TrimPrefix(s.Ref, "#/components/schemas/")], all, depth+1)
	case len(s.OneOf) > 0:
		return filled(s.OneOf[0], all, depth+1)
	case s.Properties != nil:
		value := map[string]any{}
		for name, property := range s.Properties {
			value[name] = filled(property, all, depth+1)
		}
		return value
	case s.Items != nil:
		return []any{filled(s.Items, all, depth+1)}
	}
	return canary
}

// Personal data and secrets must not appear in any log line or metric, whatever
// happens to the request that contains them, even at the most verbose level.
func TestCanary(t *testing.T) {
	h := newTestAPI(t)
	all := contract.Schemas()
	everything := filled(all["Account"], all, 0).(map[string]any)
	everything["import_supplier"], everything["external_account_number"] = "OURS", canary+"-0"
	full, _ := json.Marshal(everything)
	if strings.Count(string(full), canary) < 40 {
		t.Fatalf("the canary is in too few fields: %s", full)
	}
	good := `{"import_supplier":"OURS","external_account_number":"` + canary + `-1","customers":[{"given_name":"` + canary +
		`","family_name":"` + canary + `"}]}`
	broken := `{"import_supplier":"` + canary + `","external_account_number":"` + canary
	h.withRoute("/canary/panic/{external_account_number}/", func(_ *API, _ context.Context, x *exchange) error { panic(x.params[0]) })

	transaction := `"transactions":[{"transaction_id":"` + canary + `","transaction_date":"2020-01-01","amount":1,"type":"PAYMENT","note":"` + canary + `"}]`
	statement := `"statements":[{"statement_id":"` + canary + `","bill_period_from_date":"2020-05-01","bill_period_to_date":"2020-05-31"}]`
	instruction := `"vendor":"SANDBOX","reference":"` + canary + `","type":"CARD"`
	status := importPath + "/account-transfer-status/OURS/"
	for _, c := range []struct {
		method, path, body string
		status             int
		mayEcho            bool // the response contains the caller's own data
	}{
		{"POST", validatePath, good, 200, true},
		{"POST", stagePath, good, 201, true},
		{"POST", stagePath, good, 200, true},
		{"POST", validatePath, string(full), 400, false},
		{"POST", stagePath, string(full), 400, false},
		{"POST", stagePath, broken, 400, false},
		{"POST", stagePath, `"` + canary + `"`, 400, false},
		{"POST", processPath, creation("OURS", canary+"-9"), 400, false},
		{"POST", processPath, creation(canary, canary+"-1"), 400, false},
		{"POST", processPath, `{"operations_team_name":"` + canary + `","import_supplier_code":"OURS","external_account_number":"` + canary + `-1"}`, 400, false},
		{"POST", processPath, creation("OURS", canary+"-1"), 201, true},
		{"POST", processPath, creation("OURS", canary+"-1"), 400, true},
		{"POST", notesPath, postingJSON(canary+"-1", `"notes":[{"body":"`+canary+`"}]`), 201, true},
		{"POST", notesPath, postingJSON(canary+"-2", `"notes":[{"body":"`+canary+`"}]`), 404, false},
		{"POST", notesPath, postingJSON(canary+"-1", `"notes":[{"document_paths":[{"document_path":"../`+canary+`"}]}]`), 400, false},
		{"POST", transactionsPath, postingJSON(canary+"-1", transaction), 201, true},
		{"POST", transactionsPath + "?force_add_to_current_statement=0&check_previously_added=0", postingJSON(canary+"-1", transaction), 400, true},
		{"POST", transactionsPath, postingJSON(canary+"-2", transaction), 400, false},
		{"POST", statementsPath, postingJSON(canary+"-1", statement), 201, true},
		{"POST", statementsPath, postingJSON(canary+"-1", strings.Replace(statement, "-05-01", "-05-02", 1)), 400, false},
		{"POST", instructionPath, postingJSON(canary+"-1", instruction), 201, true},
		{"POST", instructionPath, postingJSON(canary+"-1", strings.Replace(instruction, canary, "not-found-"+canary, 1)), 400, false},
		{"POST", instructionPath, postingJSON(canary+"-1", strings.Replace(instruction, canary, "unavailable-"+canary, 1)), 500, false},
		{"POST", instructionPath, postingJSON(canary+"-1", strings.Replace(instruction, "SANDBOX", canary, 1)), 400, false},
		{"GET", failedPath, "", 200, true},
		{"GET", importPath + "/error-summary/" + canary + "/", "", 404, false},
		{"GET", status + canary + "-1/", "", 200, false},
		{"GET", status + canary + "-2/", "", 404, false},
		{"GET", status + canary + "-1", "", 308, false},
		{"GET", "/nowhere/" + canary + "/", "", 404, false},
		{"GET", allPath, "", 200, true},
		{"GET", allPath + "?after=" + canary, "", 400, false},
		{"GET", importPath + "/all-account-import-processes/" + canary + "/", "", 404, false},
		{"GET", "/canary/panic/" + canary + "/", "", 500, false},
		{canary, stagePath, "", 405, false},
		{"POST", "/v1/graphql/", `{"query":"mutation{obtainServiceToken(input:{apiKey:\"` + canary + `\"}){token}}"}`, 200, false},
		{"POST", "/v1/graphql/", `{"query":"{` + canary + `}"}`, 0, true},
	} {
		got := h.call("importer", c.method, c.path, c.body, func(r *http.Request) {
			r.Header.Set("X-Request-ID", canary+" is not sane")
			r.Header.Set("User-Agent", canary)
			r.Header.Set("X-Forwarded-For", canary)
		})
		if c.status != 0 && got.status != c.status {
			t.Errorf("%s %s: got %d %.300s", c.method, c.path, got.status, got.body)
		}
		if !c.mayEcho && strings.Contains(got.body, canary) {
			t.Errorf("%s %s: the answer repeats what was sent: %.500s", c.method, c.path, got.body)
		}
	}
	h.tokens["forged"] = canary
	h.call("forged", "GET", allPath, "")

	recorder := httptest.NewRecorder()
	h.api.Ops().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	places := map[string]string{"log": h.log.String(), "metrics": recorder.Body.String()}
	if !strings.Contains(places["log"], `"route":"`+stagePath) || !strings.Contains(places["metrics"], stagePath) {
		t.Fatal("nothing was written down, so nothing is proven")
	}
	for place, text := range places {
		for _, word := range append([]string{canary}, h.secrets()...) {
			if at := strings.Index(text, word); at >= 0 {
				t.Errorf("the %s reveals %q: …%s…", place, word, text[max(0, at-200):min(len(text), at+100)])
			}
		}
	}
}

func (h *testAPI) secrets() []string {
	var secrets []string
	for _, name := range []string{"importer", "viewer", "other"} {
		secrets = append(secrets, h.keys[name], h.tokens[name])
	}
	return secrets
}

func TestAccessLogAndMetrics(t *testing.T) {
	h := newTestAPI(t)
	h.call("importer", "POST", stagePath, accountJSON("OURS", "1"))
	h.call("importer", "POST", stagePath, accountJSON("OURS", "1"))
	h.call("importer", "POST", stagePath, "{}")
	h.call("", "GET", "/nowhere/", "")
	h.call("importer", "POST", processPath, creation("OURS", "1"))
	h.call("importer", "POST", processPath, creation("OURS", "1"))
	h.call("importer", "POST", notesPath, postingJSON("1", `"notes":[{"body":"x"}]`))
	h.call("importer", "POST", instructionPath, "{}")
	log := h.log.String()
	for _, want := range []string{`"msg":"request"`, `"status":201`, `"organisation":"ours"`, `"route":"unmatched"`, `"method":"other"`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %s:\n%s", want, log)
		}
	}
	recorder := httptest.NewRecorder()
	h.api.Ops().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, want := range []string{
		`landfall_stagings_total{result="created"} 1`,
		`landfall_stagings_total{result="updated"} 1`,
		`landfall_stagings_total{result="account_failed_validation"} 1`,
		`landfall_accounts_created_total 1`,
		`landfall_account_attempts_failed_total{code="account_already_imported"} 1`,
		`landfall_postings_total{kind="notes",result="accepted"} 1`,
		`landfall_postings_total{kind="payment_instruction",result="validation_failed"} 1`,
		`landfall_http_requests_total{method="POST",route="` + stagePath + `",status="201"} 1`,
		`landfall_http_requests_total{method="other",route="unmatched",status="404"} 1`,
		`landfall_http_requests_in_flight 0`,
		`landfall_build_info{`,
		`go_goroutines`,
	} {
		if !strings.Contains(recorder.Body.String(), want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
}
