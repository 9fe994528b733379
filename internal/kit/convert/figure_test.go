package convert

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// figureStyle is how a system writes amounts.
type figureStyle struct {
	decimal, grouping     string
	before, after         string // around a negative number
	positive              string // after a positive number
	currency, currencyEnd string
}

// figureStyles generates styles, also those that a map does not describe.
var figureStyles = rapid.Custom(func(t *rapid.T) figureStyle {
	decimal := rapid.SampledFrom([]string{".", ","}).Draw(t, "decimal")
	other := map[string]string{".": ",", ",": "."}[decimal]
	style := figureStyle{
		decimal:  decimal,
		grouping: rapid.SampledFrom([]string{"", other, " ", "'", "\u00a0"}).Draw(t, "grouping"),
	}
	sign := rapid.SampledFrom([]string{"-|||", "|-||", "(|)||", "|DR|CR|", "| Dr| Cr|"}).Draw(t, "sign")
	parts := strings.Split(sign, "|")
	style.before, style.after, style.positive = parts[0], parts[1], parts[2]
	price := rapid.SampledFrom([]string{"|", "£|", "| €", "GBP |"}).Draw(t, "currency")
	style.currency, style.currencyEnd, _ = strings.Cut(price, "|")
	return style
})

// write writes an amount of cents with a number of decimals.
func (s figureStyle) write(cents int64, decimals int) string {
	negative := cents < 0
	if negative {
		cents = -cents
	}
	whole := fmt.Sprint(cents / 100)
	if s.grouping != "" {
		for at := len(whole) - 3; at > 0; at -= 3 {
			whole = whole[:at] + s.grouping + whole[at:]
		}
	}
	text := whole
	if decimals > 0 {
		text += s.decimal + fmt.Sprintf("%02d", cents%100)[:2] + strings.Repeat("0", decimals-2)
	}
	text = s.currency + text + s.currencyEnd
	if negative {
		return s.before + text + s.after
	}
	return text + s.positive
}

// TestEveryFigureIsRightOrRefused writes amounts in many styles and reads them with a map for another
// or the same style. A number that is read must be the one that was written.
func TestEveryFigureIsRightOrRefused(t *testing.T) {
	read := 0
	rapid.Check(t, func(t *rapid.T) {
		style := figureStyles.Draw(t, "style")
		f := numberFormat{decimal: rapid.SampledFrom([]byte{'.', ','}).Draw(t, "map decimal")}
		f.grouping = rapid.SampledFrom([]byte{0, ' ', '\'', map[byte]byte{'.': ',', ',': '.'}[f.decimal]}).Draw(t, "map grouping")
		if rapid.Bool().Draw(t, "signs") {
			f.signs = []signWord{{"CR", false}, {"DR", true}}
		}
		if rapid.Bool().Draw(t, "currencies") {
			f.currencies = []string{"£", "€", "GBP"}
		}
		if rapid.Bool().Draw(t, "minor units") {
			f.minor = 2
		}
		decimals := rapid.SampledFrom([]int{0, 2, 2, 2, 3}).Draw(t, "decimals")
		cents := rapid.Int64Range(-500_000_000, 500_000_000).Draw(t, "cents")
		if decimals == 0 {
			cents -= cents % 100
		}
		text := style.write(cents, decimals)
		number := f.read(nil, []byte(text), false)
		// A column that has both kinds refuses these.
		if number == nil || f.doubtful([]byte(text)) && string(f.decimal) != style.decimal {
			return
		}
		read++
		want := big.NewRat(cents, 100)
		if f.minor > 0 { // without a decimal mark it is a number of cents
			want.Quo(want, big.NewRat(100, 1))
		}
		got, ok := new(big.Rat).SetString(string(number))
		if !ok || got.Cmp(want) != 0 {
			t.Fatalf("%q is read as %s with %+v, and it is %s", text, number, f, want.FloatString(4))
		}
	})
	if read == 0 {
		t.Error("no number was read")
	}
}

func TestThousandsSeparatorsArePlacedByThrees(t *testing.T) {
	german, english := numberFormat{decimal: ',', grouping: '.'}, numberFormat{decimal: '.', grouping: ','}
	for _, one := range []struct {
		format     numberFormat
		text, want string
	}{
		{german, "29.65", ""},
		{german, "1.2.3", ""},
		{german, "1.234", "1234"},
		{german, "1.234.567,8", "1234567.8"},
		{german, "1234.567", ""},
		{german, "0.234", ""},
		{german, "1.23,4", ""},
		{german, ".234", ""},
		{english, "12,50", ""},
		{english, "1,234.50", "1234.50"},
		{english, "12,345,6", ""},
		{english, "1,,234", ""},
		{english, "1,234,", ""},
		{numberFormat{decimal: '.', grouping: ' '}, "1 234 567.00", "1234567.00"},
		{numberFormat{decimal: '.', grouping: ' '}, "1 23", ""},
		{numberFormat{decimal: '.', minor: 2}, "100.00", ""},
		{numberFormat{decimal: '.'}, "(12.50)", "-12.50"},
		{numberFormat{decimal: '.'}, "(-12.50)", ""},
		{numberFormat{decimal: '.'}, "12.50CR", ""},
		{numberFormat{decimal: '.'}, "£12.50", ""},
		{numberFormat{decimal: '.', signs: []signWord{{"CR", false}, {"DR", true}}}, "12.50 dr", "-12.50"},
		{numberFormat{decimal: '.', signs: []signWord{{"CR", false}, {"DR", true}}}, "-12.50DR", ""},
		{numberFormat{decimal: '.', currencies: []string{"£"}}, "-£12.50", "-12.50"},
		{numberFormat{decimal: '.', currencies: []string{"£"}}, "(£ 12.50)", "-12.50"},
	} {
		if got := one.format.read(nil, []byte(one.text), false); string(got) != one.want {
			t.Errorf("%q is read as %q, want %q", one.text, got, one.want)
		}
		if one.want == "" && one.format.whyNot([]byte(one.text)) == "" {
			t.Errorf("%q is refused without a reason", one.text)
		}
	}
}
