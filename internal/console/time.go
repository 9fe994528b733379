package console

import (
	"fmt"
	"html/template"
	"time"

	"landfall/internal/lib/calendar"
)

// timeWriter writes times as readers of one zone know them.
type timeWriter struct {
	zone *time.Location
	now  func() time.Time
}

// time writes an instant in the reader's zone, UTC on hover: today without the
// day, this year without the year.
func (c timeWriter) time(at time.Time) template.HTML {
	if at.IsZero() {
		return `<span class="quiet">never</span>`
	}
	here, now := at.In(c.zone), c.now().In(c.zone)
	layout := "2 Jan 2006, 15:04"
	switch {
	// By the reader's calendar and not by 24 hours: last night is yesterday to him.
	case here.Format(time.DateOnly) == now.Format(time.DateOnly):
		layout = "15:04:05"
	case here.Year() == now.Year():
		layout = "2 Jan, 15:04"
	}
	return timeElement(at, here.Format(layout))
}

// timeOfDay is the time of day alone.
func (c timeWriter) timeOfDay(at time.Time) template.HTML {
	if at.IsZero() {
		return ""
	}
	return timeElement(at, at.In(c.zone).Format("15:04"))
}

// day writes the day of an instant in the reader's zone.
func (c timeWriter) day(at time.Time) template.HTML {
	if at.IsZero() {
		return `<span class="quiet">never</span>`
	}
	return timeElement(at, at.In(c.zone).Format("2 Jan 2006"))
}

// ago writes how long something is away, in words: "3 minutes ago".
func (c timeWriter) ago(at time.Time) template.HTML {
	if at.IsZero() {
		return `<span class="quiet">never</span>`
	}
	return timeElement(at, distance(at.Sub(c.now())))
}

// until writes when something comes, in words and by the clock: "in 26 minutes,
// at 02:41".
func (c timeWriter) until(at time.Time) template.HTML {
	if at.IsZero() {
		return ""
	}
	return timeElement(at, distance(at.Sub(c.now()))+", at "+at.In(c.zone).Format("15:04"))
}

// timeElement keeps the exact instant beside the words, for whoever compares it with a log, which is
// in UTC.
func timeElement(at time.Time, text string) template.HTML {
	at = at.UTC()
	return template.HTML(fmt.Sprintf(`<time datetime="%s" title="%s">%s</time>`, //nolint:gosec // times and nothing else
		at.Format(time.RFC3339), at.Format("2006-01-02 15:04:05.000 UTC"), text))
}

// distance says how far away a moment is.
func distance(away time.Duration) string {
	switch {
	// The clocks of the database and of this host may differ a little; nobody is to read that
	// something happened in 20 milliseconds' time.
	case away > -time.Second && away < time.Second:
		return "now"
	case away < 0:
		return durationWords(-away) + " ago"
	}
	return "in " + durationWords(away)
}

// durationWords writes a duration in words, as exactly as anybody says it: "26 minutes",
// "3 hours 5 minutes".
func durationWords(length time.Duration) string {
	say := func(number time.Duration, noun string) string {
		if number == 1 {
			return "1 " + noun
		}
		return fmt.Sprintf("%d %ss", number, noun)
	}
	const day = 24 * time.Hour
	length = max(length, 0)
	switch {
	case length == 0:
		return "no time"
	case length < time.Second:
		return say(max(1, length.Round(time.Millisecond)/time.Millisecond), "millisecond")
	// Up to two of a unit in the smaller one: "90 seconds" says more than "2 minutes", and "1
	// minute" would be much too coarse.
	case length < 2*time.Minute:
		return say(length.Round(time.Second)/time.Second, "second")
	case length < 2*time.Hour:
		return say(length.Round(time.Minute)/time.Minute, "minute")
	// Beyond twelve hours nobody cares about minutes any more.
	case length < 12*time.Hour && length%time.Hour >= time.Minute:
		return say(length/time.Hour, "hour") + " " + say(length%time.Hour/time.Minute, "minute")
	case length < 2*day:
		return say(length.Round(time.Hour)/time.Hour, "hour")
	}
	return say(length.Round(day)/day, "day")
}

// instant writes an instant that a portrait wrote, in the reader's zone.
func (c timeWriter) instant(text any) template.HTML {
	written := fmt.Sprint(text)
	if written == "" {
		return ""
	}
	at, err := calendar.ParseInstant(written)
	// What cannot be read as an instant is shown as it is, escaped: that is still better than
	// nothing.
	if err != nil {
		return template.HTML(template.HTMLEscapeString(written)) //nolint:gosec // escaped
	}
	return c.time(at)
}

func dec(number int) int { return number - 1 }
