package convert

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"landfall/internal/api/rules"
)

// expression is how one attr is made of a row, put together once when the map is
// read.
type expression struct {
	fixed   bool // it is the same for every row
	direct  bool // it is what stands in the column
	quoted  bool // it is a text in JSON
	allowed bool // everything it can be is one of the choices of its attr
	column  int  // the one that is named when something is wrong, or -1

	text    func(r *currentRow) []byte // nothing when it is empty
	typ     *rules.Type                // nil where only the text is wanted, as in a link
	days    []*datePattern
	zone    *time.Location
	numbers numberFormat
	minus   []test // makes a number negative

	letters map[byte][]byte // translations of codes of one letter
}

// get gives the text of a value before it becomes JSON.
func (v *expression) get(r *currentRow) []byte {
	if v.direct {
		return r.cell(v.column, true)
	}
	return v.text(r)
}

// body appends the JSON of a text that is not empty, without the quotes that
// some shapes have round it.
func (v *expression) body(dst []byte, r *currentRow, text []byte) []byte {
	switch v.typ.Shape {
	case rules.ShapeBoolean:
		return v.boolean(dst, r, text)
	case rules.ShapeInteger:
		if len(v.minus) == 0 {
			if whole, is := v.numbers.copyNumber(dst, text, -1); is {
				return whole
			}
		}
		number := v.number(dst, r, text)
		if decimalsOf(number[len(dst):]) > 0 {
			r.fail(Unconvertible, v.column, text, "it is no whole number")
		}
		// Decimals that are all zero are none: 12,00 is a whole number.
		if point := bytes.IndexByte(number[len(dst):], '.'); point >= 0 {
			number = number[:len(dst)+point]
		}
		return number
	case rules.ShapeAmount:
		return v.decimal(dst, r, text, 2)
	case rules.ShapeDecimal:
		return v.decimal(dst, r, text, 10)
	case rules.ShapeDate, rules.ShapeDatetime:
		return v.moment(dst, r, text)
	}
	// What is simple needs no escapes, and what was vetted is one of the choices,
	// which need none either.
	if v.allowed || r.simple && v.direct && v.typ.Choices == nil {
		return append(dst, text...)
	}
	if v.typ.Choices != nil && !contains(v.typ.Choices, text) {
		r.fail(Unconvertible, v.column, text, "it must be one of "+strings.Join(v.typ.Choices, ", ")+": translate it with values")
	}
	return appendEscaped(dst, text)
}

// number writes a number as JSON has it, with the sign its condition gives
// it.
func (v *expression) number(dst []byte, r *currentRow, text []byte) []byte {
	number := v.numbers.read(dst, text, len(v.minus) > 0 && r.passes(v.minus))
	if number == nil {
		r.fail(Unconvertible, v.column, text, fmt.Sprintf("it is no number with %q before its decimals; see decimal and grouping", v.numbers.decimal))
		return dst
	}
	return number
}

// decimal writes a number that must have so many places, or says why it
// cannot without rounding: money is not rounded in silence.
func (v *expression) decimal(dst []byte, r *currentRow, text []byte, places int) []byte {
	if len(v.minus) == 0 {
		if number, is := v.numbers.copyNumber(dst, text, places); is {
			return number
		}
	}
	number := v.number(dst, r, text)
	if decimalsOf(number[len(dst):]) > places {
		r.fail(Unconvertible, v.column, text, fmt.Sprintf("it has more than %d decimals", places))
	}
	return number
}

// moment writes a day or an instant by the first pattern that fits.
func (v *expression) moment(dst []byte, r *currentRow, text []byte) []byte {
	for _, pattern := range v.days {
		if v.typ.Shape == rules.ShapeDate {
			if day, usual := pattern.turn(dst, text); usual {
				return day
			}
		}
		at, ok := pattern.read(text)
		if !ok {
			continue
		}
		if v.typ.Shape == rules.ShapeDate {
			return at.appendDay(dst)
		}
		return at.appendInstant(dst, v.zone)
	}
	r.fail(Unconvertible, v.column, text, "it is no day written as "+patternNames(v.days)+"; see dates, and empty for what stands for none")
	return dst
}

// patternNames lists the patterns for a message.
func patternNames(patterns []*datePattern) string {
	var names []string
	for _, pattern := range patterns {
		names = append(names, pattern.text)
	}
	return strings.Join(names, " or ")
}

// booleanWords are the ways in which tables say yes and no when no values are given.
var booleanWords = map[string]bool{
	"true": true, "yes": true, "y": true, "j": true, "ja": true, "1": true, "t": true,
	"false": false, "no": false, "n": false, "nein": false, "0": false, "f": false,
}

// boolean reads yes and no in the ways old systems write them.
func (v *expression) boolean(dst []byte, r *currentRow, text []byte) []byte {
	// No word that is known is longer, and an array of fixed length needs no memory
	// of its own.
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
	r.fail(Unconvertible, v.column, text, "it is neither yes nor no; translate it with values: {X: true}")
	return dst
}

// The texts values are made of, each a step on top of another.
