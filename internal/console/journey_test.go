package console

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/kit/generate"
	"landfall/internal/service/operate"
	"landfall/internal/test/dbtest"
	"landfall/internal/test/tooltest"
)

// phoneCaller is a customer on the phone: what they may say, and the account that it must
// lead to.
type phoneCaller struct {
	State, Path string
	Hints       map[string]string // what is typed into the search, by what it is
	Postcode    string
}

// TestJourneys does in a real browser what the console is for, and counts the clicks.
func TestJourneys(t *testing.T) {
	tooltest.SkipIfShort(t)
	dbtest.Each(t, func(t *testing.T, database string) {
		w := testConsoleOn(t, database).withRunner()
		callers, err := json.Marshal(w.seedJourneys())
		if err != nil {
			t.Fatal(err)
		}
		link, err := w.operator().CreateOperator(t.Context(), "ada", landfall.ConsoleAdministrator)
		if err != nil {
			t.Fatal(err)
		}
		runInBrowser(t, "journeys.mjs", w.server.URL, consolePath("welcome", link.Reveal()), testPassword, string(callers))
	})
}

// seedJourneys creates three suppliers: NORTH is finished with about two hundred failures
// and some refused accounts, EAST is staged, and WEST is finished.
func (w *testWorld) seedJourneys() []phoneCaller {
	w.t.Helper()
	ctx, operator := w.t.Context(), w.console.OperatorFor("shell:bob")
	must := func(err error) {
		w.t.Helper()
		if err != nil {
			w.t.Fatal(err)
		}
	}
	w.seedBasics()
	for _, code := range []string{"EAST", "WEST"} {
		_, err := operator.CreateSupplier(ctx, code, supplierNamed(code))
		must(err)
	}
	for _, code := range []string{"NORTH", "EAST", "WEST"} {
		must(operator.Grant(ctx, code, "Acme"))
	}
	w.setRules("NORTH", landfall.SeverityWarning)
	drawn := w.stageFaulty("NORTH", 300, generate.Fault{Kind: "balance", Share: 0.66}, generate.Fault{Kind: "agreements", Share: 0.05}, generate.Fault{Kind: "email", Share: 0.05})
	w.setRules("NORTH", landfall.SeverityError)
	drawn = append(drawn, w.stageFaulty("EAST", 60)...)
	w.stageFaulty("WEST", 40)
	w.runAll("NORTH")
	w.runAll("WEST")
	for more := true; more; {
		step, err := w.store.IndexTerms(ctx)
		must(err)
		more = step.More
	}
	return w.callers(drawn)
}

// setRules gives the rules of a supplier that refuse accounts another severity.
func (w *testWorld) setRules(supplier string, severity landfall.Severity) {
	w.t.Helper()
	change := operate.SupplierChange{Severities: map[string]landfall.Severity{}}
	for _, rule := range contract.RuleBook() {
		if rule.Severity == landfall.SeverityError {
			change.Severities[rule.Code] = severity
		}
	}
	if _, err := w.operator().SetSupplier(w.t.Context(), supplier, change); err != nil {
		w.t.Fatal(err)
	}
}

// callers picks a customer in each state, with what they may say.
func (w *testWorld) callers(documents []json.RawMessage) (found []phoneCaller) {
	w.t.Helper()
	seen := map[string]bool{}
	for _, document := range documents {
		var account struct {
			Supplier  string `json:"import_supplier"`
			External  string `json:"external_account_number"`
			Postcode  string `json:"billing_postcode"`
			Customers []struct {
				Family string `json:"family_name"`
				Mobile string `json:"mobile"`
			} `json:"customers"`
		}
		if json.Unmarshal(document, &account) != nil || len(account.Customers) == 0 {
			continue // one of the faults
		}
		person := account.Customers[0]
		area, _, _ := strings.Cut(account.Postcode, " ")
		if len(person.Mobile) < 10 || len(person.Family) < 5 || area == "" {
			continue
		}
		key := landfall.Key{Supplier: account.Supplier, External: account.External}
		state := w.stateOf(key)
		if seen[state] {
			continue
		}
		seen[state] = true
		mistyped := person.Family[:1] + person.Family[2:3] + person.Family[1:2] + person.Family[3:] // two letters swapped
		found = append(found, phoneCaller{State: state, Path: accountPath(key), Postcode: account.Postcode, Hints: map[string]string{
			"part of the phone number": person.Mobile[len(person.Mobile)-6:], "postcode and name": person.Family + " " + area,
			"tail of the number": account.External[len(account.External)-5:], "a typing mistake": mistyped + " " + area,
		}})
	}
	for _, state := range []string{"imported", "failed", "refused", "staged"} {
		if !seen[state] {
			w.t.Fatalf("no account is %s", state)
		}
	}
	return found
}

// stateOf is the state of an account as the console names it.
func (w *testWorld) stateOf(key landfall.Key) string {
	w.t.Helper()
	state := "refused"
	if err := w.store.View(w.t.Context(), func(view landfall.View) error {
		process, err := view.Process(w.t.Context(), key)
		if errors.Is(err, landfall.ErrNotFound) {
			return nil
		}
		if state = stateLabel(process.State); process.Failure != nil {
			state = "failed"
		}
		return err
	}); err != nil {
		w.t.Fatal(err)
	}
	return state
}
