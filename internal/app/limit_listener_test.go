package app

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"landfall/internal/lib/limits"
)

// noted is a log that tests can read.
type noted struct {
	mu   sync.Mutex
	text strings.Builder
}

func (n *noted) Write(line []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.Write(line)
}

func (n *noted) count(what string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Count(n.text.String(), what)
}

// serveLimited serves "hello" behind a limitListener.
func serveLimited(t *testing.T, most, each int, known string) (*limitListener, *noted) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	proxies, err := parseProxies(known)
	if err != nil {
		t.Fatal(err)
	}
	log := &noted{}
	d := newLimitListener(listener.(*net.TCPListener), most, each, proxies, slog.New(newThrottle(slog.NewTextHandler(log, nil))))
	server := &http.Server{
		Handler:  http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }),
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
	}
	go server.Serve(d)
	t.Cleanup(func() { server.Close() })
	return d, log
}

// connectFrom connects from an address of this machine and sends one request.
func connectFrom(t *testing.T, d *limitListener, from string) (net.Conn, *http.Response) {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	connection, err := dialer.Dial("tcp", d.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	fmt.Fprint(connection, "GET / HTTP/1.1\r\nHost: here\r\n\r\n")
	answer, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	return connection, answer
}

func wantStatus(t *testing.T, answer *http.Response, want int) {
	t.Helper()
	body, _ := io.ReadAll(answer.Body)
	if answer.StatusCode != want {
		t.Fatalf("status %d, want %d", answer.StatusCode, want)
	}
	if want == http.StatusServiceUnavailable &&
		(answer.Header.Get("Retry-After") != "1" || !answer.Close || !strings.Contains(string(body), `"code":"service_unavailable"`)) {
		t.Errorf("refused with %v %s", answer.Header, body)
	}
}

// Connections used to be accepted until memory or descriptors ran out.
func TestConnectionsHaveALimit(t *testing.T) {
	d, log := serveLimited(t, 2, 0, "")
	first, answer := connectFrom(t, d, "127.0.0.1")
	wantStatus(t, answer, http.StatusOK)
	_, answer = connectFrom(t, d, "127.0.0.2")
	wantStatus(t, answer, http.StatusOK)
	for range 5 {
		_, answer = connectFrom(t, d, "127.0.0.3")
		wantStatus(t, answer, http.StatusServiceUnavailable)
	}
	if count := log.count("setting=max-connections "); count < 1 || count > limits.LogRepeats {
		t.Errorf("logged %d times", count)
	}
	first.Close()
	for d.count() > 1 {
		time.Sleep(time.Millisecond)
	}
	_, answer = connectFrom(t, d, "127.0.0.3")
	wantStatus(t, answer, http.StatusOK)
	if d.rejected.Load() != 5 {
		t.Errorf("%d were refused", d.rejected.Load())
	}
}

// One source must not take all connections, and a proxy does not count as one
// source.
func TestOneSourceCannotTakeAllConnections(t *testing.T) {
	d, log := serveLimited(t, 100, 2, "127.0.0.9")
	for range 2 {
		_, answer := connectFrom(t, d, "127.0.0.1")
		wantStatus(t, answer, http.StatusOK)
	}
	_, answer := connectFrom(t, d, "127.0.0.1")
	wantStatus(t, answer, http.StatusServiceUnavailable)
	_, answer = connectFrom(t, d, "127.0.0.2")
	wantStatus(t, answer, http.StatusOK)
	for range 5 {
		_, answer = connectFrom(t, d, "127.0.0.9")
		wantStatus(t, answer, http.StatusOK)
	}
	if count := log.count("setting=max-connections-per-source "); count < 1 || count > limits.LogRepeats || log.count("caller=127.0.0.1") != count {
		t.Errorf("the log says %s", log.text.String())
	}
}

func TestNeighboursOfOneNetworkAreOneSource(t *testing.T) {
	one := sourceOf(&net.TCPAddr{IP: net.ParseIP("2001:db8::1"), Port: 1})
	other := sourceOf(&net.TCPAddr{IP: net.ParseIP("2001:db8::ffff:2"), Port: 2})
	if one != other || one == sourceOf(&net.TCPAddr{IP: net.ParseIP("2001:db8:0:1::1"), Port: 1}) {
		t.Errorf("%s and %s", one, other)
	}
	if got := sourceOf(&net.TCPAddr{IP: net.ParseIP("::ffff:192.0.2.7"), Port: 1}).String(); got != "192.0.2.7/32" {
		t.Errorf("got %s", got)
	}
}

// Running out of descriptors used to be logged only at debug level.
func TestRunningOutOfDescriptorsIsLogged(t *testing.T) {
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	d, log := serveLimited(t, 100, 0, "")
	first, answer := connectFrom(t, d, "127.0.0.1")
	wantStatus(t, answer, http.StatusOK)
	waiting, err := net.Dial("tcp", d.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer waiting.Close()
	for d.count() < 2 {
		time.Sleep(time.Millisecond)
	}
	var taken []*os.File
	release := func() {
		for _, file := range taken {
			file.Close()
		}
		taken = nil
	}
	defer release()
	lowered := before
	lowered.Cur = 128
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &lowered); err != nil {
		t.Fatal(err)
	}
	defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before)
	// This socket uses the last descriptor. Connecting it adds a connection to the
	// backlog that the listener cannot accept.
	last, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(last)
	for {
		file, err := os.Open(os.DevNull)
		if err != nil {
			break
		}
		taken = append(taken, file)
	}
	address := d.Addr().(*net.TCPAddr)
	to := &syscall.SockaddrInet4{Port: address.Port, Addr: [4]byte{127, 0, 0, 1}}
	if err := syscall.Connect(last, to); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); (log.count("level=ERROR") == 0 || d.acceptFailures.Load() < 2) && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(100 * time.Millisecond) // more attempts, but no more log lines
	release()
	if received := log.count("out of file descriptors"); received < 1 || received > limits.LogRepeats || log.count("level=ERROR") != received {
		t.Errorf("it was logged %d times: %s", received, log.text.String())
	}
	if d.acceptFailures.Load() < 2 {
		t.Errorf("%d failures were counted", d.acceptFailures.Load())
	}
	first.Close()
	for deadline := time.Now().Add(30 * time.Second); d.count() != 2; {
		if time.Now().After(deadline) {
			t.Fatalf("%d are inside: the one that waited did not get in", d.count())
		}
		time.Sleep(time.Millisecond)
	}
}
