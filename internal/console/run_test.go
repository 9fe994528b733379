package console

import (
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
	w := newHouse(t).conducted()
	w.furnish()
	if err := w.operator().Grant(t.Context(), "NORTH", "Acme"); err != nil {
		t.Fatal(err)
	}
	w.stage("NORTH", 4, false)
	run := w.runSome("NORTH", 0, landfall.RunFinished)
	path := "/console/runs/" + run.ID + "/undo/"
	if _, err := w.operator().Undo(t.Context(), landfall.Key{Supplier: "NORTH", External: "A-1000001"}, "alone"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.operator().Erase(t.Context(), landfall.Key{Supplier: "NORTH", External: "A-1000002"}, "asked to"); err != nil {
		t.Fatal(err)
	}
	sam := w.signedIn(landfall.Support)
	body := sam.sees(path, "<b>2</b><span>will be taken back", "<b>1</b><span>will be kept", "<b>1</b><span>already taken back", "what was personal was erased")
	if strings.Contains(body, "<form method=\"post\" action=\""+path) {
		t.Error("support is offered to undo")
	}
	ada := w.signedIn(landfall.ActingOperator)
	ada.sees("/console/runs/"+run.ID+"/", `href="`+path+`"`)
	ada.sees(path, "Undo 2 accounts, keep 1")
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
