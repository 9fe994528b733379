package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"landfall/internal/lib/limits"
)

// flaky is a writer that can be made to fail, to write a partial line, or to
// hang.
type flaky struct {
	mu      sync.Mutex
	text    bytes.Buffer
	refuses bool
	tears   bool
	hangs   chan struct{}
}

var errFull = errors.New("no space left on device")

func (f *flaky) Write(text []byte) (int, error) {
	f.mu.Lock()
	hangs := f.hangs
	f.mu.Unlock()
	if hangs != nil {
		<-hangs
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.refuses && f.tears && len(text) > 0:
		n, _ := f.text.Write(text[:len(text)/2])
		f.tears = false
		return n, errFull
	case f.refuses:
		return 0, errFull
	}
	return f.text.Write(text)
}

func (f *flaky) set(change func(*flaky)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

func (f *flaky) messages(t *testing.T) (all []string) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for line := range strings.Lines(f.text.String()) {
		var read struct{ Msg string }
		if err := json.Unmarshal([]byte(line), &read); err != nil {
			t.Fatalf("a torn line: %q", line)
		}
		all = append(all, read.Msg)
	}
	return all
}

// The log used to be silent forever after one failed write.
func TestTheLogRecoversAfterAFailedWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &flaky{}
		log := NewLog(out, Defaults())
		log.Info("before")
		time.Sleep(time.Second)
		out.set(func(f *flaky) { f.refuses, f.tears = true, true })
		log.Info("during")
		time.Sleep(time.Minute)
		log.Info("still during")
		time.Sleep(time.Minute)
		out.set(func(f *flaky) { f.refuses = false })
		time.Sleep(time.Second)
		log.Info("after")
		log.Close()
		got := strings.Join(out.messages(t), ", ")
		if want := "before, during, log could not be written, still during, after"; got != want &&
			got != strings.Replace(want, "log could not be written, still during", "still during, log could not be written", 1) {
			t.Errorf("the log says %q", got)
		}
		if log.Lost() != 0 {
			t.Errorf("%g lines were lost", log.Lost())
		}
	})
}

// Lines that do not fit into the buffer are counted, and the count is logged.
func TestLogReportsLostLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &flaky{refuses: true}
		log := NewLog(out, Defaults())
		const sent = 3 * limits.LogMemory / 1000
		for range sent {
			log.Info(strings.Repeat("x", 1000))
		}
		time.Sleep(time.Second)
		lost := log.Lost()
		if lost < sent/2 || lost >= sent {
			t.Fatalf("%g of %d lines were lost", lost, sent)
		}
		out.set(func(f *flaky) { f.refuses = false })
		time.Sleep(time.Second)
		log.Close()
		var received struct {
			LostLines float64 `json:"lost_lines"`
			Cause     string
			Seconds   float64
		}
		all := strings.Split(strings.TrimSpace(out.text.String()), "\n")
		if err := json.Unmarshal([]byte(all[len(all)-1]), &received); err != nil {
			t.Fatal(err)
		}
		if received.LostLines != lost || received.Cause != errFull.Error() || received.Seconds <= 0 {
			t.Errorf("the log confesses %+v, %g were lost", received, lost)
		}
		if len(all) != sent-int(lost)+1 {
			t.Errorf("%d lines came of %d with %g lost", len(all)-1, sent, lost)
		}
	})
}

// A log reader that stops reading must not stop the service.
func TestBlockedLogDoesNotBlockRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &flaky{hangs: make(chan struct{})}
		log := NewLog(out, Defaults())
		began := time.Now()
		for range 2 * limits.LogMemory / 1000 {
			log.Info(strings.Repeat("x", 1000))
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("logging waited %s for the reader", took)
		}
		log.Close()
		if took := time.Since(began); took > limits.LogShutdown {
			t.Errorf("the end waited %s for the reader", took)
		}
		close(out.hangs)
	})
}

func BenchmarkLogLine(b *testing.B) {
	log := NewLog(io.Discard, Defaults())
	defer log.Close()
	for b.Loop() {
		log.Info("request", "status", 200)
	}
}
