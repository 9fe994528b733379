package convert

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// numberStyle is how a column writes numbers, as far as its values show.
type numberStyle struct {
	decimal    byte // '.' or ',', or 0 if nothing shows it
	grouping   byte // or 0
	open       bool // its values can be read in two ways, or contradict each other
	mixed      bool // they contradict each other
	signs      []string
	currencies []string
}

// commonWords are words that are often beside numbers.
var commonWords = numberFormat{
	signs:      []signWord{{"CR", false}, {"DR", true}, {"C", false}, {"D", true}, {"H", false}, {"S", true}},
	currencies: []string{"£", "€", "$", "¥", "GBP", "EUR", "USD", "CHF"},
}

// numberStyleOf determines how numbers are written. Values that are not numbers decide nothing.
func numberStyleOf(values []string) (style numberStyle) {
	counts := map[markReading]int{}
	groups := map[byte]bool{}
	for _, value := range values {
		f := commonWords
		for _, grouping := range []byte{0, ' ', '\''} {
			f.grouping = grouping
			if is := f.readingOf([]byte(value)); is != unmarkedReading {
				counts[is]++
				if grouping != 0 {
					groups[grouping] = true
				}
				break
			}
		}
		style.addWords(value)
	}
	switch point, comma := counts[pointReading], counts[commaReading]; {
	case point > 0 && comma > 0:
		style.open, style.mixed = true, true
	case point > 0:
		style.decimal = '.'
	case comma > 0:
		style.decimal = ','
	default:
		style.open = counts[eitherReading] > 0
	}
	other := map[byte]string{'.': ",", ',': "."}[style.decimal]
	switch {
	case other != "" && slices.ContainsFunc(values, func(value string) bool { return strings.Contains(value, other) }):
		style.grouping = other[0]
	case groups[' ']:
		style.grouping = ' '
	case groups['\'']:
		style.grouping = '\''
	}
	return style
}

// manyCurrencies reports whether the words beside the numbers are of several currencies.
func (s *numberStyle) manyCurrencies() bool {
	same := strings.NewReplacer("GBP", "£", "EUR", "€", "USD", "$")
	return slices.ContainsFunc(s.currencies, func(one string) bool { return same.Replace(one) != same.Replace(s.currencies[0]) })
}

// addWords adds the sign words and currencies beside a number.
func (s *numberStyle) addWords(value string) {
	for _, word := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune("0123456789.,'+-() \u00a0\u202f", r) }) {
		if len(word) == len(value) {
			return // not a number
		}
		upper := strings.ToUpper(word)
		if slices.ContainsFunc(commonWords.signs, func(sign signWord) bool { return sign.text == upper }) && !slices.Contains(s.signs, upper) {
			s.signs = append(s.signs, upper)
		}
		if slices.Contains(commonWords.currencies, upper) && !slices.Contains(s.currencies, upper) {
			s.currencies = append(s.currencies, upper)
		}
	}
}

// numberSettings returns the settings of a number, where they differ from those of a table.
func (w *mapWriter) numberSettings(values []string, of *suggestedTable) (settings []string, remark string) {
	style := numberStyleOf(values)
	usual, grouping := byte('.'), byte(0)
	if of.comma {
		usual = ','
	}
	if of.grouped {
		grouping = map[byte]byte{'.': ',', ',': '.'}[usual]
	}
	switch {
	case style.mixed:
		w.open++
		settings = append(settings, "decimal: "+chooseMark)
		remark = "some numbers have a decimal point and others a decimal comma; those that can be either are not converted"
	case style.open:
		w.open++
		settings = append(settings, "decimal: "+chooseMark)
		remark = "is 1.234 a thousand or a little more than one? Nothing in this column shows it; set decimal and grouping"
	case style.decimal != 0 && (style.decimal != usual || style.grouping != 0 && style.grouping != grouping):
		settings = append(settings, fmt.Sprintf("decimal: %q", string(style.decimal)))
		switch {
		case style.grouping != 0:
			settings = append(settings, fmt.Sprintf("grouping: %q", string(style.grouping)))
		case grouping == style.decimal:
			settings = append(settings, "grouping: none")
		}
	}
	if len(style.signs) > 0 {
		var pairs []string
		for _, word := range style.signs {
			w.open++
			pairs = append(pairs, quoted(word)+": "+chooseMark)
		}
		settings = append(settings, "signs: {"+strings.Join(pairs, ", ")+"}")
		remark = "plus or minus? What the customer owes is negative"
	}
	if style.manyCurrencies() {
		w.open++
		settings = append(settings, "currency: "+chooseMark)
		remark = strings.TrimPrefix(remark+"; one of "+strings.Join(style.currencies, " ")+": amounts in the others are not converted", "; ")
	} else if len(style.currencies) > 0 {
		var words []string
		for _, word := range style.currencies {
			words = append(words, strconv.Quote(word))
		}
		settings = append(settings, "currency: ["+strings.Join(words, ", ")+"]")
	}
	return settings, remark
}

// dateSettings returns the settings of a date, where they differ from those of most tables.
func (w *mapWriter) dateSettings(values, patterns []string, usual string) (settings []string, remark string) {
	found := firstPattern(patterns, values)
	switch others := confusable(patterns, found, values); {
	case len(values) == 0:
	case found == "" && firstPattern(append(instantPatterns(), dayPatterns...), values) != "":
	case found == "":
		remark = "these do not look like dates"
	case len(others) > 0:
		w.open++
		settings = append(settings, "dates: "+chooseMark)
		remark = strings.Join(append([]string{found}, others...), " or ") + "? No value in this column shows it"
	case found != usual:
		settings = append(settings, "dates: "+found)
	}
	if dates, bad := readAll(found, values, len(values)); found != "" && bad > 0 {
		at := slices.Index(dates, dateTime{})
		remark = strings.TrimPrefix(remark+fmt.Sprintf("; %d of the first %d values are no such dates, the first is %s", bad, len(values), shorten([]byte(values[at]))), "; ")
	}
	return settings, remark
}

// confusable returns the other patterns that fit as many values, and read one of them as another date. A
// value that only another pattern reads shows that the column has both.
func confusable(patterns []string, found string, values []string) (others []string) {
	if found == "" {
		return nil
	}
	dates, bad := readAll(found, values, len(values))
	for _, one := range patterns {
		other, otherBad := readAll(one, values, len(values))
		if one == found || other == nil {
			continue
		}
		both := false
		for i := range dates {
			both = both || dates[i] != other[i] && (bad == otherBad || dates[i] == dateTime{})
		}
		if both {
			others = append(others, one)
		}
	}
	return others
}
