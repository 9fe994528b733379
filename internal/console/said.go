package console

import (
	"fmt"
	"html/template"

	"landfall/internal/lib/calendar"
)

// said writes an instant that a portrait wrote, in the reader's zone.
func (c clock) said(text any) template.HTML {
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
