// Package calendar has the two kinds of time the service speaks: a Day without
// a zone, and an instant that is always written in UTC seconds. Each keeps its
// own range: whatever is computed with them can be written and read again.
package calendar

import (
	"cmp"
	"errors"
	"time"
)

// Day is a calendar day without a zone, from First to Last. The zero Day means
// "not given". Whatever would lead beyond the calendar ends at its edge, so
// that no Day is ever one that cannot be read back.
type Day struct{ number int64 } // days since 0000-12-31, so that the zero value is no day

// The edges of the calendar: the days that four digits of a year can name.
var (
	First = Day{number: dayNumber(1, 1, 1)}
	Last  = Day{number: dayNumber(9999, 12, 31)}
)

// ErrDay is the answer to a text that is no real calendar day.
var ErrDay = errors.New("not a calendar day written YYYY-MM-DD")

// ErrInstant is the answer to a text that is no RFC 3339 datetime with a zone.
var ErrInstant = errors.New("not a datetime with a zone")

// DayOf gives the calendar day of an instant in a zone.
func DayOf(t time.Time, zone *time.Location) Day {
	year, month, day := t.In(zone).Date()
	return Date(year, month, day)
}

// Date gives the day of a year, month and day that are known to be real, or
// the edge of the calendar that they lie beyond.
func Date(year int, month time.Month, day int) Day {
	seconds := time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix()
	return clamp((seconds - dayZero) / 86400)
}

var dayZero = time.Date(0, 12, 31, 0, 0, 0, 0, time.UTC).Unix()

// ParseDay reads YYYY-MM-DD and nothing else: years 0001 to 9999, real days.
func ParseDay(text string) (Day, error) {
	if len(text) != 10 || text[4] != '-' || text[7] != '-' {
		return Day{}, ErrDay
	}
	year, ok1 := parseDigits(text[0:4])
	month, ok2 := parseDigits(text[5:7])
	day, ok3 := parseDigits(text[8:10])
	if !ok1 || !ok2 || !ok3 || year == 0 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return Day{}, ErrDay
	}
	return Day{number: dayNumber(year, month, day)}, nil
}

// DayFromNumber gives back the Day that has a Number.
func DayFromNumber(number int64) Day {
	if number == 0 {
		return Day{}
	}
	return clamp(number)
}

func clamp(number int64) Day { return Day{number: min(max(number, First.number), Last.number)} }

// Number counts days; the zero Day is 0, and a later day has a larger number.
func (d Day) Number() int64 { return d.number }

// IsZero reports whether no day was given.
func (d Day) IsZero() bool { return d.number == 0 }

// Compare is negative when d is earlier than other, positive when later.
func (d Day) Compare(other Day) int { return cmp.Compare(d.number, other.number) }

// Before reports whether d is earlier than other.
func (d Day) Before(other Day) bool { return d.number < other.number }

// After reports whether d is later than other.
func (d Day) After(other Day) bool { return d.number > other.number }

// AddDays gives the day n days later, or the last there is. No day stays no day.
func (d Day) AddDays(n int) Day {
	if d.IsZero() {
		return d
	}
	// No day is further from another than the calendar is long.
	step := min(max(int64(n), -Last.number), Last.number)
	return clamp(d.number + step)
}

// String writes YYYY-MM-DD, or nothing for the zero Day.
func (d Day) String() string {
	if d.IsZero() {
		return ""
	}
	year, month, day := time.Unix(d.number*86400+dayZero, 0).UTC().Date()
	const of = "0123456789"
	text := [...]byte{
		of[year/1000], of[year/100%10], of[year/10%10], of[year%10], '-',
		of[month/10], of[month%10], '-', of[day/10], of[day%10],
	}
	return string(text[:])
}

// dayNumber gives the number of a real day. Every account has a dozen dates, so
// they do not take the long way through time.Time.
func dayNumber(year, month, day int) int64 {
	before := year - 1
	days := before*365 + before/4 - before/100 + before/400 + daysBefore[month-1] + day
	if month > 2 && daysIn(year, 2) == 29 {
		days++
	}
	return int64(days)
}

// daysBefore counts the days of a common year before each month.
var daysBefore = [...]int{0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334}

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

func parseDigits(text string) (int, bool) {
	value := 0
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
		value = value*10 + int(text[i]-'0')
	}
	return value, true
}
