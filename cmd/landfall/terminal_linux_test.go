package main

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// openTerminal returns both ends of a new terminal.
func openTerminal(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("this machine has no terminals:", err)
	}
	t.Cleanup(func() { ours.Close() })
	var number, unlock int32
	for request, value := range map[uintptr]*int32{syscall.TIOCSPTLCK: &unlock, syscall.TIOCGPTN: &number} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, ours.Fd(), request, uintptr(unsafe.Pointer(value))); errno != 0 {
			t.Fatal(errno)
		}
	}
	theirs, err = os.OpenFile("/dev/pts/"+strconv.Itoa(int(number)), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { theirs.Close() })
	return ours, theirs
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
	ours, theirs := openTerminal(t)
	s := startServerWith(t, fileDatabase(t), func(c *exec.Cmd) {
		c.Stdin, c.SysProcAttr = theirs, &syscall.SysProcAttr{Setsid: true, Setctty: true}
	}, "--shutdown-delay", delay.String())
	ours.Close()                     // the kernel sends the first one
	s.Process.Signal(syscall.SIGHUP) // the shell sends another one
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
