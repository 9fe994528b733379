package console

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/api/answer"
	"landfall/internal/service/operate"
	"landfall/internal/test/dbtest"
)

// eachWorld runs a test on a console with a runner, over each kind of database. NORTH
// has five staged accounts; two of them fail with the same error when they are
// created, and another account was refused.
func eachWorld(t *testing.T, test func(t *testing.T, w *testWorld)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, url string) {
		w := testConsoleOn(t, url).withRunner()
		w.seedBasics()
		if err := w.operator().Grant(t.Context(), "NORTH", "Acme"); err != nil {
			t.Fatal(err)
		}
		for number := range 6 {
			customer := `{"family_name":"Phillips"}`
			switch {
			case number < 2:
				customer = `{}` // a warning that is turned into an error
			case number == 5:
				customer = `{"family_name":7}`
			}
			w.api.Do(t.Context(), answer.Stage, answer.Call{Who: landfall.Principal{Organisation: "Acme", Role: landfall.RoleImporter}, Body: fmt.Appendf(nil,
				`{"import_supplier":"NORTH","external_account_number":"E-%d","customers":[%s]}`, number, customer)})
		}
		w.turnWarningsIntoErrors("NORTH")
		test(t, w)
	})
}

// waitFor reloads a page until it contains a text.
func (g *testUser) waitFor(path, text string) {
	g.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if _, body := g.get(path); strings.Contains(body, text) {
			return
		}
		if time.Now().After(end) {
			g.wantPage(path, text)
			return
		}
	}
}

// The numbers of a supplier are parts of one whole, and each leads to exactly its
// accounts.
func TestNumbersLeadToTheirAccounts(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *testWorld) {
		w.runAll("NORTH")
		ada := w.signedIn(landfall.ConsoleOperator)
		ada.wantPage(Root, "3</span></a> of 6 accounts imported", "2 accounts failed", "1 account was refused", "without 1 refused account", `class="state failed"`)
		for state, want := range map[string]int{"all": 6, "staged": 0, "imported": 3, "failed": 2, "refused": 1, "skipped": 0} {
			body := ada.wantPage("/console/suppliers/NORTH/accounts/?state="+state, fmt.Sprintf(`>%s <span class="quiet">%d</span>`, state, want))
			if rows := strings.Count(body, `href="/console/accounts/NORTH/`); rows != want {
				t.Errorf("%s counts %d accounts and lists %d", state, want, rows)
			}
		}
	})
}

// From the overview, three clicks start a run over the accounts of one cause.
func TestJourneysOfFailures(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *testWorld) {
		run := w.runLimited("NORTH", 0)
		ada := w.signedIn(landfall.ConsoleOperator)
		ada.wantPage(Root, `href="/console/suppliers/NORTH/failures/">See the causes`) // the first click
		causes := []string{"Customer family name required", "should have a family name", "2 accounts", "Retry these 2", "#rule-customer_family_name_required", "accounts.csv?code=customer_family_name_required"}
		ada.wantPage("/console/suppliers/NORTH/failures/", append(causes, "clears 2 of 3 (66.6 %)")...)
		if body := ada.wantPage("/console/runs/"+run.ID+"/", causes...); strings.Contains(body, "No failures") {
			t.Error("a run with failures says that it has none")
		}
		ada.wantPage("/console/runs/"+run.ID+"/live?once=1", causes...)
		status, body := ada.post("/console/suppliers/NORTH/failures/retry/", url.Values{"code": {"customer_family_name_required"}, "team": {"Night Team"}}) // the second
		if status != http.StatusOK || !strings.Contains(body, "failed with “Customer family name required”") || !strings.Contains(body, "by ada") {
			t.Errorf("%d\n%s", status, body)
		}
		runs, err := w.operator().Runs(t.Context(), "NORTH", 1)
		if err != nil || runs[0].ID == run.ID || len(runs[0].Plan.Codes) != 1 {
			t.Errorf("%+v, %v", runs, err)
		}
	})
}

// A dry run is proposed first. When it is finished, it offers the real one.
func TestRehearseThenRun(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *testWorld) {
		ada := w.signedIn(landfall.ConsoleOperator)
		ada.wantPage("/console/suppliers/NORTH/runs/", "All staged accounts (5)", `class="primary" name="dry_run" value="yes">Start dry run`)
		ada.wantPage("/console/suppliers/NORTH/runs/size/?select=pending&sample=2", "3 accounts of 5")
		ada.wantPage("/console/suppliers/NORTH/runs/size/?select=pending&limit=many", "is not a whole number")
		ada.post("/console/suppliers/NORTH/runs/", url.Values{"select": {"pending"}, "team": {"Night Team"}, "dry_run": {"yes"}})
		var run landfall.Run
		for end := time.Now().Add(time.Minute); run.State != landfall.RunFinished; time.Sleep(20 * time.Millisecond) {
			runs, err := w.operator().Runs(t.Context(), "NORTH", 1)
			if err != nil || time.Now().After(end) {
				t.Fatal(runs, err)
			}
			run = runs[0]
		}
		ada.wantPage("/console/runs/"+run.ID+"/", "Run for real (5 accounts)")
		if status, body := ada.post("/console/runs/"+run.ID+"/for-real/", nil); status != http.StatusOK || !strings.Contains(body, "<h1>Run R-") {
			t.Errorf("%d\n%s", status, body)
		}
	})
}

// A run that was paused or undone says by whom and why, on every page that shows it.
func TestRunsNameWhoStoppedThem(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *testWorld) {
		ada := w.signedIn(landfall.ConsoleOperator)
		run := w.runLimited("NORTH", 0)
		if _, err := w.console.OperatorFor("operator:ada").UndoRun(t.Context(), run.ID, "the wrong book", operate.RunUndoWatch{}); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"", "suppliers/NORTH/", "suppliers/NORTH/runs/", "runs/" + run.ID + "/"} {
			ada.waitFor(Root+path, "Undone by ada: the wrong book")
		}
		later, err := w.operator().StartRun(t.Context(), landfall.RunPlan{Supplier: "NORTH", Team: "Night Team", Select: landfall.SelectPending, NotBefore: time.Now().Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.console.OperatorFor("shell:bob").PauseRun(t.Context(), later.ID); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"", "suppliers/NORTH/", "runs/" + later.ID + "/"} {
			ada.waitFor(Root+path, "Paused by bob via command line, <time")
		}
	})
}

// A webhook whose receiver fails says how many events wait behind it.
func TestFailingWebhooksShowTheirBacklog(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *testWorld) {
		if _, _, err := w.operator().AddWebhook(t.Context(), operate.WebhookRequest{Name: "billing", Organisation: "Acme", URL: "http://127.0.0.1:9/", FromStart: true}); err != nil {
			t.Fatal(err)
		}
		w.runAll("NORTH")
		facts, err := w.operator().ShowWebhook(t.Context(), "billing")
		if err != nil || facts.WaitingCount() == 0 {
			t.Fatalf("%+v, %v", facts.WebhookBacklog, err)
		}
		ada := w.signedIn(landfall.ConsoleOperator)
		ada.wantPage("/console/admin/webhooks/billing/", fmt.Sprintf("%d not sent yet", facts.Undelivered))
		ada.wantPage("/console/admin/webhooks/", fmt.Sprintf(`<td data-name="Waiting" class="num">%d</td>`, facts.WaitingCount()))
	})
}

// The address that a browser shows after a reveal or a refused action can be opened.
func TestAddressesOfActionsCanBeOpened(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *testWorld) {
		sam := w.signedIn(landfall.ConsoleSupport)
		const path = "/console/accounts/NORTH/E-1/"
		if status, _ := sam.post(path+"reveal/", url.Values{"reason": {"the customer called"}}); status != http.StatusOK {
			t.Errorf("revealed: %d", status)
		}
		for _, name := range []string{"reveal", "skip"} {
			sam.wantPage(path+name+"/", "E-1</bdi></h1>")
		}
	})
}
