package console

import (
	"bufio"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"landfall"
)

// Who wants to undo a run is shown what that comes to, and who may only read
// sees the figures as well.
func TestUndoShowsItsBucketsFirst(t *testing.T) {
	w := newTestConsole(t).withRunner()
	w.seedBasics()
	if err := w.operator().Grant(t.Context(), "NORTH", "Acme"); err != nil {
		t.Fatal(err)
	}
	w.stage("NORTH", 4, false)
	run := w.runLimited("NORTH", 0, landfall.RunFinished)
	path := "/console/runs/" + run.ID + "/undo/"
	if _, err := w.operator().Undo(t.Context(), landfall.Key{Supplier: "NORTH", External: "A-1000001"}, "alone"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.operator().Erase(t.Context(), landfall.Key{Supplier: "NORTH", External: "A-1000002"}, "asked to"); err != nil {
		t.Fatal(err)
	}
	sam := w.signedIn(landfall.ConsoleSupport)
	body := sam.wantPage(path, "<b>2</b><span>will be taken back", "<b>1</b><span>will be kept", "<b>1</b><span>already taken back", "what was personal was erased")
	if strings.Contains(body, "<form method=\"post\" action=\""+path) {
		t.Error("support is offered to undo")
	}
	ada := w.signedIn(landfall.ConsoleOperator)
	ada.wantPage("/console/runs/"+run.ID+"/", `href="`+path+`"`)
	ada.wantPage(path, "Undo 2 accounts, keep 1")
	if status, body := ada.post(path, url.Values{"reason": {"the wrong book"}, "confirm": {"SOUTH"}}); status != http.StatusBadRequest ||
		!strings.Contains(body, "Type NORTH to confirm") || !strings.Contains(body, `value="the wrong book"`) {
		t.Errorf("undone without being confirmed: %d\n%s", status, body)
	}
	if status, body := ada.post(path, url.Values{"reason": {"the wrong book"}, "confirm": {"NORTH"}}); status != http.StatusOK || !strings.Contains(body, "The undo has begun") {
		t.Errorf("undo: %d\n%s", status, body)
	}
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if _, body := ada.get(path); strings.Contains(body, "Nothing of this run can be taken back") && strings.Contains(body, "<b>3</b><span>already taken back") {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the undo does not end")
		}
	}
}

// A run of very many accounts is counted behind its page: the page is there at
// once and says how far the count is, everybody watches the same one, and the
// figures come by themselves.
func TestLongCountsGoOnBehindThePage(t *testing.T) {
	w := newTestConsole(t).withRunner()
	w.seedBasics()
	if err := w.operator().Grant(t.Context(), "NORTH", "Acme"); err != nil {
		t.Fatal(err)
	}
	w.stage("NORTH", 3, false)
	run := w.runLimited("NORTH", 0, landfall.RunFinished)
	path := "/console/runs/" + run.ID + "/undo/"
	w.console.countWait = defaultCountWait
	for range maxRunningCounts { // two others are counted, and take long
		w.console.undoForecasts.slots <- struct{}{}
	}
	ada, sam := w.signedIn(landfall.ConsoleOperator), w.signedIn(landfall.ConsoleSupport)
	ada.wantPage(path, "0 of 3 looked at", "<progress ", `data-live="`+path+`live"`)
	body := sam.wantPage(path, "Counting, one")
	if strings.Contains(body, "will be taken back") {
		t.Errorf("figures stand there before they are counted:\n%s", body)
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
	until("Counting, one")
	if count := len(w.console.undoForecasts.byKey); count != 1 {
		t.Errorf("%d are counted", count)
	}
	for range maxRunningCounts {
		<-w.console.undoForecasts.slots
	}
	until("<b>3</b><span>will be taken back")
	if body := sam.wantPage(path, "<b>3</b><span>will be taken back"); strings.Contains(body, "data-live") {
		t.Error("a page that is counted still watches")
	}
}
