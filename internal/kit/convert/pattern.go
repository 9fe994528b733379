package convert

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// datePattern is a date or time format such as DD.MM.YYYY. Other characters must match literally.
type datePattern struct {
	text  string
	parts []patternPart
	clock bool // it includes a time
	fixed bool // DD.MM.YYYY with any separator, the usual case

	century centuryRule
	others  []*datePattern // the same with day, month or year exchanged
	way     byte           // which of them it is: metMonth or metYear
}

// patternPart is one piece of a pattern.
type patternPart struct {
	what    byte // Y M D h m s, N for the name of a month, or 0 for a literal
	literal string
	min     int // digits
	max     int
}

// tokens are the pieces of a pattern, longest first.
var tokens = []struct {
	token string
	part  patternPart
}{
	{"YYYY", patternPart{what: 'Y', min: 4, max: 4}}, {"YY", patternPart{what: 'Y', min: 2, max: 2}},
	{"MON", patternPart{what: 'N'}}, {"MM", patternPart{what: 'M', min: 2, max: 2}}, {"M", patternPart{what: 'M', min: 1, max: 2}},
	{"DD", patternPart{what: 'D', min: 2, max: 2}}, {"D", patternPart{what: 'D', min: 1, max: 2}},
	{"hh", patternPart{what: 'h', min: 2, max: 2}}, {"h", patternPart{what: 'h', min: 1, max: 2}},
	{"mm", patternPart{what: 'm', min: 2, max: 2}}, {"ss", patternPart{what: 's', min: 2, max: 2}},
}

// newPattern parses a pattern.
func newPattern(text string) (*datePattern, error) {
	p, err := parsePattern(text)
	if err == nil {
		p.exchange()
	}
	return p, err
}

// parsePattern parses a pattern without the patterns it can be confused with.
func parsePattern(text string) (*datePattern, error) {
	p := &datePattern{text: text, century: centuryRule{pivot: centuryPivot}}
	have := map[byte]bool{}
	for rest := text; rest != ""; {
		found := false
		for _, known := range tokens {
			if !strings.HasPrefix(rest, known.token) {
				continue
			}
			what := known.part.what
			// A month can be a number or a name, but only once.
			if what == 'N' {
				what = 'M'
			}
			if have[what] {
				return nil, fmt.Errorf("%q has %s twice", text, known.token)
			}
			have[what], found = true, true
			p.parts = append(p.parts, known.part)
			rest = rest[len(known.token):]
			break
		}
		if !found {
			// An unknown letter is most likely a typo. T and Z stand for themselves in many
			// formats.
			if c := rest[0]; c >= 'A' && c <= 'Z' && c != 'T' && c != 'Z' || c >= 'a' && c <= 'z' {
				return nil, fmt.Errorf("%q contains %q, which has no meaning; use YYYY, YY, MM, M, MON, DD, D, hh, h, mm and ss", text, rest[:1])
			}
			p.parts = append(p.parts, patternPart{literal: rest[:1]})
			rest = rest[1:]
		}
	}
	if !have['Y'] || !have['M'] || !have['D'] {
		return nil, fmt.Errorf("%q has no year, month or day; write it as DD.MM.YYYY", text)
	}
	p.clock = have['h']
	p.fixed = len(p.parts) == 5 && strings.HasPrefix(text, "DD") && strings.HasSuffix(text, "YYYY") && text[3:5] == "MM" && text[2] == text[5]
	return p, nil
}

// exchange adds the patterns that people confuse with this one: 03/04/05 can begin with the day, the
// month or the year.
func (p *datePattern) exchange() {
	for way, pair := range map[byte]string{metMonth: "DM", metYear: "DY"} {
		one, other := p.find(pair[0]), p.find(pair[1])
		// A month may be a name, and a year of four digits is no day.
		if one < 0 || other < 0 || p.parts[one].max != p.parts[other].max {
			continue
		}
		changed := &datePattern{way: way, text: p.text, clock: p.clock, century: p.century, parts: slices.Clone(p.parts)}
		changed.parts[one], changed.parts[other] = p.parts[other], p.parts[one]
		p.others = append(p.others, changed)
	}
}

// find returns the position of a part, or -1.
func (p *datePattern) find(what byte) int {
	return slices.IndexFunc(p.parts, func(part patternPart) bool { return part.what == what })
}

// contradicts returns in which ways a text is a date only with day, month or year exchanged, whatever is
// between and after its numbers: 4/13/2001 and 12-31-2001 00:00 begin with the month. A day that its
// month does not have, such as 30/02/25, is a mistake in one row and says nothing about the others.
func (p *datePattern) contradicts(text []byte) (ways byte) {
	numbers := bytes.FieldsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
	strict, _ := p.read(text)
	loose, own := p.inOrder(numbers)
	for _, at := range []dateTime{strict, loose} {
		if at.month >= 1 && at.month <= 12 && at.day > 28 && at.day <= 31 {
			return 0
		}
	}
	for _, other := range p.others {
		_, reads := other.read(text)
		if _, fits := other.inOrder(numbers); reads || fits && !own {
			ways |= other.way
		}
	}
	return ways
}

// inOrder reads numbers as a date in the order of the pattern.
func (p *datePattern) inOrder(numbers [][]byte) (at dateTime, ok bool) {
	for i := range p.parts {
		part := &p.parts[i]
		if part.what != 'Y' && part.what != 'M' && part.what != 'D' {
			continue
		}
		if len(numbers) == 0 || len(numbers[0]) > part.max || part.what == 'Y' && len(numbers[0]) < part.min {
			return dateTime{}, false
		}
		value, _ := strconv.Atoi(string(numbers[0]))
		if part.what == 'Y' && part.max == 2 {
			value += 2000
		}
		at.set(part, value)
		numbers = numbers[1:]
	}
	return at, at.real()
}

// doubtful returns in which ways a text that was read is another date with day, month or year exchanged.
func (p *datePattern) doubtful(text []byte, at dateTime) (ways byte) {
	for _, other := range p.others {
		if read, ok := other.read(text); ok && read != at {
			ways |= other.way
		}
	}
	return ways
}

// shortYear reports whether the year has two digits.
func (p *datePattern) shortYear() bool { return p.parts[p.find('Y')].max == 2 }

// inCentury returns the pattern with another rule for two-digit years.
func (p *datePattern) inCentury(rule centuryRule) *datePattern {
	if !p.shortYear() {
		return p
	}
	changed := *p
	changed.century, changed.others = rule, nil
	for _, other := range p.others {
		changed.others = append(changed.others, other.inCentury(rule))
	}
	return &changed
}

// dateTime is a parsed date and time.
type dateTime struct{ year, month, day, hour, minute, second int } //nolint:recvcheck // copied where it is only read

// monthNames are English. Longer forms come first, or the rest of a long one would not match.
var monthNames = [12][]string{
	{"january", "jan"}, {"february", "feb"}, {"march", "mar"}, {"april", "apr"}, {"may"}, {"june", "jun"},
	{"july", "jul"}, {"august", "aug"}, {"september", "sept", "sep"}, {"october", "oct"}, {"november", "nov"}, {"december", "dec"},
}

// centuryPivot splits two-digit years: hardly any date is more than thirty years ahead.
const centuryPivot = 50

// read parses a text. It returns false if the text does not match or is not a valid date.
func (p *datePattern) read(text []byte) (at dateTime, ok bool) {
	if p.fixed && len(text) == 10 && text[2] == p.text[2] && text[5] == p.text[2] {
		d1, d2, m1, m2 := text[0]-'0', text[1]-'0', text[3]-'0', text[4]-'0'
		y1, y2, y3, y4 := text[6]-'0', text[7]-'0', text[8]-'0', text[9]-'0'
		// Characters other than digits wrap around to more than 9.
		if max(d1, d2, m1, m2, y1, y2, y3, y4) > 9 {
			return at, false
		}
		at.day, at.month = int(d1)*10+int(d2), int(m1)*10+int(m2)
		at.year = (int(y1)*10+int(y2))*100 + int(y3)*10 + int(y4)
		return at, at.real()
	}
	i := 0
	for n := range p.parts {
		part := &p.parts[n]
		switch part.what {
		case 0:
			if i >= len(text) || text[i] != part.literal[0] {
				return at, false
			}
			i++
			continue
		case 'N':
			month, letters := parseMonth(text[i:])
			if month == 0 {
				return at, false
			}
			at.month = month
			i += letters
			continue
		}
		value, digits := 0, 0
		for digits < part.max && i < len(text) && text[i]-'0' <= 9 {
			value = value*10 + int(text[i]-'0')
			digits++
			i++
		}
		if digits < part.min {
			return at, false
		}
		// Two digits: the map says which century they mean.
		if part.what == 'Y' && part.max == 2 {
			if value += 1900; value < 1900+p.century.pivot {
				value += 100
			}
		}
		at.set(part, value)
	}
	if p.century.latest.year > 0 && at.compareDay(p.century.latest) > 0 {
		at.year -= 100
	}
	// Trailing text means another format: a date must not be read from a datetime.
	return at, i == len(text) && at.real()
}

// compareDay compares two dates without their times.
func (at dateTime) compareDay(other dateTime) int {
	return cmp.Or(cmp.Compare(at.year, other.year), cmp.Compare(at.month, other.month), cmp.Compare(at.day, other.day))
}

// add adds days.
func (at dateTime) add(days int) dateTime {
	moved := time.Date(at.year, time.Month(at.month), at.day+days, 0, 0, 0, 0, time.UTC)
	at.year, at.month, at.day = moved.Year(), int(moved.Month()), moved.Day()
	return at
}

// turn converts a date in the usual format to YYYY-MM-DD by moving its digits. It returns false for
// dates that need a calendar.
func (p *datePattern) turn(dst, text []byte) ([]byte, bool) {
	if !p.fixed || len(text) != 10 || text[2] != p.text[2] || text[5] != p.text[2] {
		return dst, false
	}
	d1, d2, m1, m2 := text[0]-'0', text[1]-'0', text[3]-'0', text[4]-'0'
	y1, y2, y3, y4 := text[6]-'0', text[7]-'0', text[8]-'0', text[9]-'0'
	// Every month has 28 days. Later days take the general path.
	if max(d1, d2, m1, m2, y1, y2, y3, y4) > 9 || d1*10+d2-1 >= 28 || m1*10+m2-1 >= 12 || y1|y2|y3|y4 == 0 {
		return dst, false
	}
	return append(dst, text[6], text[7], text[8], text[9], '-', text[3], text[4], '-', text[0], text[1]), true
}

// turnedIsDoubtful is doubtful for a date that was turned: its day can be a month.
func turnedIsDoubtful(text []byte) bool {
	return (text[0]-'0')*10+text[1]-'0' <= 12 && (text[0] != text[3] || text[1] != text[4])
}

// set stores a parsed number.
func (at *dateTime) set(part *patternPart, value int) {
	switch part.what {
	case 'Y':
		at.year = value
	case 'M':
		at.month = value
	case 'D':
		at.day = value
	case 'h':
		at.hour = value
	case 'm':
		at.minute = value
	case 's':
		at.second = value
	}
}

// parseMonth returns the month at the start of a text and the length of its name, or 0.
func parseMonth(text []byte) (month, letters int) {
	for i, forms := range monthNames {
		for _, form := range forms {
			if len(text) >= len(form) && strings.EqualFold(string(text[:len(form)]), form) {
				return i + 1, len(form)
			}
		}
	}
	return 0, 0
}

// daysInMonth has 29 days for February; leap years are checked separately.
var daysInMonth = [13]int{0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// real reports whether the date exists.
func (at dateTime) real() bool {
	leap := at.year%4 == 0 && (at.year%100 != 0 || at.year%400 == 0)
	return at.year > 0 && at.month >= 1 && at.month <= 12 && at.day >= 1 && at.day <= daysInMonth[at.month] &&
		(at.month != 2 || at.day < 29 || leap) && at.hour < 24 && at.minute < 60 && at.second < 60
}

// appendDay appends YYYY-MM-DD.
func (at dateTime) appendDay(dst []byte) []byte {
	return append(dst, byte('0'+at.year/1000), byte('0'+at.year/100%10), byte('0'+at.year/10%10), byte('0'+at.year%10),
		'-', byte('0'+at.month/10), byte('0'+at.month%10), '-', byte('0'+at.day/10), byte('0'+at.day%10))
}
