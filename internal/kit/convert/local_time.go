package convert

import (
	"fmt"
	"time"
)

// What happens to a local time that does not exist or exists twice, because the clock was changed.
const (
	clockReport  = "report"  // the row is reported
	clockEarlier = "earlier" // the earlier of the two possible instants
	clockLater   = "later"
)

// clockChoices are the values of the setting clock_changes.
var clockChoices = []string{clockReport, clockEarlier, clockLater}

// localTimes is how local times become instants.
type localTimes struct {
	zone    *time.Location
	changes string // of clockChoices
}

// appendInstant appends a local time as UTC, or says why it cannot.
func (l *localTimes) appendInstant(dst []byte, at dateTime) (text []byte, problem string) {
	if l.zone != time.UTC {
		utc, problem := l.resolve(at)
		if problem != "" {
			return dst, problem
		}
		at = dateTime{utc.Year(), int(utc.Month()), utc.Day(), utc.Hour(), utc.Minute(), utc.Second()}
	}
	return append(at.appendDay(dst), 'T', byte('0'+at.hour/10), byte('0'+at.hour%10), ':',
		byte('0'+at.minute/10), byte('0'+at.minute%10), ':', byte('0'+at.second/10), byte('0'+at.second%10), 'Z'), ""
}

// resolve finds the instant of a local time. The offsets a day before and after it are the only
// ones that it can have: no zone is more than a day from UTC or changes its clock twice in two days.
func (l *localTimes) resolve(at dateTime) (utc time.Time, problem string) {
	local := time.Date(at.year, time.Month(at.month), at.day, at.hour, at.minute, at.second, 0, time.UTC)
	before, after := l.offset(local.AddDate(0, 0, -1)), l.offset(local.AddDate(0, 0, 1))
	utc = local.Add(-before)
	if before != after {
		other := local.Add(-after)
		valid, otherValid := l.offset(utc) == before, l.offset(other) == after
		switch {
		case valid != otherValid:
			if otherValid {
				utc = other
			}
		case l.changes == clockEarlier || l.changes == clockLater:
			if other.Before(utc) == (l.changes == clockEarlier) {
				utc = other
			}
		case valid:
			return utc, fmt.Sprintf("it exists twice in %s, because the clock was put back; correct it, or choose with clock_changes", l.zone)
		default:
			return utc, fmt.Sprintf("it does not exist in %s, because the clock was put forward; correct it, or choose with clock_changes", l.zone)
		}
	}
	if utc.Year() < 1 || utc.Year() > 9999 {
		return utc, "it is out of range: its year in UTC is not between 1 and 9999; see empty for words that mean no date"
	}
	return utc, ""
}

// offset is the distance of local time from UTC at an instant.
func (l *localTimes) offset(at time.Time) time.Duration {
	_, seconds := at.In(l.zone).Zone()
	return time.Duration(seconds) * time.Second
}
