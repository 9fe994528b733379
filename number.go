package landfall

import (
	"io"
	"strings"
)

// crockford is Crockford's base32 alphabet: no I, L, O or U, so that numbers can be
// read over the telephone.
const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// accountDigits is how many random characters precede the check character.
const accountDigits = 7

// NewAccountNumber generates an account number: "A-", seven random characters and
// a check character. The store makes sure that it is unique.
func NewAccountNumber(random io.Reader) (string, error) { return newNumber("A-", random) }

// NewRunID generates the id of a run, in the form of an account number with
// another prefix.
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

// ValidAccountNumber reports whether a text has the form of an account number and
// the right check character, to tell typing mistakes from unknown numbers.
func ValidAccountNumber(text string) bool { return validNumber("A-", text) }

// ValidRunID is ValidAccountNumber for the id of a run.
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

// checkCharacter is a weighted sum modulo 31, a prime: it detects every wrong
// character and every swap of two neighbours except between 0 and Z, whose values
// are equal modulo 31. The 32nd character is never a check character.
func checkCharacter(digits []byte) byte {
	sum := 0
	for i, digit := range digits {
		sum += (i + 2) * strings.IndexByte(crockford, digit)
	}
	return crockford[sum%31]
}
