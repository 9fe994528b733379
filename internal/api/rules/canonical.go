package rules

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"
)

// Canonical returns the canonical form of a JSON value as RFC 8785 defines it:
// no white space, members in the order of their names, strings with as few
// escapes as possible, numbers as ECMAScript prints them. Two spellings of the
// same value have the same form. A number that ECMAScript cannot represent is
// rounded to the nearest one that it can. The value is not modified.
func Canonical(value []byte) ([]byte, error) {
	return AppendCanonical(make([]byte, 0, len(value)), value)
}

// AppendCanonical appends the canonical form of a value.
func AppendCanonical(dst, value []byte) ([]byte, error) {
	text := unsafe.String(unsafe.SliceData(value), len(value)) //nolint:gosec // nobody changes the value meanwhile, and nothing of the text is kept
	if form, plain := appendPlainCanonical(dst, text); plain {
		return form, nil
	}
	form, err := libraryCanonical(value)
	return append(dst, form...), err
}

// libraryCanonical handles values that are not plain, and finds what is wrong with
// them.
func libraryCanonical(value []byte) ([]byte, error) {
	form := jsontext.Value(bytes.Clone(value))
	if err := form.Canonicalize(); err != nil {
		return nil, errors.New("the JSON has no canonical form") // the library's text may contain data
	}
	return form, nil
}

// SameJSON reports whether two JSON values mean the same. Unlike the canonical
// form it compares numbers exactly, however many digits they have.
func SameJSON(a, b string) bool {
	if a == b {
		return true
	}
	// Sort the members, but keep the digits.
	left, right := jsontext.Value(a), jsontext.Value(b)
	for _, value := range []*jsontext.Value{&left, &right} {
		if value.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)) != nil {
			return false
		}
	}
	return sameTokens(jsontext.NewDecoder(bytes.NewReader(left)), jsontext.NewDecoder(bytes.NewReader(right)))
}

// sameTokens compares two values whose members have the same order.
func sameTokens(a, b *jsontext.Decoder) bool {
	for {
		x, errX := a.ReadToken()
		y, errY := b.ReadToken()
		switch {
		case errX != nil || errY != nil:
			return errors.Is(errX, io.EOF) && errors.Is(errY, io.EOF)
		case x.Kind() != y.Kind(),
			x.Kind() == '"' && x.String() != y.String(),
			x.Kind() == '0' && !sameNumber(x.String(), y.String()):
			return false
		}
	}
}

// sameNumber compares JSON numbers exactly: 1, 1.0 and 10e-1 are the same.
func sameNumber(a, b string) bool {
	if a == b {
		return true
	}
	x, fits := scanNumber(a)
	y, alsoFits := scanNumber(b)
	return fits && alsoFits && x == y
}

// number is digits times a power of ten. The digits neither begin nor end with
// a zero, so every number has one form.
type number struct {
	negative bool
	digits   string
	power    int64
}

// scanNumber reads a JSON number. Numbers with an absurd exponent do not fit.
func scanNumber(text string) (n number, fits bool) {
	text, n.negative = strings.CutPrefix(text, "-")
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		power, err := strconv.ParseInt(text[at+1:], 10, 32)
		if err != nil {
			return number{}, false
		}
		text, n.power = text[:at], power
	}
	whole, fraction, _ := strings.Cut(text, ".")
	n.power -= int64(len(fraction))
	digits := strings.TrimLeft(whole+fraction, "0")
	n.digits = strings.TrimRight(digits, "0")
	n.power += int64(len(digits) - len(n.digits))
	if n.digits == "" {
		return number{}, true // zero has no sign
	}
	return n, true
}
