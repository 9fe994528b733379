package app_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"landfall/internal/app"
	"landfall/internal/lib/limits"
	"landfall/internal/service/operate"
	"landfall/internal/test/tooltest"
)

// A refusal of a request with Expect: 100-continue was held back until the body
// came, or for 30 seconds, because the wrapper around the body hid it from
// net/http. Strangers could hold connections that way.
func TestRefusalDoesNotWaitForTheBodyThatTheClientAsksToSend(t *testing.T) {
	r := startServer(t, databases["sqlite"](t), nil)
	token := "Authorization: Token " + r.words["token"] + "\r\n"
	one := int64(1)
	if _, err := r.operator.SetQuotas(t.Context(), "Other", operate.QuotaChange{BytesPerDay: &one}); err != nil {
		t.Fatal(err)
	}
	overQuota := "Authorization: Token " + r.words["other token"] + "\r\n"
	const (
		bulkPath    = "/v1/data-import/bulk/account-import-process/create-or-update/"
		graphqlPath = "/v1/graphql/"
		jsonType    = "Content-Type: application/json\r\n"
		linesType   = "Content-Type: application/x-ndjson\r\n"
	)
	for _, c := range []struct {
		name, path, header string
		length             int
		status             int
	}{
		{"too large", stagePath, token + jsonType, 99_999_999, http.StatusRequestEntityTooLarge},
		{"no token", stagePath, jsonType, 99, http.StatusUnauthorized},
		{"no token, long body", stagePath, jsonType, 9_999_999, http.StatusUnauthorized},
		{"no JSON", stagePath, token + "Content-Type: text/plain\r\n", 99, http.StatusUnsupportedMediaType},
		{"over the quota", stagePath, overQuota + jsonType, 99, http.StatusTooManyRequests},
		{"bulk without a token", bulkPath, linesType, 99, http.StatusUnauthorized},
		{"bulk that is no NDJSON", bulkPath, token + jsonType, 99, http.StatusUnsupportedMediaType},
		{"token request too large", graphqlPath, jsonType, 999_999, http.StatusRequestEntityTooLarge},
		{"no such path", "/v1/nowhere/", jsonType, 99, http.StatusNotFound},
		{"no slash", strings.TrimSuffix(stagePath, "/"), jsonType, 99, http.StatusPermanentRedirect},
	} {
		t.Run(c.name, func(t *testing.T) {
			line, err := net.Dial("tcp", strings.TrimPrefix(r.base, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer line.Close()
			// Far less than the 30 seconds that a body may take to begin.
			if err := line.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(line, "POST %s HTTP/1.1\r\nHost: here\r\n%sContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", c.path, c.header, c.length)
			reader := bufio.NewReader(line)
			answer, err := http.ReadResponse(reader, nil)
			if err != nil {
				t.Fatalf("no answer while the body is held back: %v", err)
			}
			if answer.StatusCode != c.status {
				t.Errorf("status %d, want %d", answer.StatusCode, c.status)
			}
			if _, err := io.Copy(io.Discard, answer.Body); err != nil {
				t.Fatal(err)
			}
			// The server does not keep the connection for a body that it does not want.
			if rest, err := io.ReadAll(reader); err != nil || len(rest) > 0 {
				t.Errorf("the connection is still open: %q %v", rest, err)
			}
		})
	}
}

// Requests that are accepted still get their 100 Continue, single and bulk.
func TestBodyIsAskedForOnceTheRequestIsAccepted(t *testing.T) {
	r := startServer(t, databases["sqlite"](t), nil)
	for path, media := range map[string]string{
		stagePath: "application/json",
		"/v1/data-import/bulk/account-import-process/create-or-update/": "application/x-ndjson",
	} {
		line, err := net.Dial("tcp", strings.TrimPrefix(r.base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer line.Close()
		if err := line.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		body := stageBody("asked " + media)
		fmt.Fprintf(line, "POST %s HTTP/1.1\r\nHost: here\r\nAuthorization: Token %s\r\nContent-Type: %s\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n",
			path, r.words["token"], media, len(body))
		reader := bufio.NewReader(line)
		if first, err := reader.ReadString('\n'); err != nil || first != "HTTP/1.1 100 Continue\r\n" {
			t.Fatalf("%s: got %q, %v", path, first, err)
		}
		if _, err := reader.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		io.WriteString(line, body)
		answer, err := http.ReadResponse(reader, nil)
		if err != nil || answer.StatusCode/100 != 2 {
			t.Fatalf("%s: %v %v", path, answer, err)
		}
		if got, _ := io.ReadAll(answer.Body); !strings.Contains(string(got), "asked") {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// A stranger that announces a body and never sends it gets the refusal after
// limits.UnreadAnonymousTime, not after the 30 seconds that a body may take to begin.
func TestRefusalDoesNotWaitLongForABodyThatNeverComes(t *testing.T) {
	tooltest.SkipIfShort(t)
	r := startServer(t, databases["sqlite"](t), nil)
	line, err := net.Dial("tcp", strings.TrimPrefix(r.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer line.Close()
	if err := line.SetDeadline(time.Now().Add(limits.UnreadAnonymousTime + 10*time.Second)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(line, "POST %s HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n", stagePath)
	reader := bufio.NewReader(line)
	answer, err := http.ReadResponse(reader, nil)
	if err != nil || answer.StatusCode != http.StatusUnauthorized {
		t.Fatalf("got %v, %v", answer, err)
	}
	if _, err := io.ReadAll(answer.Body); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(reader); err != nil || len(rest) > 0 {
		t.Errorf("the connection is still open: %q %v", rest, err)
	}
}

// Of 300 large bodies at once, 65 got no answer on a busy machine: their clients
// took longer than five seconds to send a body that was already refused, and the
// connection was reset before they looked for the answer.
func TestRefusalIsAnsweredWhenTheBodyComesLate(t *testing.T) {
	tooltest.SkipIfShort(t)
	r := startServer(t, databases["sqlite"](t), nil)
	for name, size := range map[string]int{"a body that fits": 1_100_000, "a body that is too large": 99_999_999} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			line, err := net.Dial("tcp", strings.TrimPrefix(r.base, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer line.Close()
			if err := line.SetDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(line, "POST %s HTTP/1.1\r\nHost: here\r\nAuthorization: Token %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n",
				stagePath, r.words["token"], size)
			time.Sleep(7 * time.Second) // the client is slow, as on a busy machine
			// A client writes the whole body before it reads the answer.
			if _, err := line.Write(bytes.Repeat([]byte("x"), min(size, 2_000_000))); err != nil {
				t.Fatalf("sending the body: %v", err)
			}
			answer, err := http.ReadResponse(bufio.NewReader(line), nil)
			if err != nil {
				t.Fatalf("no answer: %v", err)
			}
			answer.Body.Close()
			if answer.StatusCode != http.StatusUnsupportedMediaType {
				t.Errorf("status %d", answer.StatusCode)
			}
		})
	}
}

// Every one of 300 large bodies that are sent at once gets an answer, although
// most do not fit into memory.
func TestEveryOneOfManyLargeBodiesIsAnswered(t *testing.T) {
	tooltest.SkipIfShort(t)
	r := startServer(t, databases["sqlite"](t), func(settings *app.Settings) { settings.BodyMemory = 8 << 20 })
	body := `{"import_supplier":"NORTH","external_account_number":"` + strings.Repeat("9", 1_100_000) + `"}`
	var waiting sync.WaitGroup
	answers := make(chan int, 300)
	for range cap(answers) {
		waiting.Go(func() {
			// A connection of its own.
			client := http.Client{Transport: &http.Transport{}, Timeout: 2 * time.Minute}
			defer client.CloseIdleConnections()
			answer, err := client.Do(r.request(http.MethodPost, stagePath, body))
			if err != nil {
				t.Errorf("no answer: %v", err)
				return
			}
			answer.Body.Close()
			answers <- answer.StatusCode
		})
	}
	waiting.Wait()
	close(answers)
	got := map[int]int{}
	for status := range answers {
		got[status]++
	}
	if got[http.StatusServiceUnavailable] == 0 || got[http.StatusServiceUnavailable]+got[http.StatusBadRequest] != cap(answers) {
		t.Errorf("answers by status: %v", got)
	}
}

// Callers who ignored Retry-After brought the goodput under overload to 0.42 of
// the best, because refusing them again and again took the time of others.
func TestClientThatIgnoresRetryAfterWaitsOnItsConnection(t *testing.T) {
	tooltest.SkipIfShort(t)
	r := startServer(t, databases["sqlite"](t), nil)
	one := int64(1)
	if _, err := r.operator.SetQuotas(t.Context(), "Acme", operate.QuotaChange{BytesPerDay: &one}); err != nil {
		t.Fatal(err)
	}
	line, err := net.Dial("tcp", strings.TrimPrefix(r.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer line.Close()
	if err := line.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	reader, body := bufio.NewReader(line), stageBody("1")
	ask := func() time.Duration {
		began := time.Now()
		fmt.Fprintf(line, "POST %s HTTP/1.1\r\nHost: here\r\nAuthorization: Token %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
			stagePath, r.words["token"], len(body), body)
		answer, err := http.ReadResponse(reader, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, answer.Body); err != nil {
			t.Fatal(err)
		}
		if answer.StatusCode != http.StatusTooManyRequests || answer.Header.Get("Retry-After") == "" {
			t.Fatalf("got %d, Retry-After %q", answer.StatusCode, answer.Header.Get("Retry-After"))
		}
		return time.Since(began)
	}
	ask()
	if took := ask(); took < limits.EarlyRetryHold*9/10 {
		t.Errorf("a client that came back at once was answered after %s", took)
	}
}
