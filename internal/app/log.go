package app

import (
	"bufio"
	"io"
	"log/slog"
	"sync"
	"time"
)

// Log is where log lines go. Lines are collected and written together, because
// a system call for every request would cost more than many requests do; a
// line waits no longer than a moment.
type Log struct {
	*slog.Logger
	lines *lines
}

// NewLog writes log lines in the format and from the level of the settings.
func NewLog(out io.Writer, settings Settings) *Log {
	lines := &lines{buffer: bufio.NewWriterSize(out, 64<<10), done: make(chan struct{})}
	lines.flusher.Go(lines.run)
	options := &slog.HandlerOptions{Level: settings.LogLevel}
	if settings.LogFormat == "text" {
		return &Log{slog.New(slog.NewTextHandler(lines, options)), lines}
	}
	return &Log{slog.New(slog.NewJSONHandler(lines, options)), lines}
}

// Close writes what is left.
func (l *Log) Close() {
	close(l.lines.done)
	l.lines.flusher.Wait()
}

// flushEvery is how long a line may wait: a person watching does not notice.
const flushEvery = 100 * time.Millisecond

type lines struct {
	mu      sync.Mutex
	buffer  *bufio.Writer
	done    chan struct{}
	flusher sync.WaitGroup
}

// Write keeps a line. A log that cannot be written must not stop the service,
// so an error of the writer below is forgotten with the lines it concerned.
func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.buffer.Available() < len(line) {
		_ = l.buffer.Flush() // whole lines only, as far as they fit
	}
	return l.buffer.Write(line)
}

func (l *lines) run() {
	ticker := time.NewTicker(flushEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			l.flush()
		case <-l.done:
			l.flush()
			return
		}
	}
}

func (l *lines) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	_ = l.buffer.Flush()
}
