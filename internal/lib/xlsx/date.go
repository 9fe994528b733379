package xlsx

import (
	"fmt"
	"math"
	"time"
)

// Excel counts days. Its 1900 has a February 29 that never was, so that day 61 is the first one that
// other calendars agree with.
const (
	leapDay = 60
	lastDay = 2_958_465 // 9999-12-31
)

// date converts the number of a day, with the time as its fraction.
func (w *Workbook) date(number float64, style styleKind) Cell {
	const secondsOfDay = 24 * 60 * 60
	seconds := int64(math.Round(number * secondsOfDay))
	if style == durationStyle { // a number of hours, whatever the day
		sign := ""
		if seconds < 0 {
			sign, seconds = "-", -seconds
		}
		return Cell{Text, fmt.Sprintf("%s%d:%02d:%02d", sign, seconds/3600, seconds/60%60, seconds%60)}
	}
	day, clock := seconds/secondsOfDay, seconds%secondsOfDay
	if style == clockStyle && day == 0 && number >= 0 {
		return Cell{Date, time.Unix(clock, 0).UTC().Format(time.TimeOnly)}
	}
	var at time.Time
	switch {
	case w.from1904 && number >= 0 && day <= lastDay-1462:
		at = time.Date(1904, 1, 1+int(day), 0, 0, 0, 0, time.UTC)
	case w.from1904 || number < 1 || day == leapDay || day > lastDay:
		return Cell{Error, fmt.Sprintf("%v is not a date", number)}
	case day < leapDay:
		at = time.Date(1899, 12, 31+int(day), 0, 0, 0, 0, time.UTC)
	default:
		at = time.Date(1899, 12, 30+int(day), 0, 0, 0, 0, time.UTC)
	}
	// What the cell does not show is not meant, and midnight is a date.
	if style == dayStyle || clock == 0 {
		return Cell{Date, at.Format(time.DateOnly)}
	}
	return Cell{Date, at.Add(time.Duration(clock) * time.Second).Format(time.DateTime)}
}
