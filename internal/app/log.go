package app

import (
	"io"
	"log/slog"
)

// Log is a logger with an asynchronous writer.
type Log struct {
	*slog.Logger
	writer *asyncWriter   // nil for other loggers
	level  *slog.LevelVar // nil for other loggers
}

// NewLog returns a logger with the format and level of the settings.
func NewLog(out io.Writer, settings Settings) *Log {
	lines := newAsyncWriter(out)
	level := new(slog.LevelVar)
	level.Set(settings.LogLevel)
	options := &slog.HandlerOptions{Level: level}
	var handler slog.Handler = jsonHandler{slog.NewJSONHandler(lines, options), lines}
	if settings.LogFormat == "text" {
		handler = slog.NewTextHandler(lines, options)
	}
	log := &Log{slog.New(handler), lines, level}
	go lines.run(log.reportOutage)
	return log
}

// reportOutage logs that log lines could not be written for a while.
func (l *Log) reportOutage(gap outage) {
	l.Warn("log could not be written", "seconds", gap.length.Seconds(), "lost_lines", gap.lost, "cause", gap.cause)
}

// Lost returns how many lines were dropped.
func (l *Log) Lost() float64 {
	if l.writer == nil {
		return 0
	}
	return float64(l.writer.lost.Load())
}

// Close writes the remaining lines.
func (l *Log) Close() {
	if l.writer != nil {
		l.writer.close()
	}
}
