package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	manyCallers     = 5000
	manyCallersTime = 4 * time.Second
	maxRSS          = 512 << 20
	idleRSS         = 320 << 20
)

// TestManyConnectionsAreServedAndReleased sends the requests of five thousand callers, which used to delay
// every response and to keep gigabytes of memory. Each must get a response or be told to retry,
// memory must be bounded, and it must be freed afterwards.
func TestManyConnectionsAreServedAndReleased(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a quarter of a minute")
	}
	s := startServer(t)
	go io.Copy(io.Discard, s.read) // the log
	token := s.createToken(t)
	var served, refused, wrong atomic.Int64
	var callers sync.WaitGroup
	end := time.Now().Add(manyCallersTime)
	for caller := range manyCallers {
		connection, err := net.Dial("tcp", strings.TrimPrefix(s.base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		callers.Go(func() {
			defer connection.Close()
			reader := bufio.NewReaderSize(connection, 1<<10)
			for i := 0; time.Now().Before(end); i++ {
				answer, err := stageAccount(connection, reader, token, fmt.Sprintf("%d-%d", caller, i))
				switch {
				case err == nil && answer.StatusCode == http.StatusCreated:
					served.Add(1)
				case err == nil && answer.StatusCode == http.StatusServiceUnavailable && answer.Header.Get("Retry-After") != "":
					refused.Add(1)
				default:
					wrong.Add(1)
					return
				}
			}
		})
	}
	most := int64(0)
	for time.Now().Before(end) {
		most = max(most, s.resident(t))
		time.Sleep(100 * time.Millisecond)
	}
	callers.Wait()
	most = max(most, s.resident(t))
	t.Logf("%d served, %d told to come back, %d MiB at most", served.Load(), refused.Load(), most>>20)
	if served.Load() == 0 || wrong.Load() > 0 {
		t.Errorf("%d served, %d with a wrong answer or none", served.Load(), wrong.Load())
	}
	if most > maxRSS {
		t.Errorf("it took %d MiB", most>>20)
	}
	began := time.Now()
	if status := s.get(t, "/readyz"); status != http.StatusOK || time.Since(began) > 30*time.Second {
		t.Errorf("afterwards: %d in %s", status, time.Since(began))
	}
	for deadline := time.Now().Add(time.Minute); s.resident(t) > idleRSS; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it keeps %d MiB", s.resident(t)>>20)
		}
	}
}

// createToken creates an organisation in the server's database and returns a token.
func (s *serverProcess) createToken(t *testing.T) string {
	t.Helper()
	key := ""
	for _, line := range []string{"supplier create NORTH", "organisation create Acme", "supplier grant NORTH Acme", "key create Acme"} {
		var out, complaint bytes.Buffer
		if code := runMain(append(strings.Fields(line), "--database", s.database), &out, &complaint); code != exitDone {
			t.Fatalf("%s: %s", line, complaint.String())
		}
		key = strings.TrimSpace(out.String())
	}
	query, err := json.Marshal(map[string]string{"query": `mutation { obtainServiceToken(input: {apiKey: "` + key + `"}) { token } }`})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.Post(s.base+"/v1/graphql/", "application/json", bytes.NewReader(query))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	token := regexp.MustCompile(`"token":"([^"]+)"`).FindSubmatch(body)
	if token == nil {
		t.Fatalf("no token: %s", body)
	}
	return string(token[1])
}

// stageAccount sends one account over an open connection and reads the response.
func stageAccount(connection net.Conn, reader *bufio.Reader, token, external string) (*http.Response, error) {
	body := fmt.Sprintf(`{"import_supplier":"NORTH","external_account_number":%q,"customers":[{}],"notes":[{"body":%q}]}`,
		external, strings.Repeat("x", 1500))
	_, err := fmt.Fprintf(connection, "POST /v1/data-import/account-import-process/create-or-update/ HTTP/1.1\r\nHost: here\r\n"+
		"Authorization: Token %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", token, len(body), body)
	if err != nil {
		return nil, err
	}
	connection.SetReadDeadline(time.Now().Add(time.Minute))
	answer, err := http.ReadResponse(reader, nil)
	if err == nil {
		_, err = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	}
	return answer, err
}

// resident is the resident memory of the process.
func (s *serverProcess) resident(t *testing.T) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Process.Pid))
	if err != nil {
		t.Skip("this system does not tell how much memory a process has")
	}
	found := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(status)
	if found == nil {
		t.Fatal("the process is gone")
	}
	kilobytes, err := strconv.ParseInt(string(found[1]), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}
