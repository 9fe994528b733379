package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// serverProcess is the real program in its own process.
type serverProcess struct {
	*exec.Cmd
	base     string // where it listens
	database string
	log      *os.File // the end of its standard error that we read
	told     []string // lines read from it so far
	read     *bufio.Reader
}

// fileDatabase names a new database.
func fileDatabase(t testing.TB) string {
	t.Helper()
	return "sqlite:" + filepath.Join(t.TempDir(), "landfall.db")
}

func startServer(t *testing.T, args ...string) *serverProcess {
	t.Helper()
	return startServerOn(t, fileDatabase(t), args...)
}

func startServerOn(t *testing.T, database string, args ...string) *serverProcess {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	// The test binary is the program if it has its name.
	s := &serverProcess{log: reader, read: bufio.NewReader(reader), database: database, Cmd: &exec.Cmd{
		Path: program, Args: append([]string{"landfall", "serve", "--listen", "127.0.0.1:0", "--database", database}, args...),
		Stderr: writer}}
	err = s.Start()
	writer.Close() // ours alone, or nobody would see that a program which does not start has ended
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Process.Kill()
		reader.Close()
	})
	for s.base == "" {
		line, err := s.read.ReadString('\n')
		if err != nil {
			t.Fatalf("it did not start: %v\n%s", err, strings.Join(s.told, ""))
		}
		s.told = append(s.told, line)
		var entry struct{ Msg, Address string }
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "listening" {
			s.base = "http://" + entry.Address
		}
	}
	return s
}

func (s *serverProcess) get(t *testing.T, path string) int {
	t.Helper()
	answer, err := http.Get(s.base + path)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

// TestHangupShutsDownCleanly closes the terminal, which used to kill the server with
// requests in progress. Health checks during shutdown used to be logged as errors.
func TestHangupShutsDownCleanly(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("these tests were started with nohup, and so is every program they start: it must not hear of a hang-up")
	}
	// A busy machine may look too late, so the shutdown has to take longer.
	for _, delay := range []time.Duration{time.Second, 5 * time.Second, 30 * time.Second} {
		if hangUp(t, delay) == http.StatusServiceUnavailable {
			return
		}
	}
	t.Error("the end was not reported")
}

// hangUp sends a hang-up and returns the last status of the readiness check.
func hangUp(t *testing.T, delay time.Duration) (status int) {
	t.Helper()
	s := startServer(t, "--shutdown-delay", delay.String())
	s.Process.Signal(syscall.SIGHUP)
	s.Process.Signal(syscall.SIGHUP)
	deadline := time.Now().Add(delay + 30*time.Second)
	for told := 0; told < 2; {
		answer, err := http.Get(s.base + "/readyz")
		if err != nil {
			break // it is gone
		}
		answer.Body.Close()
		if status = answer.StatusCode; status != http.StatusOK {
			told++
		}
		if time.Now().After(deadline) {
			t.Fatal("it does not end")
		}
	}
	rest, _ := io.ReadAll(s.read)
	if err := s.Wait(); err != nil {
		t.Errorf("the end was not in order: %v", err)
	}
	if !strings.Contains(string(rest), `"shut down"`) || strings.Contains(string(rest), "ERROR") {
		t.Errorf("the log says:\n%s", rest)
	}
	return status
}

// TestClosedStandardErrorIsHarmless closes the log's reader, which used to kill the server with
// the next line.
func TestClosedStandardErrorIsHarmless(t *testing.T) {
	s := startServer(t, "--log-level", "debug", "--shutdown-delay", "0s")
	s.log.Close()
	for range 5 {
		if status := s.get(t, "/healthz"); status != http.StatusOK {
			t.Errorf("health answers %d", status)
		}
		time.Sleep(150 * time.Millisecond) // a line waits a moment before it is written
	}
	s.Process.Signal(syscall.SIGTERM)
	if err := s.Wait(); err != nil {
		t.Errorf("the end was not in order: %v", err)
	}
}
