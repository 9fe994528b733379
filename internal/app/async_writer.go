package app

import (
	"io"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// flushInterval is how long a line may wait: a person watching does not notice.
	flushInterval = 100 * time.Millisecond
	// flushSize is how much is written without waiting for the moment to pass.
	flushSize = 64 << 10
	// maxBuffered is how much is kept while it cannot be written: a reader that
	// stopped reading must cost neither time nor, without end, memory.
	maxBuffered = 4 << 20
	// closeTimeout is how long the end of the program waits for a writer that hangs.
	closeTimeout = time.Second
)

// asyncWriter collects log lines and writes them together, because a system call for
// every request would cost more than many requests do. Whoever logs never waits
// for the writer below and never hears of its trouble: a log that cannot be
// written must not stop the service. What could not be written is tried again;
// only what no longer fits into memory is lost, in whole lines, and counted.
type asyncWriter struct {
	out     io.Writer
	wake    chan struct{} // there is much to write
	done    chan struct{}
	stopped chan struct{} // closed when run has ended
	lost    atomic.Int64

	mu     sync.Mutex
	buffer []byte
}

// outage is a time in which the log could not be written.
type outage struct {
	began  time.Time
	length time.Duration
	before int64 // lines lost before it
	lost   int64
	cause  error
}

// newAsyncWriter begins to gather lines for an output.
func newAsyncWriter(out io.Writer) *asyncWriter {
	return &asyncWriter{out: out, wake: make(chan struct{}, 1), done: make(chan struct{}), stopped: make(chan struct{})}
}

// Write keeps a line until it is written.
func (l *asyncWriter) Write(line []byte) (int, error) {
	l.mu.Lock()
	if len(l.buffer)+len(line) > maxBuffered {
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
		default: // it has been told
		}
	}
	return len(line), nil
}

// run writes until the end, and hands every gap that has ended to confess.
func (l *asyncWriter) run(confess func(outage)) {
	defer close(l.stopped)
	ticker := time.NewTicker(flushInterval)
	defer ticker.Stop()
	var piece []byte    // what is being written
	var at int          // how far
	var trouble *outage // nil while all is well
	for ended := false; !ended; {
		select {
		case <-ticker.C:
		case <-l.wake:
			if trouble != nil {
				continue // no more tries than the clock allows
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
		case err != nil && trouble == nil:
			trouble = &outage{began: time.Now(), before: l.lost.Load(), cause: err}
		case err == nil && trouble != nil:
			trouble.length, trouble.lost = time.Since(trouble.began), l.lost.Load()-trouble.before
			confess(*trouble)
			trouble = nil
		}
	}
	if at == len(piece) {
		// What came in while the last piece was written, a confession among it.
		_, _ = l.out.Write(l.take(nil))
	}
}

// take gives what waits and goes on collecting in other memory, unless that
// grew large in a bad hour.
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

// close writes the last lines. A writer that hangs does not keep the program
// from ending.
func (l *asyncWriter) close() {
	close(l.done)
	select {
	case <-l.stopped:
	case <-time.After(closeTimeout):
	}
}
