package app

import (
	"bytes"
	"errors"
	"log/slog"
	"math"
	"testing"
	"time"
)

// TestJSONLinesMatchTheStandardHandler writes the same records with both
// handlers.
func TestJSONLinesMatchTheStandardHandler(t *testing.T) {
	var usual, ours bytes.Buffer
	handler := slog.NewJSONHandler(&usual, nil)
	quick := jsonHandler{slog.NewJSONHandler(&ours, nil), &ours}
	for _, attr := range []slog.Attr{
		slog.String("route", "/v1/x/{a}/"), slog.String("quote", `"a\b"`), slog.String("é", "é\n\x00\u2028"), slog.String("empty", ""),
		slog.Int("status", 201), slog.Int64("bytes", math.MinInt64), slog.Bool("aborted", true), slog.Uint64("count", math.MaxUint64),
		slog.Float64("ms", 12.345), slog.Float64("ms", 0), slog.Float64("ms", 1e-7), slog.Float64("ms", 1e21), slog.Float64("ms", -3),
		slog.Float64("ms", 0.001), slog.Float64("ms", math.Inf(1)), slog.Float64("ms", 1e20), slog.Any("error", errors.New("broken")),
		slog.Duration("took", time.Second), slog.Group("group", slog.Int("a", 1)), slog.Group("", slog.Int("a", 1)), {},
	} {
		for message, at := range map[string]time.Time{
			"request": time.Now(), "": {}, `a "message"`: time.Date(2026, 11, 16, 1, 2, 3, 0, time.UTC), "at eight": time.UnixMilli(1),
		} {
			record := slog.NewRecord(at, slog.LevelInfo+1, message, 0)
			record.AddAttrs(slog.String("request_id", "abc"), attr, slog.Int("last", 1))
			for _, h := range []slog.Handler{handler, quick} {
				if err := h.Handle(t.Context(), record); err != nil {
					t.Fatal(err)
				}
			}
			if usual.String() != ours.String() {
				t.Errorf("got  %swant %s", ours.String(), usual.String())
			}
			usual.Reset()
			ours.Reset()
		}
	}
}
