package console

import (
	"bufio"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/lib/calendar"
)

// The undo page shows what would happen, to support as well.
func TestUndoShowsForecast(t *testing.T) {
	w := newTestConsole(t).withRunner()
	w.seedBasics()
	if err := w.operator().Grant(t.Context(), "NORTH", "Acme"); err != nil {
		t.Fatal(err)
	}
	w.stage("NORTH", 4, false)
	run := w.runLimited("NORTH", 0)
	path := "/console/runs/" + run.ID + "/undo/"
	if _, err := w.operator().Undo(t.Context(), landfall.Key{Supplier: "NORTH", External: "A-1000001"}, "alone"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.operator().Erase(t.Context(), landfall.Key{Supplier: "NORTH", External: "A-1000002"}, "asked to"); err != nil {
		t.Fatal(err)
	}
	sam := w.signedIn(landfall.ConsoleSupport)
	body := sam.wantPage(path, "<b>2</b><span>will be undone", "<b>1</b><span>will be kept", "<b>1</b><span>already undone", "personal data was erased")
	if strings.Contains(body, "<form method=\"post\" action=\""+path) {
		t.Error("support is offered to undo")
	}
	ada := w.signedIn(landfall.ConsoleAdministrator)
	ada.wantPage("/console/runs/"+run.ID+"/", `href="`+path+`"`)
	ada.wantPage(path, "Undo 2 accounts, keep 1")
	if status, body := ada.post(path, url.Values{"reason": {"the wrong book"}, "confirm": {"SOUTH"}}); status != http.StatusBadRequest ||
		!strings.Contains(body, "Type NORTH to confirm") || !strings.Contains(body, `value="the wrong book"`) {
		t.Errorf("undone without being confirmed: %d\n%s", status, body)
	}
	if status, body := ada.post(path, url.Values{"reason": {"the wrong book"}, "confirm": {"NORTH"}}); status != http.StatusOK || !strings.Contains(body, "<h2>Undo</h2>") {
		t.Errorf("undo: %d\n%s", status, body)
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if _, body := ada.get(path); strings.Contains(body, "Nothing in this run can be undone") && strings.Contains(body, "<b>3</b><span>already undone") {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the undo did not end")
		}
	}
}

// Before an undo, the pages show what would be removed, and why an account is kept
// to which something was added from elsewhere.
func TestUndoShowsWhatIsRemoved(t *testing.T) {
	w := newTestConsole(t).withRunner()
	w.seedBasics()
	if err := w.operator().Grant(t.Context(), "NORTH", "Acme"); err != nil {
		t.Fatal(err)
	}
	w.stage("NORTH", 3, false)
	run := w.runLimited("NORTH", 0)
	keys := map[bool]landfall.Key{}
	for key, err := range w.store.RunCreated(t.Context(), run.ID) {
		if err != nil {
			t.Fatal(err)
		}
		foreign := len(keys) == 0
		if len(keys) == 2 {
			continue
		}
		keys[foreign] = key
		if _, err := w.store.Post(t.Context(), landfall.Posting{
			Key: key, Kind: landfall.PostingStatements, By: landfall.Author{Delivery: map[bool]string{true: "another", false: "book"}[foreign]},
			Decide: func(landfall.AccountState) (landfall.Additions, error) {
				return landfall.Additions{Statements: []landfall.Statement{{ID: "B1", FromOn: calendar.Date(2024, 1, 1), ToOn: calendar.Date(2024, 1, 31)}}}, nil
			},
		}); err != nil {
			t.Fatal(err)
		}
	}
	ada := w.signedIn(landfall.ConsoleOperator)
	kept, path := keys[true].External, "/console/runs/"+run.ID+"/undo/"
	const reason = "something else was added: 1 that did not come with its delivery"
	body := ada.wantPage(path, "<b>2</b><span>will be undone", "<b>1</b><span>will be kept", "What will be removed", "<dt>Balances</dt>", "<bdi>"+kept+"</bdi>", reason)
	if statements := regexp.MustCompile(`<dt>Statements</dt>\s*<dd>1</dd>`); !statements.MatchString(body) {
		t.Errorf("the statements of the undone accounts are not shown:\n%s", body)
	}
	ada.wantPage("/console/accounts/NORTH/"+kept+"/", "This account cannot be undone: "+reason+".")
	own := "/console/accounts/NORTH/" + keys[false].External + "/"
	ada.wantPage(own, "Undo account</button>", "<dt>Payment instructions</dt>")
	if status, body := ada.post(own+"undo/", url.Values{"reason": {"x"}, "confirm": {"NORTH"}}); status != http.StatusOK || !strings.Contains(body, "It is staged again") {
		t.Errorf("undo: %d\n%s", status, body)
	}
	for _, one := range landfall.KeptReasons {
		if keptLabels[one] == "" {
			t.Errorf("no page can say why an account is kept: %s", one)
		}
	}
}

// A long count runs in the background. The page shows its progress at once and the
// result when it is finished, and all viewers share one count.
func TestLongCountsRunInTheBackground(t *testing.T) {
	w := newTestConsole(t).withRunner()
	w.seedBasics()
	if err := w.operator().Grant(t.Context(), "NORTH", "Acme"); err != nil {
		t.Fatal(err)
	}
	w.stage("NORTH", 3, false)
	run := w.runLimited("NORTH", 0)
	path := "/console/runs/" + run.ID + "/undo/"
	w.console.countWait = defaultCountWait
	for range maxRunningCounts { // two other counts are running
		w.console.undoForecasts.slots <- struct{}{}
	}
	ada, sam := w.signedIn(landfall.ConsoleAdministrator), w.signedIn(landfall.ConsoleSupport)
	ada.wantPage(path, "0 of 3 checked", "<progress ", `data-live="`+path+`live"`)
	body := sam.wantPage(path, "Counting accounts")
	if strings.Contains(body, "will be undone") {
		t.Errorf("the page shows figures before they are counted:\n%s", body)
	}
	answer, err := ada.client.Get(w.server.URL + path + "live")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	until := func(text string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), text) {
				return
			}
		}
		t.Fatalf("the stream ended before %q: %v", text, lines.Err())
	}
	until("Counting accounts")
	if count := len(w.console.undoForecasts.byKey); count != 1 {
		t.Errorf("%d are counted", count)
	}
	for range maxRunningCounts {
		<-w.console.undoForecasts.slots
	}
	until("<b>3</b><span>will be undone")
	if body := sam.wantPage(path, "<b>3</b><span>will be undone"); strings.Contains(body, "data-live") {
		t.Error("a page with a finished count is still live")
	}
}
