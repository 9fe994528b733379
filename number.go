package landfall

import (
	"io"
	"strings"
)

// crockford is Crockford's base32: no I, L, O or U, so that a number read over
// the telephone stays the number.
const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// accountDigits is how many random characters stand before the check character.
const accountDigits = 7

// NewAccountNumber draws an account number: "A-", seven random characters and
// a check character. That it is unique is the store's business.
func NewAccountNumber(random io.Reader) (string, error) { return newNumber("A-", random) }

// NewRunID draws the name of a run, in the form of an account number but for
// its beginning: people say it to each other.
func NewRunID(random io.Reader) (string, error) { return newNumber("R-", random) }

func newNumber(prefix string, random io.Reader) (string, error) {
	var drawn [accountDigits]byte
	if _, err := io.ReadFull(random, drawn[:]); err != nil {
		return "", err
	}
	number := make([]byte, 0, len(prefix)+accountDigits+1)
	number = append(number, prefix...)
	for _, b := range drawn {
		number = append(number, crockford[b&31])
	}
	return string(append(number, checkCharacter(number[2:]))), nil
}

// ValidAccountNumber reports whether a text has an account number's form and
// its check character fits, so that a typing mistake is told from an absence.
func ValidAccountNumber(text string) bool { return validNumber("A-", text) }

// ValidRunID is the same for the name of a run.
func ValidRunID(text string) bool { return validNumber("R-", text) }

func validNumber(prefix, text string) bool {
	digits, found := strings.CutPrefix(text, prefix)
	if !found || len(digits) != accountDigits+1 {
		return false
	}
	for i := range len(digits) {
		if strings.IndexByte(crockford, digits[i]) < 0 {
			return false
		}
	}
	return checkCharacter([]byte(digits[:accountDigits])) == digits[accountDigits]
}

// checkCharacter is a weighted sum modulo 31, a prime: it catches every wrong
// character and every swap of two neighbours but the pairs 0 and Z, whose
// values are equal there. The 32nd character is never a check character.
func checkCharacter(digits []byte) byte {
	sum := 0
	for i, digit := range digits {
		sum += (i + 2) * strings.IndexByte(crockford, digit)
	}
	return crockford[sum%31]
}
