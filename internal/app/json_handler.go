package app

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"
)

// jsonHandler writes simple log lines, with only strings and numbers, several times faster
// than the handler it wraps and with the same result. It passes on all others.
type jsonHandler struct {
	slog.Handler
	out io.Writer
}

// lineBuffers are reused, because under load log lines are the most common garbage.
var lineBuffers = sync.Pool{New: func() any { return new([]byte) }}

// Handle implements slog.Handler.
func (s jsonHandler) Handle(ctx context.Context, record slog.Record) error {
	buffer := lineBuffers.Get().(*[]byte) //nolint:forcetypeassert // the pool makes nothing else
	defer lineBuffers.Put(buffer)
	line := append((*buffer)[:0], `{"time":"`...) //nolint:gocritic // the buffer lends its memory, and gets it back below
	line = record.Time.Round(0).AppendFormat(line, time.RFC3339Nano)
	line = append(line, `","level":"`...)
	line = append(line, record.Level.String()...)
	line, simple := appendText(append(line, `","msg":`...), record.Message)
	record.Attrs(func(attr slog.Attr) bool {
		if simple {
			line, simple = appendPair(line, attr)
		}
		return simple
	})
	*buffer = line
	if !simple || record.Time.IsZero() {
		return s.Handler.Handle(ctx, record)
	}
	*buffer = append(line, "}\n"...) //nolint:gocritic // the line is finished here
	_, err := s.out.Write(*buffer)
	return err
}

// appendPair appends an attribute if it is simple.
func appendPair(line []byte, attr slog.Attr) (_ []byte, simple bool) {
	line, simple = appendText(append(line, ','), attr.Key)
	if !simple || attr.Key == "" {
		return line, false
	}
	line = append(line, ':')
	switch attr.Value.Kind() {
	case slog.KindString:
		return appendText(line, attr.Value.String())
	case slog.KindInt64:
		return strconv.AppendInt(line, attr.Value.Int64(), 10), true
	case slog.KindBool:
		return strconv.AppendBool(line, attr.Value.Bool()), true
	case slog.KindFloat64:
		// Other numbers are written with an exponent.
		value := attr.Value.Float64()
		return strconv.AppendFloat(line, value, 'f', -1, 64), value == 0 || value >= 1e-6 && value < 1e21
	}
	return line, false
}

// appendText appends a quoted string if nothing in it must be escaped.
func appendText(line []byte, text string) (_ []byte, simple bool) {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return line, false
		}
	}
	line = append(slices.Grow(line, len(text)+2), '"')
	return append(append(line, text...), '"'), true
}
