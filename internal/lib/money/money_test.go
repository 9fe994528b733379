package money

import (
	"errors"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
)

func TestParseAmount(t *testing.T) {
	for _, c := range []struct {
		text, want string
		err        error
	}{
		{"0", "0.00", nil}, {"-0", "0.00", nil}, {"-0.00", "0.00", nil}, {"12", "12.00", nil}, {"-0.5", "-0.50", nil}, {"-0.01", "-0.01", nil},
		{"0.29", "0.29", nil}, {"1.10", "1.10", nil}, {"1.500", "1.50", nil}, {"0.07", "0.07", nil},
		{"999999999999.99", "999999999999.99", nil}, {"-999999999999.99", "-999999999999.99", nil},
		{"1000000000000", "", ErrRange}, {"-1000000000000.00", "", ErrRange}, {strings.Repeat("9", 100), "", ErrRange},
		{"10.005", "10.005", nil}, {"0.125", "0.125", nil}, {"-0.001", "-0.001", nil}, {"1.2340", "1.234", nil}, {"999999999999.999", "999999999999.999", nil},
		{"10.0005", "", ErrPlaces}, {"0.1234", "", ErrPlaces}, {"0." + strings.Repeat("0", 100), "", ErrPlaces},
		{"", "", ErrSyntax}, {"-", "", ErrSyntax}, {"+1", "", ErrSyntax}, {".5", "", ErrSyntax}, {"5.", "", ErrSyntax}, {"01", "", ErrSyntax},
		{"-01", "", ErrSyntax}, {"00", "", ErrSyntax}, {"--1", "", ErrSyntax}, {"1.2.3", "", ErrSyntax}, {"0x10", "", ErrSyntax},
		{"1e2", "", ErrSyntax}, {"1E2", "", ErrSyntax}, {"1e400", "", ErrSyntax}, {"1e20000000", "", ErrSyntax}, {"NaN", "", ErrSyntax},
		{"Infinity", "", ErrSyntax}, {" 1", "", ErrSyntax}, {"1 ", "", ErrSyntax}, {"1,00", "", ErrSyntax}, {"1_000", "", ErrSyntax}, {"٣", "", ErrSyntax},
	} {
		got, err := ParseAmount(c.text)
		if !errors.Is(err, c.err) || err == nil && got.String() != c.want {
			t.Errorf("%s: got %s and %v, want %s and %v", c.text, got, err, c.want, c.err)
		}
	}
}

func TestParseDecimalKeepsItsSpelling(t *testing.T) {
	for _, c := range []struct {
		text string
		err  error
	}{
		{"1.10", nil}, {"-0.00", nil}, {"9007199254740.993", ErrRange}, {"0.1234567890", nil}, {"0.12345678900000", nil},
		{"0.12345678901", ErrPlaces}, {"999999999999.9999999999", nil}, {"1e-3", ErrSyntax}, {".5", ErrSyntax},
	} {
		got, err := ParseDecimal(c.text)
		if !errors.Is(err, c.err) || err == nil && got.String() != c.text {
			t.Errorf("%s: got %s and %v", c.text, got, err)
		}
	}
	if (Decimal{}).String() != "0" || (Decimal{}).Compare(Decimal{}) != 0 {
		t.Error("the zero Decimal is not 0")
	}
}

func decimalOf(t *testing.T, text string) Decimal {
	t.Helper()
	d, err := ParseDecimal(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return d
}

func TestArithmeticIsExact(t *testing.T) {
	d := func(text string) Decimal { return decimalOf(t, text) }
	if got := d("0.1").Add(d("0.2")); got.Compare(d("0.3")) != 0 {
		t.Errorf("0.1 + 0.2 = %s", got)
	}
	if got := d("0.3").Sub(d("0.1")); got.String() != "0.2" {
		t.Errorf("0.3 - 0.1 = %s", got)
	}
	if got := d("0.1234567891").Mul(d("-999999999999.9999999999")); got.String() != "-123456789099.99999999998765432109" {
		t.Errorf("product %s", got)
	}
	if d("1.10").Compare(d("1.1")) != 0 || d("-1").Compare(d("1")) >= 0 || d("2").Compare(d("1")) <= 0 {
		t.Error("comparison goes by spelling")
	}
}

func TestRoundGoesAwayFromZero(t *testing.T) {
	for text, want := range map[string]string{
		"0.005": "0.01", "-0.005": "-0.01", "0.0049999999": "0.00", "-0.0049999999": "0.00", "1.115": "1.12", "2.675": "2.68", "7": "7.00",
	} {
		if got, err := decimalOf(t, text).Round(2); err != nil || got.String() != want {
			t.Errorf("%s: got %s, want %s (%v)", text, got, want, err)
		}
	}
	large := decimalOf(t, "999999999999")
	if _, err := large.Mul(large).Round(2); !errors.Is(err, ErrRange) {
		t.Errorf("a product beyond all amounts gave %v", err)
	}
}

func TestTheCurrencyDecidesTheDecimals(t *testing.T) {
	for currency, want := range map[string]struct{ rounded, unit, fromMinor string }{
		"GBP": {"1.24", "0.01", "19.99"}, "KWD": {"1.235", "0.001", "1.999"}, "JPY": {"1.00", "1.00", "1999.00"},
	} {
		places := Places(currency)
		rounded, err := decimalOf(t, "1.2349").Round(places)
		if err == nil && currency == "GBP" {
			rounded, err = decimalOf(t, "1.235").Round(places)
		}
		minor, whole := FromMinor(1999*Unit, places)
		if err != nil || rounded.String() != want.rounded || MinorUnit(places).String() != want.unit || !whole || minor.String() != want.fromMinor {
			t.Errorf("%s: %s, %s, %s (%v)", currency, rounded, MinorUnit(places), minor, err)
		}
		if !MinorUnit(places).Fits(places) || places > 0 && MinorUnit(places).Fits(places-1) {
			t.Errorf("%s: which amounts fit is wrong", currency)
		}
	}
	if _, whole := FromMinor(Unit/2, 2); whole {
		t.Error("half a penny is a whole number of pence")
	}
}

func TestNear(t *testing.T) {
	price, units := decimalOf(t, "0.2853"), decimalOf(t, "123.4") // 35.20602
	for net, want := range map[Amount]bool{35190: false, 35200: true, 35210: true, 35220: false} {
		if got := price.Mul(units).Near(net.Decimal(), MinorUnit(2)); got != want {
			t.Errorf("35.20602 near %s: %v", net, got)
		}
	}
	if !decimalOf(t, "35.21").Near(Amount(35200).Decimal(), MinorUnit(2)) || decimalOf(t, "35.2100000001").Near(Amount(35200).Decimal(), MinorUnit(2)) {
		t.Error("the tolerance itself is not the border")
	}
}

// FuzzParse compares both readers with big.Rat, which is exact but lenient.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{"0", "-0.00", "12.30", "1e9", "999999999999.99", "0.1234567890", "01", "+1", ".5", "0x1p4"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		amount, errAmount := ParseAmount(text)
		d, errDecimal := ParseDecimal(text)
		if errAmount == nil && errDecimal != nil {
			t.Fatalf("%q is an amount but no decimal", text)
		}
		if errDecimal != nil {
			return
		}
		exact, ok := new(big.Rat).SetString(text)
		if !ok || d.String() != text {
			t.Fatalf("%q was accepted as %s", text, d)
		}
		if again, ok := new(big.Rat).SetString(d.Add(Decimal{}).String()); !ok || again.Cmp(exact) != 0 {
			t.Fatalf("%q computes as %s", text, d.Add(Decimal{}))
		}
		if errAmount == nil && new(big.Rat).SetFrac64(int64(amount), int64(Unit)).Cmp(exact) != 0 {
			t.Fatalf("%q was read as %s", text, amount)
		}
		if again, err := ParseAmount(amount.String()); err != nil || again != amount {
			t.Fatalf("%s does not read back: %v", amount, err)
		}
	})
}

func BenchmarkParseAmount(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseAmount("-123456.78"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkNear(b *testing.B) {
	price, _ := ParseDecimal("0.2853")
	units, _ := ParseDecimal("123.4")
	b.ReportAllocs()
	for b.Loop() {
		if !price.Mul(units).Near(Amount(35210).Decimal(), MinorUnit(2)) {
			b.Fatal("not near")
		}
	}
}

func TestPlainRemovesExponents(t *testing.T) {
	for text, want := range map[string]string{
		"1e-05": "0.00001", "5E1": "50", "1.5e+3": "1500", "-1.25e1": "-12.5", "123456e-2": "1234.56", "0.00012e4": "1.2", "1234567890123e-3": "1234567890.123",
		"0e999999999999999999999": "0", "-0.0E5": "-0", "12": "12", "1.50": "1.50", "100e-2": "1.00", "1e11": "100000000000",
		"1e12": ErrRange.Error(), "1e20000000": ErrRange.Error(), "1e99999999999999999999": ErrRange.Error(), "1e-99999999999999999999": ErrPlaces.Error(), "1e-65": ErrPlaces.Error(),
	} {
		got, err := Plain(text)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// FuzzPlain checks that removing an exponent does not change the number.
func FuzzPlain(f *testing.F) {
	f.Add("1", "5", 3)
	f.Fuzz(func(t *testing.T, whole, fraction string, exponent int) {
		if !allDigits(whole) || !allDigits(fraction) || len(whole) > 1 && whole[0] == '0' || len(whole)+len(fraction) > 40 || exponent > 99 || exponent < -99 {
			return
		}
		text := whole + "." + fraction + "e" + strconv.Itoa(exponent)
		plain, err := Plain(text)
		if want := decimal.RequireFromString(text); err == nil && !decimal.RequireFromString(plain).Equal(want) {
			t.Fatalf("%s became %s, want %s", text, plain, want)
		}
	})
}
