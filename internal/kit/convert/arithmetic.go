package convert

import (
	"bytes"
	"math/big"
)

// exact is a decimal number: an integer and how many of its digits are decimals. Sums and products
// are exact.
type exact struct {
	value  big.Int
	places int
}

// isoDay reads the dates of conditions.
var isoDay = func() *datePattern {
	p, _ := parsePattern("YYYY-MM-DD")
	return p
}()

// parseExact reads a number as JSON writes it.
func parseExact(text []byte) (*exact, bool) {
	f := numberFormat{decimal: '.'}
	number := f.read(nil, text, false)
	if number == nil {
		return nil, false
	}
	n := &exact{}
	if point := bytes.IndexByte(number, '.'); point >= 0 {
		n.places = len(number) - point - 1
		number = append(number[:point], number[point+1:]...)
	}
	_, ok := n.value.SetString(string(number), 10)
	return n, ok
}

// scaleTo gives both numbers the same number of decimals.
func (n *exact) scaleTo(places int) {
	if places > n.places {
		n.value.Mul(&n.value, powerOfTen(places-n.places))
		n.places = places
	}
}

// powerOfTen returns 10 to the power of a small number.
func powerOfTen(exponent int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(exponent)), nil)
}

// compare compares two numbers.
func (n *exact) compare(other *exact) int {
	a, b := *n, *other
	a.value, b.value = *new(big.Int).Set(&n.value), *new(big.Int).Set(&other.value)
	a.scaleTo(b.places)
	b.scaleTo(a.places)
	return a.value.Cmp(&b.value)
}

// append appends the number as JSON writes it.
func (n *exact) append(dst []byte) []byte {
	digits := new(big.Int).Abs(&n.value).Append(nil, 10)
	for len(digits) <= n.places {
		digits = append([]byte{'0'}, digits...)
	}
	if n.value.Sign() < 0 {
		dst = append(dst, '-')
	}
	dst = append(dst, digits[:len(digits)-n.places]...)
	if n.places > 0 {
		dst = append(append(dst, '.'), digits[len(digits)-n.places:]...)
	}
	return dst
}

// arithmeticText adds or multiplies several values. A sum leaves empty values out; a product with an
// empty value is empty.
func arithmeticText(parts []*expression, product bool) func(*currentRow) []byte {
	return func(r *currentRow) []byte {
		var result *exact
		for _, part := range parts {
			part, text := part.pick(r)
			if len(text) == 0 {
				if product {
					return nil
				}
				continue
			}
			n, ok := parseExact(part.number(nil, r, text))
			switch {
			case !ok:
				return nil // the row has failed
			case result == nil:
				result = n
			case product:
				result.value.Mul(&result.value, &n.value)
				result.places += n.places
			default:
				n.scaleTo(result.places)
				result.scaleTo(n.places)
				result.value.Add(&result.value, &n.value)
			}
		}
		if result == nil {
			return nil
		}
		return result.append(nil)
	}
}

// scaledText converts a computed number from minor units.
func scaledText(of func(*currentRow) []byte, minor int) func(*currentRow) []byte {
	if minor == 0 {
		return of
	}
	return func(r *currentRow) []byte {
		n, ok := parseExact(of(r))
		if !ok {
			return nil
		}
		n.places += minor
		return n.append(nil)
	}
}

// roundNumber rounds the number that starts at an offset to some decimals, half away from zero.
func roundNumber(dst []byte, from, places int) []byte {
	n, ok := parseExact(dst[from:])
	if !ok || n.places <= places {
		return dst
	}
	unit := powerOfTen(n.places - places)
	half := new(big.Int).Quo(unit, big.NewInt(2))
	if n.value.Sign() < 0 {
		half.Neg(half)
	}
	n.value.Quo(n.value.Add(&n.value, half), unit)
	n.places = places
	return n.append(dst[:from])
}

// bound is a comparison of a column with a number or a date.
type bound struct {
	name   string // above, at_least, below or at_most
	number *exact // or nil
	day    dateTime
	of     *expression
}

// holds compares. An empty value is neither above nor below anything; one that cannot be read is
// reported.
func (b *bound) holds(r *currentRow, text []byte) bool {
	if len(text) == 0 {
		return false
	}
	var order int
	if b.number != nil {
		n, ok := parseExact(b.of.number(nil, r, text))
		if !ok {
			return false
		}
		order = n.compare(b.number)
	} else {
		at, ok := b.of.dateTime(r, text)
		if !ok {
			return false
		}
		order = at.compareDay(b.day)
	}
	switch b.name {
	case "above":
		return order > 0
	case "at_least":
		return order >= 0
	case "below":
		return order < 0
	}
	return order <= 0
}
