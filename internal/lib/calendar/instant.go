package calendar

import (
	"strings"
	"time"
)

// ParseInstant reads an RFC 3339 datetime with a time zone and returns it in
// UTC, truncated to seconds. A datetime without a zone is ambiguous and refused.
func ParseInstant(text string) (time.Time, error) {
	// time.Parse is more lenient than RFC 3339: it accepts a decimal comma,
	// one-digit hours, and zones such as +24:00 and +02:60.
	if len(text) < 20 || len(text) > 40 || text[10] != 'T' || text[13] != ':' || text[16] != ':' || strings.ContainsAny(text, ",z") {
		return time.Time{}, ErrInstant
	}
	if _, err := ParseDay(text[:10]); err != nil || !isZone(text) {
		return time.Time{}, ErrInstant
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, ErrInstant
	}
	t = t.UTC().Truncate(time.Second)
	if t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}, ErrInstant
	}
	return t, nil
}

// FormatInstant writes an instant in the format of the service.
func FormatInstant(t time.Time) string { return string(AppendInstant(nil, t)) }

// AppendInstant is FormatInstant without an allocation.
func AppendInstant(dst []byte, t time.Time) []byte {
	return t.UTC().AppendFormat(dst, "2006-01-02T15:04:05Z")
}

// isZone reports whether text ends with Z or a valid offset such as -09:30.
func isZone(text string) bool {
	if text[len(text)-1] == 'Z' {
		return true
	}
	offset := text[len(text)-6:]
	hours, ok1 := parseDigits(offset[1:3])
	minutes, ok2 := parseDigits(offset[4:])
	return ok1 && ok2 && hours <= 23 && minutes <= 59
}
