package app

import (
	"io"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// flushEvery is how long a line may wait: a person watching does not notice.
	flushEvery = 100 * time.Millisecond
	// flushAt is how much is written without waiting for the moment to pass.
	flushAt = 64 << 10
	// mostWaiting is how much is kept while it cannot be written: a reader that
	// stopped reading must cost neither time nor, without end, memory.
	mostWaiting = 4 << 20
	// lastWord is how long the end of the program waits for a writer that hangs.
	lastWord = time.Second
)

// lines collects log lines and writes them together, because a system call for
// every request would cost more than many requests do. Whoever logs never waits
// for the writer below and never hears of its trouble: a log that cannot be
// written must not stop the service. What could not be written is tried again;
// only what no longer fits into memory is lost, in whole lines, and counted.
type lines struct {
	out  io.Writer
	wake chan struct{} // there is much to write
	done chan struct{}
	idle chan struct{} // closed when run has ended
	lost atomic.Int64

	mu      sync.Mutex
	waiting []byte
}

// gap is a time in which the log could not be written.
type gap struct {
	began  time.Time
	length time.Duration
	before int64 // lines lost before it
	lost   int64
	cause  error
}

// newLines begins to gather lines for an output.
func newLines(out io.Writer) *lines {
	return &lines{out: out, wake: make(chan struct{}, 1), done: make(chan struct{}), idle: make(chan struct{})}
}

// Write keeps a line until it is written.
func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	if len(l.waiting)+len(line) > mostWaiting {
		l.mu.Unlock()
		l.lost.Add(1)
		return len(line), nil
	}
	l.waiting = append(l.waiting, line...)
	much := len(l.waiting) >= flushAt
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
func (l *lines) run(confess func(gap)) {
	defer close(l.idle)
	ticker := time.NewTicker(flushEvery)
	defer ticker.Stop()
	var piece []byte // what is being written
	var at int       // how far
	var trouble *gap // nil while all is well
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
			trouble = &gap{began: time.Now(), before: l.lost.Load(), cause: err}
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
func (l *lines) take(used []byte) []byte {
	if cap(used) > 4*flushAt {
		used = nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := l.waiting
	l.waiting = used[:0]
	return taken
}

// close writes the last lines. A writer that hangs does not keep the program
// from ending.
func (l *lines) close() {
	close(l.done)
	select {
	case <-l.idle:
	case <-time.After(lastWord):
	}
}
