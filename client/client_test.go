package client_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"landfall/client"
)

// testServer responds like Landfall unless a test overrides it.
type testServer struct {
	*httptest.Server
	logins atomic.Int32
	good   atomic.Value // the valid token
}

func newServer(t *testing.T, answer http.HandlerFunc) (*testServer, *client.Client) {
	t.Helper()
	s := &testServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/graphql/" {
			token := fmt.Sprintf("token-%d", s.logins.Add(1))
			s.good.Store(token)
			fmt.Fprintf(w, `{"data":{"obtainServiceToken":{"token":%q,"expiresIn":3600}}}`, token)
			return
		}
		if r.Header.Get("Authorization") != "Token "+s.good.Load().(string) {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"code":"authentication_failed","detail":"No."}`)
			return
		}
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	c, err := client.New(s.URL, client.WithKey(" key \n"), client.WithRetryTime(30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Retry-After", "0")
	w.Header().Set("X-Request-ID", "request-1")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"code":%q,"detail":"No.","errors":[{"code":"required","attr":"customers","detail":"Needed."}]}`, code)
}

// TestExpiredTokenIsRenewedOnce expires a token between two calls.
func TestExpiredTokenIsRenewedOnce(t *testing.T) {
	s, c := newServer(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{}`) })
	for range 3 {
		if _, err := c.Validate(t.Context(), `{}`); err != nil {
			t.Fatal(err)
		}
	}
	if s.logins.Load() != 1 {
		t.Errorf("%d logins for three calls", s.logins.Load())
	}
	s.good.Store("another") // the server no longer accepts our token
	if _, err := c.Validate(t.Context(), `{}`); err != nil || s.logins.Load() != 2 {
		t.Errorf("%v, %d logins", err, s.logins.Load())
	}
}

// TestErrorHasAllDetails checks that no part of a refusal is lost.
func TestErrorHasAllDetails(t *testing.T) {
	calls := 0
	_, c := newServer(t, func(w http.ResponseWriter, _ *http.Request) {
		calls++
		refuse(w, http.StatusBadRequest, "account_failed_validation")
	})
	_, err := c.Stage(t.Context(), map[string]any{"a": 1})
	var refusal *client.Error
	if !errors.As(err, &refusal) || refusal.Status != 400 || refusal.RequestID != "request-1" || len(refusal.Violations) != 1 {
		t.Fatalf("%+v", err)
	}
	if !client.IsCode(err, "account_failed_validation") || client.IsCode(err, "other") || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

// TestTemporaryErrorsAreRetried makes calls fail in every temporary way. Each must succeed in the end,
// except those that must not be repeated.
func TestTemporaryErrorsAreRetried(t *testing.T) {
	hangUp := func(w http.ResponseWriter) {
		connection, _, _ := w.(http.Hijacker).Hijack()
		_ = connection.Close()
	}
	for name, trouble := range map[string]struct {
		fail  func(http.ResponseWriter)
		twice bool // whether an unchecked posting is retried, too
	}{
		"too many":    {func(w http.ResponseWriter) { refuse(w, http.StatusTooManyRequests, "quota_exceeded") }, true},
		"unavailable": {func(w http.ResponseWriter) { refuse(w, http.StatusServiceUnavailable, "service_unavailable") }, false},
		"a gateway":   {func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway) }, false},
		"a cut":       {hangUp, false},
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			_, c := newServer(t, func(w http.ResponseWriter, _ *http.Request) {
				if calls++; calls%3 != 0 {
					trouble.fail(w)
					return
				}
				fmt.Fprint(w, `{"results":[]}`)
			})
			if _, err := c.AddTransactions(t.Context(), `{}`, client.TransactionOptions{}); err != nil || calls != 3 {
				t.Errorf("%v after %d calls", err, calls)
			}
			_, err := c.AddTransactions(t.Context(), `{}`, client.TransactionOptions{UncheckedIDs: true})
			if trouble.twice != (err == nil) {
				t.Errorf("unchecked: %v after %d calls", err, calls)
			}
		})
	}
}

// TestRetryTimeEnds checks that the caller gets the server's error, and not a timeout, when the
// server stays unreachable.
func TestRetryTimeEnds(t *testing.T) {
	_, c := newServer(t, func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusServiceUnavailable, "service_unavailable")
	})
	// Long enough for one response, too short for the pauses between many.
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Second)
	defer stop()
	if _, err := c.Status(ctx, "N", "1"); !client.IsCode(err, "service_unavailable") {
		t.Errorf("what went wrong was forgotten: %v", err)
	}
}

// TestServerIsNotLandfall calls another program. Its responses must not be taken for ours.
func TestServerIsNotLandfall(t *testing.T) {
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	c, err := client.New(other.URL, client.WithKey("key"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Status(t.Context(), "N", "1"); !client.IsCode(err, "not_landfall") {
		t.Errorf("%v", err)
	}
	for _, address := range []string{"", "localhost:8080", "ftp://x", "http://u:p@x", "http://x?a=b"} {
		if _, err := client.New(address); err == nil {
			t.Errorf("%q was taken for a server", address)
		}
	}
}

// TestPathsAreEscaped uses account numbers with special characters.
func TestPathsAreEscaped(t *testing.T) {
	var seen []string
	_, c := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.URL.EscapedPath())
		fmt.Fprint(w, `{}`)
	})
	for _, external := range []string{"a/b", "..", "ä ?#"} {
		if _, err := c.Status(t.Context(), "N", external); err != nil {
			t.Fatal(err)
		}
	}
	want := "/v1/data-import/account-transfer-status/N/a%2Fb/ /v1/data-import/account-transfer-status/N/%2e%2e/ " +
		"/v1/data-import/account-transfer-status/N/%C3%A4%20%3F%23/"
	if strings.Join(seen, " ") != want {
		t.Errorf("%q, want %q", seen, want)
	}
}

// TestListsFollowPages follows a list whose next page fails once and names another host. The
// token must not be sent there.
func TestListsFollowPages(t *testing.T) {
	failed := false
	_, c := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		after := r.URL.Query().Get("after")
		switch {
		case after == "":
			w.Header().Set("Link", `<http://elsewhere.invalid/list?limit=1000&after=x>; rel="next"`)
			fmt.Fprint(w, `[{"external_account_number":"1"},{"external_account_number":"2","platform_account_number":null}]`)
		case !failed:
			failed = true
			refuse(w, http.StatusServiceUnavailable, "service_unavailable")
		default:
			fmt.Fprint(w, `[{"external_account_number":"3","account_created_at":"2026-01-01T00:00:00Z"}]`)
		}
	})
	var seen []string
	for entry, err := range c.All(t.Context(), "N") {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, entry.External)
	}
	if strings.Join(seen, " ") != "1 2 3" {
		t.Errorf("%q", seen)
	}
}

// numberedLines returns lines, and then an error if there is one.
func numberedLines(count int, end error) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for i := range count {
			if !yield(fmt.Appendf(nil, `{"n":%d}`, i), nil) {
				return
			}
		}
		if end != nil {
			yield(nil, end)
		}
	}
}

// echo answers each line while the next ones arrive, and ends as configured.
func echo(most int, end string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		_ = control.EnableFullDuplex()
		w.WriteHeader(http.StatusOK)
		in := bufio.NewScanner(r.Body)
		count := 0
		for count < most && in.Scan() {
			count++
			fmt.Fprintf(w, `{"line":%d,"status":201,"body":%s}`+"\n", count, in.Text())
		}
		if in.Err() != nil {
			return
		}
		if end != "" {
			fmt.Fprintf(w, end+"\n", count)
		}
	}
}

func bulk(t *testing.T, c *client.Client, lines iter.Seq2[[]byte, error]) (answers int, err error) {
	t.Helper()
	for answer, failed := range c.Bulk(t.Context(), client.BulkStage, nil, lines) {
		if failed != nil {
			return answers, failed
		}
		answers++
		var body struct{ N int }
		if json.Unmarshal(answer.Body, &body) != nil || answer.Line != answers || body.N != answers-1 || answer.Err() != nil {
			t.Fatalf("answer %d is %+v", answers, answer)
		}
	}
	return answers, nil
}

// TestBulkAnswersAreInOrder sends more lines than any buffer can hold, so that a client that
// writes before it reads would block.
func TestBulkAnswersAreInOrder(t *testing.T) {
	_, c := newServer(t, echo(1<<30, `{"summary":{"lines":%d,"complete":true}}`))
	if answers, err := bulk(t, c, numberedLines(50_000, nil)); answers != 50_000 || err != nil {
		t.Errorf("%d answers, %v", answers, err)
	}
}

// TestBulkCutOffOrStopped interrupts the answers in every way. The remaining lines must not
// be lost.
func TestBulkCutOffOrStopped(t *testing.T) {
	_, c := newServer(t, echo(10, ""))
	if answers, err := bulk(t, c, numberedLines(20, nil)); answers != 10 || !errors.Is(err, client.ErrCutOff) {
		t.Errorf("cut off: %d answers, %v", answers, err)
	}
	_, c = newServer(t, echo(10, `{"summary":{"lines":%d,"complete":false,"next_line":11}}`))
	answers, err := bulk(t, c, numberedLines(20, nil))
	if stopped, ok := errors.AsType[*client.StoppedError](err); answers != 10 || !ok || stopped.NextLine != 11 {
		t.Errorf("stopped: %d answers, %v", answers, err)
	}
	_, c = newServer(t, func(w http.ResponseWriter, _ *http.Request) { refuse(w, http.StatusForbidden, "permission_denied") })
	if _, err := bulk(t, c, numberedLines(100_000, nil)); !client.IsCode(err, "permission_denied") {
		t.Errorf("refused: %v", err)
	}
}

// TestBulkOfBrokenLines checks that a failing source does not look like the end of the book.
func TestBulkOfBrokenLines(t *testing.T) {
	_, c := newServer(t, echo(1<<30, `{"summary":{"lines":%d,"complete":true}}`))
	broken := errors.New("the disk is gone")
	if _, err := bulk(t, c, numberedLines(10, broken)); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	feed := func(yield func([]byte, error) bool) { yield([]byte("{\n}"), nil) }
	if _, err := bulk(t, c, feed); err == nil || !strings.Contains(err.Error(), "line feed") {
		t.Errorf("%v", err)
	}
	for range c.Bulk(t.Context(), client.BulkStage, nil, numberedLines(100_000, nil)) {
		break // stopping early must leave no goroutine running
	}
}
