package main

import (
	"bufio"
	"encoding/json"
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
	return startServerWith(t, database, func(*exec.Cmd) {}, args...)
}

func startServerWith(t *testing.T, database string, prepare func(*exec.Cmd), args ...string) *serverProcess {
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
	prepare(s.Cmd)
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

// TestHangupReloadsSettings sends SIGHUP to a server without a terminal. It uses what can be
// changed, names what needs a restart, and keeps the old settings if the file is wrong.
func TestHangupReloadsSettings(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) {
		t.Skip("these tests were started with nohup, and so is every program they start: it must not hear of a hang-up")
	}
	config := filepath.Join(t.TempDir(), "landfall.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("log-level: info\n")
	s := startServerWith(t, fileDatabase(t), func(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }, "--config", config, "--shutdown-delay", "0s")
	reload := func(text, want string) {
		t.Helper()
		write(text)
		s.Process.Signal(syscall.SIGHUP)
		for {
			line, err := s.read.ReadString('\n')
			if err != nil {
				t.Fatalf("it ended: %v", err)
			}
			if strings.Contains(line, "reload") {
				if !strings.Contains(line, want) {
					t.Fatalf("got %s, want %s", line, want)
				}
				return
			}
		}
	}
	reload("log-level: info\nconcurrency-limit: 7\nmax-body: 2MiB\n", `"changed":"concurrency-limit","need_restart":"max-body"`)
	reload("log-level: loud\n", "want debug, info, warn or error")
	reload("log-level: debug\n", `"changed":"concurrency-limit log-level","need_restart":""`)
	// The program itself is the health check of its container image.
	health := exec.Command(s.Path, "health", "--listen", strings.TrimPrefix(s.base, "http://"))
	health.Args[0] = "landfall"
	if output, err := health.CombinedOutput(); err != nil || string(output) != "ok\n" {
		t.Errorf("it is not healthy: %v: %s", err, output)
	}
	if status := s.get(t, "/readyz"); status != http.StatusOK {
		t.Errorf("it is not ready after reloading: %d", status)
	}
	s.Process.Signal(syscall.SIGTERM)
	if err := s.Wait(); err != nil {
		t.Errorf("the end was not in order: %v", err)
	}
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
