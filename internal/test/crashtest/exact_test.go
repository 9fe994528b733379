package crashtest_test

import (
	"encoding/json"
	"net/http"
)

// exact requests the reconciliation at any moment during a test. It must list
// every account of a book once, as created, waiting or failed, with its one
// customer. It is fine if no server is up to answer.
func (f *fleet) exact(server string, accounts int) {
	f.t.Helper()
	status, answer, err := f.request(http.MethodGet, server, imports+"/reconciliation/"+supplier+"/", nil)
	if err != nil || status == http.StatusServiceUnavailable {
		return
	}
	type value struct{ Count int }
	var found struct {
		Measures []struct {
			Measure         string
			Staged, Created value
			Explained       map[string]value
		}
	}
	if err := json.Unmarshal(answer, &found); err != nil || status != http.StatusOK {
		f.t.Fatalf("%d %s: %v", status, answer, err)
	}
	for _, row := range found.Measures {
		if row.Measure != "accounts" && row.Measure != "customers" {
			continue
		}
		sum := row.Created.Count
		for _, part := range row.Explained {
			sum += part.Count
		}
		if row.Staged.Count != accounts || sum != accounts {
			f.t.Errorf("%s of %d accounts: staged %d, created and waiting %d: %s", row.Measure, accounts, row.Staged.Count, sum, answer)
		}
	}
}
