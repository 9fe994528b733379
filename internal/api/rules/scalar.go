package rules

import (
	"errors"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"landfall/internal/lib/calendar"
	"landfall/internal/lib/money"
)

// boolean accepts true and false, but not as strings.
func (r *reader) boolean(node *Node, kind jsontext.Kind) {
	switch kind {
	case 't':
		node.value = 1
	case 'f':
		node.value = 0
	default:
		r.reject(node, CodeInvalidType, typeDetails[ShapeBoolean])
	}
}

// number reads integers, and amounts and decimals from a JSON number or a
// string. The digits are used as they are; no float is involved.
func (r *reader) number(node *Node, kind jsontext.Kind) {
	shape := node.typ.Shape
	if kind != '0' && (kind != '"' || shape == ShapeInteger) {
		r.reject(node, CodeInvalidType, typeDetails[shape])
		return
	}
	switch shape {
	case ShapeInteger:
		r.integer(node)
	case ShapeAmount:
		digits, err := r.digits(node)
		if err == nil && node.typ.Digits > 0 {
			_, err = money.ParseSum(digits)
		} else if err == nil {
			var amount money.Amount
			amount, err = money.ParseAmount(digits)
			node.value = int64(amount)
		}
		r.doc.thousandths = r.doc.thousandths || node.value%10 != 0
		r.decimal(node, err, "Must have at most 2 decimal places, or 3 in a currency that has three.")
	case ShapeDecimal:
		digits, err := r.digits(node)
		if err == nil {
			err = node.count(digits)
		}
		if node.typ.Digits > 0 && err == nil {
			r.digitsOf(node)
			return
		}
		r.decimal(node, err, "Must have at most 10 decimal places.")
	}
}

// digitsOf checks a decimal that has limits of its own.
func (r *reader) digitsOf(node *Node) {
	digits, places := node.Decimal().Digits()
	switch {
	case places > node.typ.Places:
		r.reject(node, CodeMaxDecimalPlaces, "Must have at most "+plural(node.typ.Places, "decimal place")+".")
	case digits > node.typ.Digits:
		r.reject(node, CodeOutOfRange, "Must have at most "+plural(node.typ.Digits, "digit")+" before the decimal point.")
	}
}

// count stores the value of a short decimal, so that it is parsed only once.
func (n *Node) count(digits string) error {
	value, err := money.ParseDecimal(digits)
	if count, places, fits := value.Parts(); err == nil && fits && digits == n.plain() {
		n.value, n.places = count, places
		n.state |= isCounted
	}
	return err
}

// digits returns a decimal without its exponent. Only JSON numbers may have one:
// in a string it is more likely a mistake.
func (r *reader) digits(node *Node) (string, error) {
	r.unquote(node)
	return node.digits()
}

func (r *reader) integer(node *Node) {
	value, err := strconv.ParseInt(node.plain(), 10, 64)
	switch {
	case errors.Is(err, strconv.ErrSyntax):
		r.reject(node, CodeInvalidType, typeDetails[ShapeInteger])
	case err != nil, value < node.typ.Low, value > node.typ.High:
		r.reject(node, CodeOutOfRange, "Must be from "+strconv.FormatInt(node.typ.Low, 10)+
			" to "+strconv.FormatInt(node.typ.High, 10)+".")
	}
	node.value = value
}

func (r *reader) decimal(node *Node, err error, places string) {
	switch {
	case err == nil:
	case errors.Is(err, money.ErrPlaces):
		r.reject(node, CodeMaxDecimalPlaces, places)
	case errors.Is(err, money.ErrRange):
		r.reject(node, CodeOutOfRange, "Must have at most "+strconv.Itoa(max(node.typ.Digits, 12))+" digits before the decimal point.")
	default:
		r.reject(node, CodeInvalidDecimal, "Must be a decimal number. In a string, exponents are not allowed.")
	}
}

// time reads dates and datetimes.
func (r *reader) time(node *Node, kind jsontext.Kind) {
	if kind != '"' {
		r.reject(node, CodeInvalidType, typeDetails[node.typ.Shape])
		return
	}
	text := r.unquote(node)
	if node.typ.Shape == ShapeDate {
		day, err := calendar.ParseDay(text)
		switch {
		case err != nil:
			r.reject(node, CodeInvalidDate, "Must be a valid date in the format YYYY-MM-DD.")
		case day.Before(earliest):
			r.reject(node, CodeOutOfRange, detailEarliest)
		}
		node.value = day.Number()
		return
	}
	instant, err := calendar.ParseInstant(text)
	switch {
	case err != nil:
		r.reject(node, CodeInvalidDatetime, "Must be a datetime with a time zone in the format YYYY-MM-DDTHH:MM:SSZ.")
	case calendar.DayOf(instant, time.UTC).Before(earliest):
		r.reject(node, CodeOutOfRange, detailEarliest)
	}
	node.value = instant.Unix()
}

// earliest is the earliest date that is accepted. Some systems write a minimum
// date for "unknown", which must not be taken for a real one.
var earliest = calendar.Date(1800, time.January, 1)

const detailEarliest = "Must not be before 1800-01-01. Leave the field out if the value is unknown."
