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
	// throttle is nil for other loggers.
	throttle *throttleState
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
	throttled := newThrottle(handler)
	log := &Log{slog.New(throttled), lines, level, throttled.throttleState}
	go lines.run(log.reportOutage)
	return log
}

// reportOutage logs that log lines could not be written for a while.
func (l *Log) reportOutage(gap outage) {
	l.Logger.Warn("log could not be written", "seconds", gap.length.Seconds(), "lost_lines", gap.lost, "cause", gap.cause) //nolint:staticcheck // messages_test.go finds warnings by the name Logger
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
		l.throttle.flush()
		l.writer.close()
	}
}

// databaseLost says whether the database is known to be lost, and returns how many lines
// about it were left out.
func (l *Log) databaseLost(lost bool) (leftOut int64) {
	if l.throttle == nil {
		return 0
	}
	return l.throttle.databaseLost(lost)
}

// unavailable receives when a line says that the database is unavailable.
func (l *Log) unavailable() <-chan struct{} {
	if l.throttle == nil {
		return nil
	}
	return l.throttle.wake
}
