package convert

import (
	"bytes"
	"fmt"
	"strings"

	"landfall/internal/api/rules"
)

// What is reported about a value that can be read in two ways, in a column with values of both kinds.
const (
	mixedNumbers = "it can be a number with thousands or one with decimals, and this column has numbers of both kinds; " + mixedRemedy
	mixedDates   = "it can be read as another date with day, month or year exchanged, and this column has dates of both kinds; " + mixedRemedy
	mixedUnits   = "it can be a number of minor units or not, because other numbers of this column have a decimal mark; " + mixedRemedy
	mixedRemedy  = "correct the others, which are reported too, or set mixed_formats: keep to read it as the map says"
)

// expression is how one attr is computed from a row, compiled once.
type expression struct {
	fixed   bool // the same for every row
	direct  bool // the column as it is
	quoted  bool // a string in JSON
	allowed bool // all possible values are valid choices
	column  int  // named in problems, or -1

	computed  bool // a sum or a product
	keepMixed bool // numbers and dates that can be read in two ways are read as the map says

	text    func(r *currentRow) []byte // nil or empty means no value
	typ     *rules.Type                // nil if only the text is needed, as in a link
	days    []*datePattern
	times   localTimes
	numbers numberFormat
	minus   []test // makes a number negative
	plus    []test // if given, says that it is positive
	shift   int    // days added to a date
	rounded int    // decimals to round to, or -1

	letters map[byte][]byte // translations of one-letter codes

	formatted bool          // it says itself how its numbers or dates are written
	choices   []*expression // of first, if one of them is formatted: the first with a value is written as it says

	when        []test                     // if given, only rows that meet it have the value
	whole       func(r *currentRow) []byte // the text without this condition, or nil
	conditional []*expression              // the parts of first or sum, if all of them have conditions
}

// holdsNumbers reports whether values of a type are numbers.
func holdsNumbers(typ *rules.Type) bool {
	return typ.Shape == rules.ShapeAmount || typ.Shape == rules.ShapeDecimal || typ.Shape == rules.ShapeInteger
}

// get returns the text of the value.
func (v *expression) get(r *currentRow) []byte {
	if v.direct {
		return r.value(v.column, true)
	}
	return v.text(r)
}

// pick returns the expression that is used and its text: of first, the part that has a value.
func (v *expression) pick(r *currentRow) (of *expression, text []byte) {
	if text = v.get(r); len(text) > 0 {
		for _, one := range v.choices {
			if part, its := one.pick(r); len(its) > 0 {
				return part, its
			}
		}
	}
	return v, text
}

// body appends a non-empty text as JSON, without surrounding quotes.
func (v *expression) body(dst []byte, r *currentRow, text []byte) []byte {
	for _, one := range v.choices {
		if text := one.get(r); len(text) > 0 {
			return one.body(dst, r, text)
		}
	}
	switch v.typ.Shape {
	case rules.ShapeBoolean:
		return v.boolean(dst, r, text)
	case rules.ShapeInteger:
		if len(v.minus) == 0 {
			if whole, is := v.numbers.copyNumber(dst, text, -1); is { // never in minor units
				return whole
			}
		}
		number := v.number(dst, r, text)
		if decimalsOf(number[len(dst):]) > 0 {
			r.fail(Unconvertible, v.column, text, "it is not a whole number")
		}
		// 12,00 is a whole number.
		if point := bytes.IndexByte(number[len(dst):], '.'); point >= 0 {
			number = number[:len(dst)+point]
		}
		return number
	case rules.ShapeAmount:
		return v.decimal(dst, r, text, 3) // the currency, which the service knows, may allow fewer
	case rules.ShapeDecimal:
		return v.decimal(dst, r, text, 10)
	case rules.ShapeDate, rules.ShapeDatetime:
		return v.moment(dst, r, text)
	}
	// Simple text needs no escaping, and neither do choices.
	if v.allowed || r.simple && v.direct && v.typ.Choices == nil {
		return append(dst, text...)
	}
	if v.typ.Choices != nil && !contains(v.typ.Choices, text) {
		r.fail(Unconvertible, v.column, text, "it must be one of "+strings.Join(v.typ.Choices, ", ")+": translate it with values")
	}
	return appendEscaped(dst, text)
}

// number appends a number, negated if its condition holds.
func (v *expression) number(dst []byte, r *currentRow, text []byte) []byte {
	negative, unknown := false, -1
	if len(v.minus) > 0 {
		negative, unknown = r.negative(v.minus)
	}
	number := v.numbers.read(dst, text, negative)
	if number == nil {
		if v.numbers.hints(text) {
			r.note(v.column, metNumber<<metOther)
		}
		r.fail(Unconvertible, v.column, text, v.numbers.whyNot(text))
		return dst
	}
	if v.numbers.doubtful(text) && r.doubt(v, metNumber) {
		r.fail(Unconvertible, v.column, text, mixedNumbers)
	}
	v.doubtUnits(r, text)
	if len(v.minus) > 0 && !isZero(number[len(dst):]) {
		v.checkSign(r, text, negative, unknown)
	}
	if v.rounded >= 0 {
		number = roundNumber(number, len(dst), v.rounded)
	}
	return number
}

// doubtUnits refuses a number in minor units if its column also has numbers with a decimal mark: then
// this one can be in either unit.
func (v *expression) doubtUnits(r *currentRow, text []byte) {
	if v.numbers.minor > 0 && r.doubt(v, metNumber) && !isZero(text) {
		r.fail(Unconvertible, v.column, text, mixedUnits)
	}
}

// isZero reports whether a number has no digit but zero.
func isZero(text []byte) bool { return !bytes.ContainsAny(text, "123456789") }

// decimal appends a number with a maximum number of decimals. Nothing is rounded unless the map says
// so.
func (v *expression) decimal(dst []byte, r *currentRow, text []byte, places int) []byte {
	if len(v.minus) == 0 && v.rounded < 0 {
		if number, is := v.numbers.copyNumber(dst, text, places); is {
			v.doubtUnits(r, text)
			return number
		}
	}
	number := v.number(dst, r, text)
	if decimalsOf(number[len(dst):]) > places {
		r.fail(Unconvertible, v.column, text, fmt.Sprintf("it has more than %d decimals", places))
	}
	return number
}

// moment appends a date or datetime.
func (v *expression) moment(dst []byte, r *currentRow, text []byte) []byte {
	if v.typ.Shape == rules.ShapeDate && len(v.days) == 1 && v.shift == 0 {
		if day, usual := v.days[0].turn(dst, text); usual {
			if turnedIsDoubtful(text) && r.doubt(v, metMonth) {
				r.fail(Unconvertible, v.column, text, mixedDates)
			}
			return day
		}
	}
	at, ok := v.dateTime(r, text)
	if !ok {
		return dst
	}
	if v.typ.Shape == rules.ShapeDate {
		return at.appendDay(dst)
	}
	instant, problem := v.times.appendInstant(dst, at)
	if problem != "" {
		r.fail(Unconvertible, v.column, text, problem)
	}
	return instant
}

// dateTime reads a date. It reports a text that several formats read as different dates.
func (v *expression) dateTime(r *currentRow, text []byte) (at dateTime, ok bool) {
	var format *datePattern
	for _, one := range v.days {
		other, reads := one.read(text)
		switch {
		case !reads:
		case !ok:
			format, at, ok = one, other, true
		case at != other:
			r.fail(Unconvertible, v.column, text, fmt.Sprintf("it is %s in the format %s and %s in the format %s; give its column one of them, with a condition if necessary",
				at.appendDay(nil), format.text, other.appendDay(nil), one.text))
			return at, false
		}
	}
	if !ok {
		for _, one := range v.days {
			r.note(v.column, one.contradicts(text)<<metOther)
		}
		r.fail(Unconvertible, v.column, text, "it is not a date in the format "+patternNames(v.days)+"; see dates, and empty for words that mean no date")
		return at, false
	}
	if r.doubt(v, format.doubtful(text, at)) {
		r.fail(Unconvertible, v.column, text, mixedDates)
	}
	if v.shift != 0 {
		if at = at.add(v.shift); at.year < 1 || at.year > 9999 {
			r.fail(Unconvertible, v.column, text, "its year is not between 1 and 9999 after adding days")
			return at, false
		}
	}
	return at, true
}

// patternNames lists patterns for a message.
func patternNames(patterns []*datePattern) string {
	var names []string
	for _, one := range patterns {
		names = append(names, one.text)
	}
	return strings.Join(names, " or ")
}

// booleanWords are the spellings of true and false.
var booleanWords = map[string]bool{
	"true": true, "yes": true, "y": true, "j": true, "ja": true, "1": true, "t": true,
	"false": false, "no": false, "n": false, "nein": false, "0": false, "f": false,
}

// boolean appends true or false.
func (v *expression) boolean(dst []byte, r *currentRow, text []byte) []byte {
	// No known word is longer, and the array needs no allocation.
	var lower [8]byte
	if len(text) <= len(lower) {
		for i, c := range text {
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			lower[i] = c
		}
		if yes, known := booleanWords[string(lower[:len(text)])]; known {
			if yes {
				return append(dst, "true"...)
			}
			return append(dst, "false"...)
		}
	}
	r.fail(Unconvertible, v.column, text, "it is neither true nor false; translate it with values: {X: true}")
	return dst
}
