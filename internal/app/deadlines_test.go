package app_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"landfall/internal/app"
	"landfall/internal/test/tooltest"
)

// sendSlowly stages an account whose body is padded with white space, one piece
// at a time. It returns the answer and how long it took.
func sendSlowly(t *testing.T, r *testServer, length, piece int, pause time.Duration) (*http.Response, time.Duration) {
	t.Helper()
	began := time.Now()
	connection, err := net.Dial("tcp", strings.TrimPrefix(r.base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	body := stageBody(fmt.Sprint("slow-", length))
	body += strings.Repeat(" ", length-len(body))
	fmt.Fprintf(connection, "POST %s HTTP/1.1\r\nHost: here\r\nAuthorization: Token %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
		stagePath, r.words["token"], length)
	go func() {
		for ; body != ""; body = body[min(piece, len(body)):] {
			if _, err := connection.Write([]byte(body[:min(piece, len(body))])); err != nil {
				return
			}
			time.Sleep(pause)
		}
	}()
	connection.SetReadDeadline(time.Now().Add(time.Minute))
	answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		t.Fatalf("no answer after %s: %v", time.Since(began), err)
	}
	return answer, time.Since(began)
}

// A fixed read timeout used to cut off large bodies on slow connections.
func TestLargeBodyMayTakeLongWhileDataArrives(t *testing.T) {
	tooltest.SkipIfShort(t)
	r := startServer(t, databases["sqlite"](t), func(settings *app.Settings) {
		settings.ReadTimeout, settings.WriteTimeout, settings.BodyRate = 2*time.Second, 2*time.Second, 32<<10
	})
	// 300 KiB at 100 KiB a second takes longer than the read timeout, and longer
	// than the write timeout would leave for the answer. A busy machine may take
	// three times as long.
	answer, took := sendSlowly(t, r, 300<<10, 10<<10, 100*time.Millisecond)
	if answer.StatusCode != http.StatusCreated || took < 2*time.Second {
		t.Errorf("status %d after %s", answer.StatusCode, took)
	}
	// Ten bytes a second are too slow.
	if answer, took := sendSlowly(t, r, 100<<10, 1, 100*time.Millisecond); answer.StatusCode != http.StatusBadRequest || took > 20*time.Second {
		t.Errorf("status %d after %s", answer.StatusCode, took)
	}
	// A good start that stalls is too slow as well.
	answer, took = sendSlowly(t, r, 300<<10, 20<<10, time.Minute)
	if answer.StatusCode != http.StatusBadRequest || took > 20*time.Second {
		t.Errorf("status %d after %s", answer.StatusCode, took)
	}
}
