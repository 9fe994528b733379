package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/api/answer"
	"landfall/internal/api/contract"
)

func (h *testAPI) stageMany(n int) {
	h.t.Helper()
	for i := range n {
		if got := h.call("importer", "POST", stagePath, accountJSON("OURS", fmt.Sprintf("E-%04d", i))); got.status != 201 {
			h.t.Fatalf("staging: %d %s", got.status, got.body)
		}
	}
}

func entries(t *testing.T, body string) []map[string]any {
	t.Helper()
	var list []map[string]any
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		t.Fatalf("%v in %.200q", err, body)
	}
	return list
}

func TestListsAndPages(t *testing.T) {
	h := newTestAPI(t)
	if got := h.call("viewer", "GET", allPath, ""); got.status != 200 || got.body != "[]" {
		t.Errorf("empty: %d %s", got.status, got.body)
	}
	h.stageMany(7)
	whole := h.call("viewer", "GET", allPath, "")
	if got := entries(t, whole.body); len(got) != 7 || got[0]["external_account_number"] != "E-0000" ||
		got[0]["platform_account_number"] != nil || len(got[0]) != 3 {
		t.Errorf("got %s", whole.body)
	}
	if pending := h.call("viewer", "GET", importPath+"/pending-account-import-processes/OURS/", ""); pending.body != whole.body {
		t.Errorf("pending differs: %s", pending.body)
	}
	if imported := h.call("viewer", "GET", importPath+"/imported-account-import-processes/OURS/", ""); imported.body != "[]" {
		t.Errorf("imported: %s", imported.body)
	}

	var seen []string
	path, pages := allPath+"?limit=3", 0
	for path != "" {
		got := h.call("viewer", "GET", path, "")
		if got.status != 200 {
			t.Fatalf("%s: %d %s", path, got.status, got.body)
		}
		for _, entry := range entries(t, got.body) {
			seen = append(seen, entry["external_account_number"].(string))
		}
		pages++
		link := got.header.Get("Link")
		path, _, _ = strings.Cut(strings.TrimPrefix(link, "<"), `>; rel="next"`)
		if rest, absolute := strings.CutPrefix(path, h.server.URL); link != "" && !absolute {
			t.Fatalf("the link is not absolute: %s", link)
		} else {
			path = rest
		}
	}
	if pages != 3 || strings.Join(seen, " ") != "E-0000 E-0001 E-0002 E-0003 E-0004 E-0005 E-0006" {
		t.Errorf("%d pages: %v", pages, seen)
	}
	if got := h.call("viewer", "GET", allPath+"?limit=7", ""); got.header.Get("Link") != "" {
		t.Error("a next page is promised where there is none")
	}
	for _, query := range []string{"limit=0", "limit=10001", "limit=x", "limit=", "limit=1&limit=2", "after=x", "limits=3"} {
		if got := h.call("viewer", "GET", allPath+"?"+query, ""); got.status != 400 || got.code() != "validation_failed" {
			t.Errorf("%s: got %d %s", query, got.status, got.body)
		}
	}
}

// entrySequence returns a list that may end with an error, and sets left when the reader
// stops.
func entrySequence(n int, end error, left *bool) iter.Seq2[landfall.ProcessEntry, error] {
	return func(yield func(landfall.ProcessEntry, error) bool) {
		for i := range n {
			if !yield(landfall.ProcessEntry{External: fmt.Sprintf("E-%09d", i)}, nil) {
				*left = true
				return
			}
		}
		if end != nil {
			yield(landfall.ProcessEntry{}, end)
		}
	}
}

func TestStreamedList(t *testing.T) {
	h := newTestAPI(t)
	left := false
	for _, n := range []int{0, 1, 300, 301, 302, 303, 304, 305, 306, 307, 308, 309, 310, 311, 312, 50_000} {
		path := fmt.Sprintf("/rows/%d/", n)
		h.withRoute(path, func(a *API, _ context.Context, x *exchange) error {
			return a.streamed(x, entrySequence(n, nil, &left))
		})
		if got := entries(t, h.call("", "GET", path, "").body); len(got) != n {
			t.Errorf("%d rows arrived as %d", n, len(got))
		}
	}
}

// A list that fails in the middle must not look like a shorter list.
func TestBrokenList(t *testing.T) {
	h := newTestAPI(t)
	left := false
	broken := errors.New("the database went away")
	h.withRoute("/broken/late/", func(a *API, _ context.Context, x *exchange) error {
		return a.streamed(x, entrySequence(50_000, broken, &left))
	})
	h.withRoute("/broken/early/", func(a *API, _ context.Context, x *exchange) error {
		return a.streamed(x, entrySequence(10, broken, &left))
	})
	h.expectAbort("/broken/late/")
	if got := h.call("", "GET", "/broken/early/", ""); got.status != 500 || got.code() != "internal_error" {
		t.Errorf("got %d %.200s", got.status, got.body)
	}
}

func TestClientLeavesList(t *testing.T) {
	h := newTestAPI(t)
	left := false
	done := make(chan error, 1)
	h.withRoute("/endless/", func(a *API, _ context.Context, x *exchange) error {
		err := a.streamed(x, entrySequence(1<<40, nil, &left))
		done <- err
		return err
	})
	ctx, cancel := context.WithCancel(t.Context())
	request, _ := http.NewRequestWithContext(ctx, http.MethodGet, h.server.URL+"/endless/", nil)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := response.Body.Read(make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	cancel()
	response.Body.Close()
	select {
	case err := <-done:
		if err == nil || !left {
			t.Errorf("the query was not left: %v", err)
		}
	case <-time.After(soon):
		t.Fatal("the query continues after its caller left")
	}
}

// streamed sends a made-up list the way real lists are sent.
func (a *API) streamed(x *exchange, rows iter.Seq2[landfall.ProcessEntry, error]) error {
	return a.send(x.request.Context(), x, answer.Stream(answer.Call{}, rows, contract.ProcessBody))
}
