package convert

import (
	"fmt"
	"slices"
	"strings"

	"landfall/internal/api/rules"
)

// numberStyle is how a column writes numbers, as far as its values show.
type numberStyle struct {
	decimal    byte // '.' or ',', or 0 if nothing shows it
	grouping   byte // or 0
	open       bool // its values can be read in two ways, or contradict each other
	mixed      bool // they contradict each other
	signs      []string
	currencies []string
	numbers    int            // values with digits
	signed     int            // those with a sign word
	priced     map[string]int // those with a currency, by its word
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

// addWords adds the sign words and currencies beside a number.
func (s *numberStyle) addWords(value string) {
	if strings.ContainsAny(value, "0123456789") {
		s.numbers++
	}
	for _, word := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune("0123456789.,'+-() \u00a0\u202f", r) }) {
		if len(word) == len(value) {
			return // not a number
		}
		upper := strings.ToUpper(word)
		if slices.ContainsFunc(commonWords.signs, func(sign signWord) bool { return sign.text == upper }) {
			if s.signed++; !slices.Contains(s.signs, upper) {
				s.signs = append(s.signs, upper)
			}
		}
		if slices.Contains(commonWords.currencies, upper) {
			if s.priced == nil {
				s.priced = map[string]int{}
			}
			if s.priced[upper]++; s.priced[upper] == 1 {
				s.currencies = append(s.currencies, upper)
			}
		}
	}
}

// numberSettings returns the settings of a number, where they differ from those of a table.
func (w *mapWriter) numberSettings(t *suggestedTable, m match, of *suggestedTable) (settings []string, remark string) {
	style := numberStyleOf(t.values(m.column))
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
		remark = w.signRemark(m, style)
	}
	switch {
	case len(style.currencies) == 1 && style.priced[style.currencies[0]] == style.numbers:
		settings = append(settings, fmt.Sprintf("currency: [%q]", style.currencies[0]))
	case len(style.currencies) > 0:
		w.open++
		settings = append(settings, "currency: "+chooseMark)
		remark = strings.TrimPrefix(remark+"; "+t.currencyRemark(m.column, style), "; ")
	}
	return settings, remark
}

// signRemark says what to decide about words such as CR.
func (w *mapWriter) signRemark(m match, style numberStyle) string {
	switch {
	case m.slot.isLedger():
		return "plus or minus? Amounts are positive, and the type of a transaction says the direction: plus for each word, unless one marks a reversal; if the word says the type, fill type from it"
	case !m.slot.isBalance():
		return "plus or minus? " + m.slot.field.Doc
	case style.signed < style.numbers:
		return fmt.Sprintf("%d of %d numbers have no word. If these are owed: sign: reversed, CR: minus, DR: plus. If these are credits: sign: same, CR: plus, DR: minus",
			style.numbers-style.signed, style.numbers)
	}
	return "plus or minus? What the customer owes is negative"
}

// currencyRemark says where the words for currencies are.
func (t *suggestedTable) currencyRemark(column int, style numberStyle) string {
	var parts []string
	for _, word := range style.currencies {
		first := 0
		for i, cells := range t.rows {
			if first == 0 && strings.Contains(strings.ToUpper(cells[column]), word) {
				first = t.lines[i]
			}
		}
		parts = append(parts, fmt.Sprintf("%s is beside %d of %d numbers, first in %s:%d", word, style.priced[word], style.numbers, t.file, first))
	}
	return strings.Join(parts, "; ") + fmt.Sprintf("; list only words for the currency of the account, as [%q]: numbers with other words are reported; remove the setting if there is none", style.currencies[0])
}

// isBalance and isLedger tell attrs apart whose signs mean different things.
func (s *attrSlot) isBalance() bool { return strings.HasSuffix(s.field.Name, "balance") }
func (s *attrSlot) isLedger() bool  { return s.kind.name == "transactions" && s.field.Name == "amount" }

// askSign asks what the sign of a number means, where it is not certain.
func (w *mapWriter) askSign(t *suggestedTable, m match, open func(name, remark string)) {
	style, minus := numberStyleOf(t.values(m.column)), t.minus[m.column]
	money := m.slot.field.Type.Shape == rules.ShapeAmount || strings.Contains(m.slot.field.Name, "amount")
	switch {
	case t.styles[m.column].filled == 0:
	case m.slot.isBalance() && len(style.signs) == 0 && t.signBeside(m.column) != "":
		code := t.signBeside(m.column)
		open("negative_when: {"+quoted(code)+": "+chooseMark+"}", "the code of "+code+" that makes a number negative, which means that the customer owes it; sign: same or reversed instead if this column says something else")
	case m.slot.isBalance() && len(style.signs) == 0:
		open("sign", "same if a credit is positive, reversed if a debit is")
	case m.slot.isBalance() && style.signed < style.numbers:
		open("sign", "what a number without a word means")
	case money && len(style.signs) == 0 && minus.count > 0:
		remark := fmt.Sprintf("%s negative, first in %s:%d; ", counted(minus.count, "value is", "values are"), t.file, minus.first)
		if m.slot.isLedger() {
			remark += `amounts are positive, and the type says the direction: a CHARGE of -5 is a credit. Write remove: "[-()]" instead of sign if the minus says no more than the type; ` +
				"same if it marks a reversal, reversed if the plus does"
		} else {
			remark += "same keeps the sign, reversed turns it around: " + m.slot.field.Doc
		}
		open("sign", remark)
	}
}

// signCodes are codes that say the sign of a number in the column beside it: debit and credit.
var signCodes = [][2]string{
	{"C", "D"}, {"CR", "DR"}, {"CR", "DB"}, {"CREDIT", "DEBIT"}, {"H", "S"}, {"HABEN", "SOLL"}, {"D", "H"}, {"DEBE", "HABER"}, {"A", "D"}, {"AVERE", "DARE"}, {"+", "-"},
}

// signBeside returns the column beside a number that seems to say its sign, or "".
func (t *suggestedTable) signBeside(column int) string {
	for _, beside := range []int{column + 1, column - 1} {
		if beside < 0 || beside >= len(t.columns) || t.columns[beside] == "" {
			continue
		}
		var codes []string
		for _, code := range t.styles[beside].codes {
			codes = append(codes, strings.ToUpper(code))
		}
		slices.Sort(codes)
		if slices.ContainsFunc(signCodes, func(pair [2]string) bool { return slices.Equal(pair[:], codes) }) {
			return t.columns[beside]
		}
	}
	return ""
}

// noValues returns settings for dates that mean that there is none. They are of the column, because
// 00000000 can be a balance in another.
func (w *mapWriter) noValues(t *suggestedTable, m match) (settings []string, remark string) {
	shape := m.slot.field.Type.Shape
	if shape != rules.ShapeDate && shape != rules.ShapeDatetime {
		return nil, ""
	}
	var words []string
	for _, cells := range t.rows {
		value := cells[m.column]
		if (slices.Contains(zeroDates, value) || strings.Contains(value, "9999") && !m.slot.field.Required) && !slices.Contains(words, value) && len(words) < 5 {
			words = append(words, value)
		}
	}
	if len(words) == 0 {
		return nil, ""
	}
	slices.Sort(words)
	var pairs []string
	for _, word := range words {
		pairs = append(pairs, fmt.Sprintf(`%q: ""`, word))
	}
	return []string{"values: {" + strings.Join(pairs, ", ") + "}", "otherwise: keep"}, "these mean that there is no date"
}

// dateSettings returns the settings of a date, where they differ from those of most tables.
func (w *mapWriter) dateSettings(values, patterns []string, usual string) (settings []string, remark string) {
	found := firstPattern(patterns, values)
	switch others := confusable(patterns, found, values); {
	case len(values) == 0:
	case found == "" && firstPattern(append(instantPatterns(), dayPatterns...), values) != "":
	case found == "" && mixedPatterns(values) != nil:
		w.open++
		settings = append(settings, "dates: "+chooseMark)
		remark = "some dates are " + strings.Join(mixedPatterns(values), " and some ") + "; list the formats as [A, B], or correct the dates"
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

// mixedPatterns returns the formats of a column with dates of two or three, or nil.
func mixedPatterns(values []string) (list []string) {
	rest := slices.Clone(values)
	for len(list) < 3 && len(rest) > fewOf(len(values)) {
		var best string
		var others []string
		for _, text := range append(slices.Clone(dayPatterns), instantPatterns()...) {
			pattern, err := newPattern(text)
			if err != nil {
				continue
			}
			unread := slices.DeleteFunc(slices.Clone(rest), func(value string) bool {
				at, ok := pattern.read([]byte(value))
				return ok && at.year >= 1850
			})
			if best == "" && len(unread) < len(rest) || best != "" && len(unread) < len(others) {
				best, others = text, unread
			}
		}
		if best == "" {
			return nil
		}
		list, rest = append(list, best), others
	}
	if len(list) < 2 || len(rest) > fewOf(len(values)) {
		return nil
	}
	return list
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
