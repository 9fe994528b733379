package calendar

import (
	"strings"
	"time"
)

// ParseInstant reads an RFC 3339 datetime with a zone and gives it in UTC,
// cut to whole seconds. A datetime without a zone is ambiguous by hours, so it
// is refused rather than guessed.
func ParseInstant(text string) (time.Time, error) {
	// time.Parse accepts a comma as the decimal mark and a lower-case "t" or
	// "z" nowhere in RFC 3339's strict profile; say no to what we do not write.
	if len(text) < 20 || len(text) > 40 || text[10] != 'T' || strings.ContainsAny(text, ",z") {
		return time.Time{}, ErrInstant
	}
	if _, err := ParseDay(text[:10]); err != nil {
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

// FormatInstant writes an instant the one way the service writes them.
func FormatInstant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }
