package app_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"landfall"
	"landfall/internal/app"
	"landfall/internal/test/tooltest"
)

// testServer is a listening program, started as the command starts it.
type testServer struct {
	*world
	base string
	stop context.CancelFunc
	done chan error
}

func startServer(t *testing.T, database string, change func(*app.Settings)) *testServer {
	t.Helper()
	return startLogged(t, database, change, logTo(t))
}

func startLogged(t *testing.T, database string, change func(*app.Settings), log io.Writer) *testServer {
	t.Helper()
	w := newLoggedWorld(t, database, func(settings *app.Settings) {
		settings.Listen, settings.OpsListen = "127.0.0.1:0", "127.0.0.1:0"
		settings.ShutdownDelay = 300 * time.Millisecond
		if change != nil {
			change(settings)
		}
	}, log)
	ctx, stop := context.WithCancel(t.Context())
	address, err := w.application.Listen(ctx)
	if err != nil {
		t.Fatal(err)
	}
	r := &testServer{w, "http://" + address.String(), stop, make(chan error, 1)}
	go func() { r.done <- w.application.Run(ctx) }()
	t.Cleanup(stop)
	return r
}

func (r *testServer) request(method, path, body string) *http.Request {
	request, err := http.NewRequest(method, r.base+path, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	request.Header.Set("Authorization", "Token "+r.words["token"])
	request.Header.Set("Content-Type", "application/json")
	return request
}

func stageBody(external string) string {
	return fmt.Sprintf(`{"import_supplier":"NORTH","external_account_number":%q,"customers":[{}]}`, external)
}

const stagePath = "/v1/data-import/account-import-process/create-or-update/"

// Well-behaved callers see no failure during shutdown: every request succeeds, or
// its connection is refused before it is sent.
func TestShutdownLosesNoRequest(t *testing.T) {
	onBoth(t, func(t *testing.T, database string) {
		r := startServer(t, database, nil)
		var answered, refused atomic.Int64
		var callers sync.WaitGroup
		for caller := range 16 {
			callers.Go(func() {
				// Idle connections are dropped before the server closes them, so that
				// a busy machine cannot make a caller reuse a closed one.
				client := &http.Client{Transport: &http.Transport{IdleConnTimeout: 100 * time.Millisecond}}
				defer client.CloseIdleConnections()
				for i := 0; ; i++ {
					answer, err := client.Do(r.request(http.MethodPost, stagePath, stageBody(fmt.Sprintf("%d-%d", caller, i))))
					if errors.Is(err, syscall.ECONNREFUSED) {
						refused.Add(1)
						return
					}
					if err != nil {
						t.Errorf("a request was lost: %v", err)
						return
					}
					io.Copy(io.Discard, answer.Body)
					answer.Body.Close()
					if answer.StatusCode != http.StatusCreated {
						t.Errorf("status %d", answer.StatusCode)
					}
					answered.Add(1)
				}
			})
		}
		for answered.Load() < 200 && !t.Failed() {
			time.Sleep(time.Millisecond)
		}
		r.stop()
		callers.Wait()
		if err := <-r.done; err != nil {
			t.Errorf("the end was not in order: %v", err)
		}
		if refused.Load() != 16 {
			t.Errorf("%d of 16 callers met a closed door", refused.Load())
		}
	})
}

// A request that is half sent when shutdown begins is still answered. Meanwhile
// the program reports that it is not ready and asks callers to disconnect.
func TestShutdownWaitsForSlowRequests(t *testing.T) {
	r := startServer(t, databases["sqlite"](t), func(settings *app.Settings) { settings.ShutdownDelay = 2 * time.Second })
	reader, writer := io.Pipe()
	request := r.request(http.MethodPost, stagePath, "")
	request.Body = reader
	body := stageBody("slow")
	request.ContentLength = int64(len(body))
	slow := make(chan error, 1)
	go func() {
		answer, err := http.DefaultTransport.RoundTrip(request)
		if err == nil && answer.StatusCode != http.StatusCreated {
			err = fmt.Errorf("status %d", answer.StatusCode)
		}
		slow <- err
	}()
	writer.Write([]byte(body[:10]))
	r.stop()
	var answer *http.Response
	for answer == nil || answer.StatusCode == http.StatusOK {
		var err error
		if answer, err = http.Get(r.base + "/readyz"); err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
	}
	if answer.StatusCode != http.StatusServiceUnavailable || !answer.Close {
		t.Errorf("ready answers %d, close %v: want 503 and close", answer.StatusCode, answer.Close)
	}
	writer.Write([]byte(body[10:]))
	if err := <-slow; err != nil {
		t.Errorf("the slow request was lost: %v", err)
	}
	if err := <-r.done; err != nil {
		t.Error(err)
	}
}

// The read timeout ends once the request is read: a slow reader of a long list is
// not cut off.
func TestLongResponsesOutliveTheReadTimeout(t *testing.T) {
	tooltest.SkipIfShort(t)
	r := startServer(t, databases["sqlite"](t), func(settings *app.Settings) { settings.ReadTimeout = time.Second })
	const rows = 30000
	fill(t, r, rows)
	client := &http.Client{Transport: &http.Transport{ReadBufferSize: 1 << 10, DialContext: narrow}}
	answer, err := client.Do(r.request(http.MethodGet, "/v1/data-import/all-account-import-processes/NORTH/", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	piece := make([]byte, 64<<10)
	read, err := io.ReadFull(answer.Body, piece)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(1200 * time.Millisecond)
	rest, err := io.Copy(io.Discard, answer.Body)
	if err != nil {
		t.Fatalf("the list broke off after %d bytes: %v", int64(read)+rest, err)
	}
	if total := int64(read) + rest; total < rows*200 {
		t.Errorf("only %d bytes came", total)
	}
}

// narrow limits the socket buffer, so that the kernel does not take the whole
// answer.
func narrow(ctx context.Context, network, address string) (net.Conn, error) {
	connection, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err == nil {
		err = connection.(*net.TCPConn).SetReadBuffer(64 << 10)
	}
	return connection, err
}

// fill writes many staged accounts at once, bypassing the store.
func fill(t *testing.T, r *testServer, rows int) {
	t.Helper()
	r.execute(t, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
		INSERT INTO process (supplier_id, external, state, revision, hash, first_staged_at, staged_at)
		SELECT supplier.id, printf('%0128d', i), 'staged', 1, zeroblob(32), i, i FROM n, supplier WHERE code = 'NORTH'`, rows)
}

// If the database stays unavailable, startup fails after the configured time.
func TestDatabaseUnavailable(t *testing.T) {
	settings := app.Defaults()
	settings.Database = "postgres://nobody:hunter2@127.0.0.1:1/none"
	settings.DatabaseWait = 300 * time.Millisecond
	var log strings.Builder
	began := time.Now()
	_, err := app.New(t.Context(), settings, "test", &app.Log{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if !errors.Is(err, landfall.ErrUnavailable) {
		t.Fatalf("got %v, want the database unavailable", err)
	}
	if strings.Contains(err.Error()+log.String(), "hunter2") {
		t.Error("the password was shown")
	}
	if !strings.Contains(log.String(), "waiting for the database") {
		t.Error("nothing was said about the waiting")
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %s to give up", took)
	}
}
