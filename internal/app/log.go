package app

import (
	"io"
	"log/slog"
)

// Log is where log lines go.
type Log struct {
	*slog.Logger
	writer *asyncWriter // nil when somebody else collects them
}

// NewLog writes log lines in the format and from the level of the settings.
func NewLog(out io.Writer, settings Settings) *Log {
	lines := newAsyncWriter(out)
	options := &slog.HandlerOptions{Level: settings.LogLevel}
	var handler slog.Handler = jsonHandler{slog.NewJSONHandler(lines, options), lines}
	if settings.LogFormat == "text" {
		handler = slog.NewTextHandler(lines, options)
	}
	log := &Log{slog.New(handler), lines}
	go lines.run(log.reportOutage)
	return log
}

// reportOutage says after a gap that there was one, in the log itself: whoever
// reads it must not take silence for peace.
func (l *Log) reportOutage(gap outage) {
	l.Warn("the log could not be written", "seconds", gap.length.Seconds(), "lost_lines", gap.lost, "cause", gap.cause)
}

// Lost is how many lines nobody will ever read.
func (l *Log) Lost() float64 {
	if l.writer == nil {
		return 0
	}
	return float64(l.writer.lost.Load())
}

// Close writes what is left, if that can be done at all.
func (l *Log) Close() {
	if l.writer != nil {
		l.writer.close()
	}
}
