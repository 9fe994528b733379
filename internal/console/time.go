package console

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"

	"landfall/internal/lib/calendar"
)

// timeWriter formats times. The views are parsed once for all readers, so times whose
// text depends on the reader's time zone are written as marks, which expandTimes
// replaces.
type timeWriter struct{ now func() time.Time }

const never = `<span class="quiet">never</span>`

// How a time is written.
const (
	asTime    = 't' // today's without the date, this year's without the year
	asMinutes = 'm' // 15:04
	asSeconds = 's' // 15:04:05
	asDay     = 'd' // 2 Jan 2006
)

// timeMark encloses a time that is not written yet. No data can contain it: the
// templates replace it in what they escape.
const timeMark = "\x00"

func markTime(at time.Time, how byte) string {
	return timeMark + string(how) + strconv.FormatInt(at.UnixMicro(), 10) + timeMark
}

// expandTimes writes the marked times of a page for a reader.
func expandTimes(page string, zone *time.Location, now time.Time) string {
	var out strings.Builder
	out.Grow(len(page))
	now = now.In(zone)
	for {
		before, rest, found := strings.Cut(page, timeMark)
		out.WriteString(before)
		if !found {
			return out.String()
		}
		mark, after, _ := strings.Cut(rest, timeMark)
		if micros, err := strconv.ParseInt(mark[min(1, len(mark)):], 10, 64); err == nil {
			out.WriteString(formatTime(mark[0], time.UnixMicro(micros).In(zone), now))
		}
		page = after
	}
}

func formatTime(how byte, local, now time.Time) string {
	layout := "2 Jan 2006, 15:04"
	switch {
	case how == asMinutes:
		layout = "15:04"
	case how == asDay:
		layout = "2 Jan 2006"
	case how == asSeconds || local.Format(time.DateOnly) == now.Format(time.DateOnly):
		layout = "15:04:05"
	case local.Year() == now.Year():
		layout = "2 Jan, 15:04"
	}
	return local.Format(layout)
}

// time writes a time, with UTC on hover.
func (w timeWriter) time(at time.Time) template.HTML {
	if at.IsZero() {
		return never
	}
	return timeElement(at, markTime(at, asTime))
}

// timeOfDay writes hours and minutes.
func (w timeWriter) timeOfDay(at time.Time) template.HTML {
	if at.IsZero() {
		return ""
	}
	return timeElement(at, markTime(at, asMinutes))
}

// day writes the date of a time.
func (w timeWriter) day(at time.Time) template.HTML {
	if at.IsZero() {
		return never
	}
	return timeElement(at, markTime(at, asDay))
}

// ago writes how far away a time is: "3 minutes ago".
func (w timeWriter) ago(at time.Time) template.HTML {
	if at.IsZero() {
		return never
	}
	return timeElement(at, distance(at.Sub(w.now())))
}

// until writes when something happens: "in 26 minutes, at 02:41".
func (w timeWriter) until(at time.Time) template.HTML {
	if at.IsZero() {
		return ""
	}
	return timeElement(at, distance(at.Sub(w.now()))+", at "+markTime(at, asMinutes))
}

// instant writes a time that an account view has formatted already.
func (w timeWriter) instant(text any) template.HTML {
	written := fmt.Sprint(text)
	if written == "" {
		return ""
	}
	at, err := calendar.ParseInstant(written)
	if err != nil {
		return template.HTML(template.HTMLEscapeString(written)) //nolint:gosec // escaped
	}
	return w.time(at)
}

// timeElement adds the exact time in UTC, to compare it with a log.
func timeElement(at time.Time, text string) template.HTML {
	at = at.UTC()
	return template.HTML(fmt.Sprintf(`<time datetime="%s" title="%s">%s</time>`, //nolint:gosec // only times
		at.Format(time.RFC3339), at.Format("2006-01-02 15:04:05.000 UTC"), text))
}

func distance(away time.Duration) string {
	switch {
	// The clocks of the database and of this host may differ a little.
	case away > -time.Second && away < time.Second:
		return "now"
	case away < 0:
		return durationWords(-away) + " ago"
	}
	return "in " + durationWords(away)
}

// durationWords writes a duration in words: "26 minutes", "3 hours 5 minutes".
func durationWords(length time.Duration) string {
	const day = 24 * time.Hour
	words := func(number time.Duration, noun string) string {
		if number == 1 {
			return "1 " + noun
		}
		return fmt.Sprintf("%d %ss", number, noun)
	}
	switch {
	case length == 0:
		return "none"
	case length < time.Second:
		return words(max(1, length.Round(time.Millisecond)/time.Millisecond), "millisecond")
	// Up to two of a unit are written in the smaller one: "90 seconds" is more exact than "2 minutes".
	case length < 2*time.Minute:
		return words(length.Round(time.Second)/time.Second, "second")
	case length < 2*time.Hour:
		return words(length.Round(time.Minute)/time.Minute, "minute")
	case length < 12*time.Hour && length%time.Hour >= time.Minute:
		return words(length/time.Hour, "hour") + " " + words(length%time.Hour/time.Minute, "minute")
	case length < 2*day:
		return words(length.Round(time.Hour)/time.Hour, "hour")
	}
	return words(length.Round(day)/day, "day")
}

// durationInput writes a duration as people type it: "90d".
func durationInput(length time.Duration) string {
	switch {
	case length == 0:
		return "0"
	case length%(24*time.Hour) == 0:
		return fmt.Sprintf("%dd", length/(24*time.Hour))
	case length%time.Hour == 0:
		return fmt.Sprintf("%dh", length/time.Hour)
	}
	return length.String()
}
