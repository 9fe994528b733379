package httpapi

import (
	"testing"

	"landfall"
	"landfall/internal/api/answer"
	"landfall/internal/api/contract"
)

// A verb called without HTTP returns byte for byte what HTTP would send. Bulk
// requests depend on it.
func TestCallsAreTheSameWithoutHTTP(t *testing.T) {
	h := newTestAPI(t)
	h.create("importer", "OURS", "1")
	who := landfall.Principal{Organisation: "ours", Role: landfall.RoleImporter}
	notes := postingJSON("1", `"notes":[{"body":"x","created_at":"2025-01-01T00:00:00Z"}]`)
	transactions := postingJSON("1", `"transactions":[{"transaction_id":"T","transaction_date":"2020-01-01","amount":1,"type":"PAYMENT"}]`)
	for _, c := range []struct {
		verb        *answer.Verb
		query, body string
	}{
		{answer.Validate, "", accountJSON("OURS", "2")},
		{answer.Validate, "include_warnings=1", accountJSON("OURS", "2")},
		{answer.Validate, "include_warnings=perhaps", accountJSON("OURS", "2")},
		{answer.Validate, "", "{"},
		{answer.Validate, "", accountJSON("THEIRS", "2")},
		{answer.Stage, "", accountJSON("OURS", "1")},
		{answer.Stage, "", "[]"},
		{answer.Process, "", creation("OURS", "1")},
		{answer.Process, "", creation("OURS", "unknown")},
		{answer.Process, "dry_run=true", creation("OURS", "1")},
		{answer.Notes, "include_warnings=1", notes},
		{answer.Notes, "", notes},
		{answer.Notes, "", postingJSON("unknown", `"notes":[]`)},
		{answer.Transactions, "", transactions},
		{answer.Transactions, "", transactions},
		{answer.Transactions, "force_add_to_current_statement=0&check_previously_added=0", transactions},
		{answer.Transactions, "check_previously_added=2", transactions},
		{answer.Transactions, "", ""},
		{answer.Statements, "", sentByOurs(contract.ExampleStatements)},
		{answer.Instruction, "", sentByOurs(contract.ExampleInstruction)},
	} {
		path := importPath + "/" + c.verb.Path + "/"
		if c.query != "" {
			path += "?" + c.query
		}
		// Some calls have an effect only the first time. Call once before
		// comparing, so that both calls see the effect.
		h.call("importer", "POST", path, c.body)
		plain := h.api.Answers.Do(t.Context(), c.verb, answer.Call{Who: who, Query: c.query, Body: []byte(c.body)})
		got := h.callJSON("importer", path, c.body)
		if got.status != plain.Status || got.body != string(plain.Body) {
			t.Errorf("%s %s:\nHTTP  %d %s\nplain %d %s", path, c.body, got.status, got.body, plain.Status, plain.Body)
		}
	}
}
