package app

import (
	"io"
	"sync"
	"sync/atomic"
	"time"

	"landfall/internal/lib/limits"
)

const (
	// flushSize is how much is written without waiting.
	flushSize = 64 << 10
)

// asyncWriter collects log lines and writes them together, because a system call per request
// is too expensive. Logging never blocks and never fails: a log that cannot be written
// must not stop the service. Failed writes are retried; lines that do not fit into memory
// are dropped and counted.
type asyncWriter struct {
	out     io.Writer
	wake    chan struct{} // flushSize is reached
	done    chan struct{}
	stopped chan struct{} // closed when run has returned
	lost    atomic.Int64

	mu     sync.Mutex
	buffer []byte
}

// outage is a period in which the log could not be written.
type outage struct {
	began  time.Time
	length time.Duration
	before int64 // lines lost before
	lost   int64
	cause  error
}

func newAsyncWriter(out io.Writer) *asyncWriter {
	return &asyncWriter{out: out, wake: make(chan struct{}, 1), done: make(chan struct{}), stopped: make(chan struct{})}
}

// Write buffers a line.
func (l *asyncWriter) Write(line []byte) (int, error) {
	l.mu.Lock()
	if len(l.buffer)+len(line) > limits.LogMemory {
		l.mu.Unlock()
		l.lost.Add(1)
		return len(line), nil
	}
	l.buffer = append(l.buffer, line...)
	much := len(l.buffer) >= flushSize
	l.mu.Unlock()
	if much {
		select {
		case l.wake <- struct{}{}:
		default: // already signalled
		}
	}
	return len(line), nil
}

// run writes until close is called and reports every outage after it ended.
func (l *asyncWriter) run(report func(outage)) {
	defer close(l.stopped)
	ticker := time.NewTicker(limits.LogFlush)
	defer ticker.Stop()
	var piece []byte    // what is being written
	var at int          // how far
	var current *outage // nil while writes succeed
	for ended := false; !ended; {
		select {
		case <-ticker.C:
		case <-l.wake:
			if current != nil {
				continue // retry only at intervals
			}
		case <-l.done:
			ended = true
		}
		if at == len(piece) {
			piece, at = l.take(piece), 0
		}
		written, err := l.out.Write(piece[at:])
		at += written
		switch {
		case err != nil && current == nil:
			current = &outage{began: time.Now(), before: l.lost.Load(), cause: err}
		case err == nil && current != nil:
			current.length, current.lost = time.Since(current.began), l.lost.Load()-current.before
			report(*current)
			current = nil
		}
	}
	if at == len(piece) {
		// Write what arrived in the meantime, including the report of an outage.
		_, _ = l.out.Write(l.take(nil))
	}
}

// take returns the buffered lines and reuses the memory of the last ones, unless it grew
// large during an outage.
func (l *asyncWriter) take(used []byte) []byte {
	if cap(used) > 4*flushSize {
		used = nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := l.buffer
	l.buffer = used[:0]
	return taken
}

// close writes the last lines. A blocked writer does not prevent the exit.
func (l *asyncWriter) close() {
	close(l.done)
	select {
	case <-l.stopped:
	case <-time.After(limits.LogShutdown):
	}
}
