package landfall_test

import (
	"crypto/rand"
	"testing"

	"landfall"
)

func TestAccountNumbersDetectTypingErrors(t *testing.T) {
	for range 200 {
		number, err := landfall.NewAccountNumber(rand.Reader)
		if err != nil || !landfall.ValidAccountNumber(number) || len(number) != 10 {
			t.Fatalf("number %q, %v", number, err)
		}
		mistyped := []byte(number)
		if mistyped[4] = '7'; number[4] == '7' {
			mistyped[4] = '8'
		}
		if landfall.ValidAccountNumber(string(mistyped)) {
			t.Errorf("%s passes for %s", mistyped, number)
		}
	}
}
