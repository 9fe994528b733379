package money_test

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"landfall/internal/lib/money"
)

func TestTotalPrintsEverything(t *testing.T) {
	for number, want := range map[int64]string{
		0: "0.00", 5: "0.005", 50: "0.05", -50: "-0.05", 1000: "1.00", -12340: "-12.34", -12345: "-12.345", math.MaxInt64: "9223372036854775.807",
	} {
		if got := money.TotalOf(number).String(); got != want {
			t.Errorf("%d is %s, not %s", number, got, want)
		}
		if back, err := money.ParseTotal(want); err != nil || back != money.TotalOf(number) {
			t.Errorf("%s is read as %v, %v", want, back, err)
		}
	}
}

func TestMalformedTotalsAreRefused(t *testing.T) {
	for _, text := range []string{"", "1", "1.0", "1.0000", "x.00", "1,000.00", "999999999999999999999999999999999999999999.00"} {
		if total, err := money.ParseTotal(text); err == nil {
			t.Errorf("%q is read as %v", text, total)
		}
	}
}

// TestTotalsBeyondAmounts adds amounts to more than 64 bits and compares the
// total with big integers.
func TestTotalsBeyondAmounts(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		total, want := money.Total{}, new(big.Int)
		for _, number := range rapid.SliceOf(rapid.Int64()).Draw(r, "numbers") {
			if rapid.Bool().Draw(r, "minus") {
				total = total.Minus(money.TotalOf(number))
				want.Sub(want, big.NewInt(number))
			} else {
				total = total.Plus(money.TotalOf(number).Times(1000)).Minus(money.TotalOf(number).Times(999))
				want.Add(want, big.NewInt(number))
			}
		}
		minor := new(big.Int).Abs(want)
		whole, rest := new(big.Int).QuoRem(minor, big.NewInt(1000), new(big.Int))
		text := whole.String() + "." + strings.TrimSuffix(fmt.Sprintf("%03d", rest.Int64()), "0")
		if want.Sign() < 0 {
			text = "-" + text
		}
		if total.String() != text || total.Negative() != (want.Sign() < 0) || total.Zero() != (want.Sign() == 0) {
			t.Errorf("%s, not %s", total, text)
		}
	})
}
