package convert

// numberFormat says how a table writes numbers. Digits are moved about as they stand;
// no number is ever computed with, so none is rounded.
type numberFormat struct {
	decimal  byte // the point or comma before the decimals
	grouping byte // between thousands, or 0
	minor    int  // how many of the last digits are decimals: cents have 2
	reversed bool // what is a debit here is a credit there
}

// maxDigits is more than any number of a book may have.
const maxDigits = 40

// read gives a number as JSON texts have it: an optional minus, digits, a point
// and decimals. negative turns it round, as reversed does. It is nil for what is
// no number.
func (f *numberFormat) read(dst, text []byte, negative bool) []byte {
	if plain := f.pointPosition(text); plain > 0 { // nearly all of them
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
		case (c == '-' || c == '+') && !signed && (i == 0 || i == len(text)-1): // 12,50- is how some write a minus
			signed = true
			negative = negative != (c == '-')
		case c == f.decimal && point < 0:
			point = count
		// Where the marks between thousands stand is not checked: without them the
		// digits are the same number.
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

// copyNumber appends a number that is in JSON what it is in the table but for
// the mark before its decimals, of which it has so many at most. Few are not.
func (f *numberFormat) copyNumber(dst, text []byte, places int) ([]byte, bool) {
	if f.reversed || len(text) > maxDigits {
		return dst, false
	}
	if f.minor > 0 {
		plain := f.pointPosition(text)
		// More decimals than the attr may have go the long way, which says so.
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
	// JSON has no .5, no 5. and no 05; the long way writes them as it wants them.
	// With places of -1 no mark may be there at all, which is what whole numbers
	// ask for.
	if point == 0 || point == len(text)-1 || text[0] == '0' && point > 1 || len(text)-point-1 > places {
		return dst, false
	}
	from := len(dst)
	if dst = append(dst, text...); point < len(text) {
		dst[from+point] = '.'
	}
	return dst, true
}

// pointPosition gives where the point goes in a number that is nothing but digits, more
// than there are decimals; 0 for all others.
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

// write puts the point behind so many digits, which may be before the first.
func (f *numberFormat) write(dst, digits []byte, point int, negative bool) []byte {
	// Minus nothing and nothing are one sum, and written in one way they are one
	// text.
	zero := true
	for _, c := range digits {
		zero = zero && c == '0'
	}
	if negative && !zero {
		dst = append(dst, '-')
	}
	whole := 0
	for whole < point-1 && digits[whole] == '0' {
		whole++ // zeros in front
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

// decimalsOf counts the decimals of a number as read gives it, zeros at the end
// left out.
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
