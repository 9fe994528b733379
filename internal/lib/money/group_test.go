package money_test

import (
	"testing"

	"landfall/internal/lib/money"
)

func TestGroupDigits(t *testing.T) {
	for number, want := range map[string]string{
		"": "", "0": "0", "999": "999", "1000": "1,000", "-999": "-999", "-1000.50": "-1,000.50", "1234567.891": "1,234,567.891",
	} {
		if got := money.GroupDigits(number); got != want {
			t.Errorf("%q: got %q, want %q", number, got, want)
		}
	}
}
