package money

import (
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// slow returns a decimal that only the library computes with.
func slow(d Decimal) Decimal { return fromLibrary(d.value()) }

// sameAsTheLibrary compares the arithmetic of two decimals, and of its results,
// with that of the library.
func sameAsTheLibrary(t *testing.T, a, b Decimal) {
	t.Helper()
	product, sum, difference := a.Mul(b), a.Add(b), a.Sub(b)
	for operation, results := range map[string][2]Decimal{
		"*": {product, slow(a).Mul(slow(b))}, "+": {sum, slow(a).Add(slow(b))}, "-": {difference, slow(a).Sub(slow(b))},
		"*+": {product.Add(a), slow(a).Mul(slow(b)).Add(slow(a))}, "*-": {product.Sub(sum), slow(a).Mul(slow(b)).Sub(slow(sum))},
	} {
		quick, exactly := results[0], results[1]
		if quick.String() != exactly.String() || quick.Compare(exactly) != 0 {
			t.Fatalf("%s %s %s is %s, the library says %s", a, operation, b, quick, exactly)
		}
		round, err := quick.Round(2)
		wanted, wantedErr := exactly.Round(2)
		if round != wanted || !errors.Is(err, wantedErr) {
			t.Fatalf("%s is rounded to %s (%v), by the library to %s (%v)", quick, round, err, wanted, wantedErr)
		}
		for _, tolerance := range []Amount{0, 1, 100} {
			apart := exactly.value().Sub(b.value()).Abs()
			if near := apart.Cmp(tolerance.Decimal().value()) <= 0; quick.Near(b, tolerance) != near || exactly.Near(b, tolerance) != near {
				t.Fatalf("%s near %s by %s: the library says %v", quick, b, tolerance, near)
			}
		}
		if order := quick.value().Cmp(b.value()); quick.Compare(b) != order || b.Compare(quick) != -order {
			t.Fatalf("%s and %s: the library says %d", quick, b, order)
		}
	}
}

func FuzzArithmetic(f *testing.F) {
	for _, seed := range [][2]string{
		{"0.2853", "123.4"}, {"-0", "0.00"}, {"999999999999.999999", "-999999999999.999999"}, {"0.0000000001", "0.0000000001"},
		{"999999999999.9999999999", "1.50000000000000000"}, {"92233720368.54775807", "1"}, {"0.005", "-1"}, {"35.21", "35.20"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, left, right string) {
		a, err := ParseDecimal(left)
		b, other := ParseDecimal(right)
		if err == nil && other == nil {
			sameAsTheLibrary(t, a, b)
		}
	})
}

// TestSmallDecimalsMatchTheLibrary uses random numbers of every length,
// many of them with digits that come close to an overflow.
func TestSmallDecimalsMatchTheLibrary(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	draw := func() Decimal {
		number := func(length int) string {
			if random.IntN(3) == 0 {
				return strings.Repeat("9", length)
			}
			return strconv.FormatUint(1+random.Uint64N(uint64(math.Pow10(length))-1), 10)
		}
		text := []string{"", "-"}[random.IntN(2)] + []string{"0", number(1 + random.IntN(12))}[random.IntN(2)]
		if places := random.IntN(11); places > 0 {
			digits := number(places)
			text += "." + strings.Repeat("0", places-len(digits)) + digits + strings.Repeat("0", random.IntN(2)*random.IntN(12))
		}
		return decimalOf(t, text)
	}
	for range 20_000 {
		sameAsTheLibrary(t, draw(), draw())
	}
	edges := []Decimal{{}, Amount(math.MaxInt64).Decimal(), Amount(-math.MaxInt64).Decimal(), Amount(math.MinInt64).Decimal(), Amount(1).Decimal()}
	for _, a := range edges {
		for _, b := range edges {
			sameAsTheLibrary(t, a, b)
		}
	}
}

// FuzzParseSmall checks that parseSmall accepts exactly the short numbers that
// split accepts, and reads the same value.
func FuzzParseSmall(f *testing.F) {
	for _, seed := range []string{"0", "-0.00", "12.30", "01", "1.", ".1", "-", "", "1..2", "123456789012.123456", "1234567890123", "0.1234567890123456789", "--1", "1e1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		value, is := parseSmall(text)
		n, err := split(text)
		if fits := err == nil && len(n.whole)+len(n.fraction) <= maxPlaces; is != fits {
			t.Fatalf("%q is read: %v, its parts: %v (%v)", text, is, n, err)
		}
		if is && (Decimal{text: text, large: true}).Compare(Decimal{small: value}) != 0 {
			t.Fatalf("%q is read as %+v", text, value)
		}
	})
}
