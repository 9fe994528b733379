package httpapi

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
)

const eventsPath = importPath + "/events/"

// waitFor requests events in the background.
func (h *testAPI) waitFor(who, query string) <-chan reply {
	answered := make(chan reply, 1)
	go func() { answered <- h.call(who, http.MethodGet, eventsPath+query, "") }()
	return answered
}

// soon is long enough for any machine, and half of the wait that the tests
// request.
const soon = 30 * time.Second

// withinSoon returns the response, which must arrive before the requested wait
// is over.
func withinSoon(t *testing.T, answered <-chan reply) reply {
	t.Helper()
	select {
	case got := <-answered:
		return got
	case <-time.After(soon):
		t.Fatalf("no answer within %s", soon)
		return reply{}
	}
}

func TestWaitingCallersGetNewEventsAtOnce(t *testing.T) {
	h := newTestAPI(t)
	answered := h.waitFor("viewer", "?wait=60")
	time.Sleep(300 * time.Millisecond)
	select {
	case got := <-answered:
		t.Fatalf("it did not wait: %d %s", got.status, got.body)
	default:
	}
	h.create("other", "THEIRS", "not ours")
	h.create("importer", "OURS", "ours")
	got := withinSoon(t, answered)
	if got.status != 200 || !strings.Contains(got.body, `"subject":"OURS/ours"`) || strings.Contains(got.body, "not ours") {
		t.Errorf("got %d %s", got.status, got.body)
	}
}

// A revoked key reads nothing more, however long it has waited.
func TestRevokedWhileWaiting(t *testing.T) {
	h := newTestAPI(t)
	key := h.addKey("waiting", "ours", landfall.RoleViewer)
	answered := h.waitFor("waiting", "?wait=60")
	time.Sleep(200 * time.Millisecond)
	ctx := t.Context()
	if err := h.store.Update(ctx, func(tx landfall.Tx) error { return tx.RevokeKey(ctx, key) }); err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond)
	h.create("importer", "OURS", "secret")
	got := withinSoon(t, answered)
	if got.status != 401 || strings.Contains(got.body, "secret") {
		t.Errorf("got %d %s", got.status, got.body)
	}
}

func TestGrantRevokedWhileWaiting(t *testing.T) {
	h := newTestAPI(t)
	answered := h.waitFor("viewer", "?wait=2")
	time.Sleep(200 * time.Millisecond)
	ctx := t.Context()
	if err := h.store.Update(ctx, func(tx landfall.Tx) error {
		if err := tx.Ungrant(ctx, "OURS", "ours"); err != nil {
			return err
		}
		return tx.AppendEvent(ctx, landfall.Event{Type: landfall.EventSkipped, Key: landfall.Key{Supplier: "OURS", External: "secret"}})
	}); err != nil {
		t.Fatal(err)
	}
	if got := withinSoon(t, answered); got.status != 200 || strings.Contains(got.body, "secret") {
		t.Errorf("got %d %s", got.status, got.body)
	}
}

// When the service shuts down, waiting requests get what there is.
func TestShutdownEndsWaits(t *testing.T) {
	h := newTestAPI(t)
	ending := make(chan struct{})
	h.api.Ending = ending
	answered := h.waitFor("viewer", "?wait=60")
	time.Sleep(200 * time.Millisecond)
	close(ending)
	got := withinSoon(t, answered)
	if got.status != 200 || !strings.HasPrefix(got.body, `{"events":[],"next":"`) {
		t.Errorf("got %d %s", got.status, got.body)
	}
}

// waiting returns how many requests wait for events.
func (h *testAPI) waiting() int {
	return inUse(h.api.waits)
}

// No organisation can use up the slots for waiting requests, and a waiting
// request takes no slot of other requests.
func TestWaitsAreBoundedPerOrganisation(t *testing.T) {
	h := newTestAPI(t)
	ending := make(chan struct{})
	h.api.Ending = ending
	var waiting []<-chan reply
	for range limits.EventWaitsEach {
		waiting = append(waiting, h.waitFor("viewer", "?wait=60"))
	}
	for end := time.Now().Add(soon); h.waiting() < limits.EventWaitsEach; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("only %d wait", h.waiting())
		}
	}
	if got := h.call("importer", http.MethodGet, eventsPath, ""); got.status != 429 || got.header.Get("Retry-After") == "" {
		t.Errorf("one too many: %d %s", got.status, got.body)
	}
	if got := h.call("other", http.MethodGet, eventsPath, ""); got.status != 200 {
		t.Errorf("another organisation: %d %s", got.status, got.body)
	}
	if got := h.call("importer", http.MethodGet, importPath+"/rules/", ""); got.status != 200 {
		t.Errorf("another call: %d %s", got.status, got.body)
	}
	close(ending)
	for _, answered := range waiting {
		withinSoon(t, answered)
	}
}
