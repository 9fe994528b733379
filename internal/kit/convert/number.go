package convert

// numberFormat describes how a table writes numbers. Digits are copied and never computed with, so
// nothing is rounded.
type numberFormat struct {
	decimal  byte // decimal mark
	grouping byte // thousands separator, or 0
	minor    int  // how many of the last digits are decimals: 2 for cents
	reversed bool // debits are positive
}

// maxDigits is more than any number of a book may have.
const maxDigits = 40

// read converts a number to JSON: an optional minus, digits, a point and decimals. negative inverts
// the sign, as reversed does. It returns nil if text is not a number.
func (f *numberFormat) read(dst, text []byte, negative bool) []byte {
	if plain := f.pointPosition(text); plain > 0 { // the usual case
		if negative != f.reversed {
			dst = append(dst, '-')
		}
		return append(append(append(dst, text[:plain]...), '.'), text[plain:]...)
	}
	var digits [maxDigits]byte
	count, point := 0, -1
	signed := false
	for i, c := range text {
		switch {
		case c-'0' <= 9:
			if count == maxDigits {
				return nil
			}
			digits[count] = c
			count++
		case (c == '-' || c == '+') && !signed && (i == 0 || i == len(text)-1): // some systems write 12,50-
			signed = true
			negative = negative != (c == '-')
		case c == f.decimal && point < 0:
			point = count
		// The positions of thousands separators are not checked.
		case c == f.grouping && f.grouping != 0 && point < 0 && count > 0:
		default:
			return nil
		}
	}
	if count == 0 {
		return nil
	}
	if point < 0 {
		point = count
	}
	return f.write(dst, digits[:count], point-f.minor, negative != f.reversed)
}

// copyNumber appends a number that only needs another decimal mark to be valid JSON, with at most
// the given number of decimals. It reports whether it could, which is usual.
func (f *numberFormat) copyNumber(dst, text []byte, places int) ([]byte, bool) {
	if f.reversed || len(text) > maxDigits {
		return dst, false
	}
	if f.minor > 0 {
		plain := f.pointPosition(text)
		// Too many decimals are reported by the general path.
		if plain == 0 || f.minor > places {
			return dst, false
		}
		return append(append(append(dst, text[:plain]...), '.'), text[plain:]...), true
	}
	point := len(text)
	for i, c := range text {
		if c-'0' <= 9 {
			continue
		}
		if c != f.decimal || point < len(text) {
			return dst, false
		}
		point = i
	}
	// JSON does not allow .5, 5. and 05; the general path rewrites them. With places -1, as for
	// integers, no decimal mark is allowed.
	if point == 0 || point == len(text)-1 || text[0] == '0' && point > 1 || len(text)-point-1 > places {
		return dst, false
	}
	from := len(dst)
	if dst = append(dst, text...); point < len(text) {
		dst[from+point] = '.'
	}
	return dst, true
}

// pointPosition returns where the decimal point goes in a number of digits only, or 0 if the
// general path is needed.
func (f *numberFormat) pointPosition(text []byte) int {
	if f.minor == 0 || len(text) <= f.minor || len(text) > maxDigits || text[0] == '0' {
		return 0
	}
	for _, c := range text {
		if c-'0' > 9 {
			return 0
		}
	}
	return len(text) - f.minor
}

// write inserts the decimal point, which may be before the first digit.
func (f *numberFormat) write(dst, digits []byte, point int, negative bool) []byte {
	// Minus zero is written as zero.
	zero := true
	for _, c := range digits {
		zero = zero && c == '0'
	}
	if negative && !zero {
		dst = append(dst, '-')
	}
	whole := 0
	for whole < point-1 && digits[whole] == '0' {
		whole++ // leading zeros
	}
	if point <= 0 {
		dst = append(dst, '0')
	} else {
		dst = append(dst, digits[whole:point]...)
	}
	if point < len(digits) {
		dst = append(dst, '.')
		for ; point < 0; point++ {
			dst = append(dst, '0')
		}
		dst = append(dst, digits[point:]...)
	}
	return dst
}

// decimalsOf counts the decimals of a number returned by read, without trailing zeros.
func decimalsOf(number []byte) int {
	end := len(number)
	for end > 0 && number[end-1] == '0' {
		end--
	}
	for i := range end {
		if number[i] == '.' {
			return end - i - 1
		}
	}
	return 0
}
