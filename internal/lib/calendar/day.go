// Package calendar has the two kinds of time of the service: a Day without a
// time zone, and instants that are always written in UTC seconds. Both have a
// limited range, so that every result can be written and read again.
package calendar

import (
	"cmp"
	"errors"
	"time"
)

// Day is a calendar day without a time zone, from First to Last. The zero Day
// means "not given". Results outside the range are clamped to it.
type Day struct{ number int64 } // days since 0000-12-31, so that the zero value is no day

// First and Last are the limits of a four-digit year.
var (
	First = Day{number: dayNumber(1, 1, 1)}
	Last  = Day{number: dayNumber(9999, 12, 31)}
)

// ErrDay is returned for a text that is not a valid date.
var ErrDay = errors.New("not a calendar day written YYYY-MM-DD")

// ErrInstant is returned for a text that is not an RFC 3339 datetime with a time
// zone.
var ErrInstant = errors.New("not a datetime with a zone")

// DayOf returns the calendar day of an instant in a time zone.
func DayOf(t time.Time, zone *time.Location) Day {
	year, month, day := t.In(zone).Date()
	return Date(year, month, day)
}

// Date returns the day of a valid year, month and day, clamped to First and
// Last.
func Date(year int, month time.Month, day int) Day {
	seconds := time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix()
	return clamp((seconds - dayZero) / 86400)
}

var dayZero = time.Date(0, 12, 31, 0, 0, 0, 0, time.UTC).Unix()

// ParseDay reads YYYY-MM-DD: years 0001 to 9999, valid days only.
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

// DayFromNumber returns the Day with a Number.
func DayFromNumber(number int64) Day {
	if number == 0 {
		return Day{}
	}
	return clamp(number)
}

func clamp(number int64) Day { return Day{number: min(max(number, First.number), Last.number)} }

// Number returns the number of the day: 0 for the zero Day, and larger for later
// days.
func (d Day) Number() int64 { return d.number }

// IsZero reports whether no day was given.
func (d Day) IsZero() bool { return d.number == 0 }

// Compare is negative when d is earlier than other, positive when later.
func (d Day) Compare(other Day) int { return cmp.Compare(d.number, other.number) }

// Before reports whether d is earlier than other.
func (d Day) Before(other Day) bool { return d.number < other.number }

// After reports whether d is later than other.
func (d Day) After(other Day) bool { return d.number > other.number }

// AddDays returns the day n days later, clamped to First and Last. The zero Day
// stays zero.
func (d Day) AddDays(n int) Day {
	if d.IsZero() {
		return d
	}
	// Limit n first, to avoid an overflow.
	step := min(max(int64(n), -Last.number), Last.number)
	return clamp(d.number + step)
}

// String writes YYYY-MM-DD, or "" for the zero Day.
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

// dayNumber returns the number of a valid day. Every account has a dozen dates,
// so it avoids time.Time.
func dayNumber(year, month, day int) int64 {
	before := year - 1
	days := before*365 + before/4 - before/100 + before/400 + daysBefore[month-1] + day
	if month > 2 && daysIn(year, 2) == 29 {
		days++
	}
	return int64(days)
}

// daysBefore is the number of days before each month in a common year.
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
