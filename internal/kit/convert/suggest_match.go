package convert

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"

	"landfall/internal/api/rules"
)

// attrSlot is an attr that a column of a table could fill: of its rows, or of a part of them.
type attrSlot struct {
	kind  *tableKind
	field rules.Field
	depth int // how far inside the rows
}

// match is a column that seems to fill an attr.
type match struct {
	slot   *attrSlot
	column int
	score  float64  // 1 is certain
	words  int      // length of the phrase
	text   string   // how the attr is written in the map, if it was learned
	reads  []string // plain names of the columns in that text
}

const (
	// placedFrom is the score from which a column is placed. Below it, the column is only mentioned.
	placedFrom = 0.7
	// mentionedFrom is the score from which a column is mentioned.
	mentionedFrom = 0.4
	// tied is how close two scores are that decide nothing.
	tied = 0.02
)

// columnStyle says what the values of a column look like.
type columnStyle struct {
	filled, distinct int
	days, instants   string   // formats
	mixed            []string // several formats of dates, each of some values
	numbers, wholes  bool
	emails, phones   bool
	compact          bool // dates without separators, or numbers
	longest          int
	currencies       bool
	comma            bool     // a decimal comma
	codes            []string // the values, if they seem to be codes
}

var (
	numberLook   = regexp.MustCompile(`^[(]?[-+]?[£$€]?[ ]?[-+]?\d[\d.,' ]*[ ]?[-+]?(CR|DR|cr|dr|[£$€])?[)]?$`)
	phoneLook    = regexp.MustCompile(`^[+(]?[\d()/. +-]{6,}$`)
	currencyLook = regexp.MustCompile(`^(GBP|EUR|USD|AUD|NZD|CHF|JPY|CAD|SEK|NOK|DKK|PLN|CZK)$`)
)

// fewOf is how many of some values may be mistakes, which decide nothing about their column: one in fifty.
func fewOf(values int) int { return values / 50 }

// style describes the values of a column.
func (s *inspection) style(column int) (style columnStyle) {
	values := s.values(column)
	seen := map[string]bool{}
	for _, value := range values {
		seen[value] = true
		style.longest = max(style.longest, len(value))
	}
	all := func(holds func(string) bool) bool {
		bad := 0
		for _, value := range values {
			if !holds(value) {
				bad++
			}
		}
		return len(values) > 0 && bad <= fewOf(len(values))
	}
	style.filled, style.distinct = len(values), len(seen)
	style.days, style.instants = findDayPattern(values), findInstantPattern(values)
	if style.days == "" && style.instants == "" {
		style.mixed = mixedPatterns(values)
	}
	style.compact = firstPattern(compactPatterns, values) != ""
	style.numbers = all(numberLook.MatchString)
	style.wholes = all(func(value string) bool { return strings.Trim(value, "-+0123456789") == "" })
	style.emails = all(func(value string) bool { return strings.Contains(value, "@") })
	style.phones = all(phoneLook.MatchString)
	style.currencies = all(currencyLook.MatchString)
	style.comma = style.numbers && numberStyleOf(values).decimal == ','
	style.codes = codesAmong(values)
	return style
}

// fits says how well values fit an attr, from 0 to 1.
func (style columnStyle) fits(field rules.Field) float64 {
	if style.filled == 0 {
		return 0.9 // an empty column says nothing
	}
	yes := func(holds bool) float64 {
		if holds {
			return 1
		}
		return 0
	}
	dated := style.instants != "" || style.days != "" && style.days != "YYYYMMDD"
	switch field.Type.Shape {
	case rules.ShapeDate:
		return yes(style.days != "" || style.compact || style.mixed != nil)
	case rules.ShapeDatetime:
		return yes(style.days != "" || style.instants != "" || style.mixed != nil)
	case rules.ShapeAmount, rules.ShapeDecimal, rules.ShapeInteger:
		return yes(style.numbers && !dated)
	case rules.ShapeBoolean:
		return yes(style.distinct <= 3 && style.longest <= 8)
	}
	name := field.Name
	switch {
	case field.Type.Choices != nil:
		return yes(style.distinct <= 15 && style.longest <= 40 && !dated)
	case strings.Contains(name, "email"):
		return yes(style.emails)
	case name == "mobile" || name == "landline":
		return yes(style.phones)
	case name == "currency":
		return yes(style.currencies)
	case strings.HasSuffix(name, "_name") || name == "title" || name == "body" || name == "display_note":
		return yes(!dated && !style.numbers && !style.emails)
	case name == "language_preference":
		return yes(style.longest <= 20 && !style.numbers)
	}
	return yes(!dated && !style.emails)
}

// nameScore compares the words of a column with a phrase. All words of the phrase must be there.
func nameScore(words, phrase, context []string) float64 {
	if !slices.Contains(words, phrase[0]) { // the usual case
		return 0
	}
	rest := slices.Clone(words)
	for _, word := range phrase {
		at := slices.Index(rest, word)
		if at < 0 {
			return 0
		}
		rest = slices.Delete(rest, at, at+1)
	}
	cost := 0.0
	for _, word := range rest {
		switch {
		case slices.Contains(context, word):
			cost += 0.05
		case slices.Contains(noiseWords, word):
			cost += 0.1
		case word == "1" || slices.Contains(phrase, word):
			cost += 0.15
		case word == "number" || word == "date":
			cost += 0.3
		default:
			cost++
		}
	}
	return float64(len(phrase)) / (float64(len(phrase)) + cost)
}

// matchName returns the best score of a column for an attr, by name alone.
func matchName(names [][]string, kind *tableKind, attr string, context []string) (score float64, length int) {
	for _, words := range names {
		for _, phrase := range kind.phrasesFor(attr) {
			if one := phrase.weight * nameScore(words, phrase.words, context); one > score+1e-9 || one > score-1e-9 && len(phrase.words) > length {
				score, length = one, len(phrase.words)
			}
		}
	}
	return score, length
}

// attrSlots returns the attrs that the rows of a table of a kind could fill. Parts that have a table of
// their own are left out.
func attrSlots(kinds []*tableKind, kind *tableKind, covered func(*tableKind) bool) (list []*attrSlot) {
	add := func(of *tableKind, depth int) {
		for _, field := range of.object.Fields {
			// The first two come from account and supplier. Lists of objects are kinds.
			if field.Name != "import_supplier" && field.Name != "external_account_number" && field.Type.Shape < rules.ShapeObject {
				list = append(list, &attrSlot{of, field, depth})
			}
		}
	}
	add(kind, 0)
	for _, inner := range kinds {
		if !inner.isInside(kind) {
			continue
		}
		path := inner.pathFrom(kind)
		if !slices.ContainsFunc(path, covered) {
			add(inner, len(path))
		}
	}
	return list
}

// matches compares all columns with all attrs of a kind, best first.
func (t *suggestedTable) matches(all []*attrSlot) (list []match) {
	for _, s := range all {
		context := strings.Fields(s.kind.context)
		for up := s.kind.parent; up != nil; up = up.parent {
			context = append(context, strings.Fields(up.context)...)
		}
		for column := range t.columns {
			if t.columns[column] == "" || t.refersElsewhere(column, s.kind) {
				continue
			}
			if learned, columns, found := t.learned.find(t, s, column); found {
				list = append(list, match{s, column, 2 - 0.01*float64(s.depth), 9, learned, columns})
				continue
			}
			if t.isStreetNumber(column) {
				continue // joinStreetNumbers adds it to the street
			}
			score, words := matchName(t.names[column], s.kind, s.field.Name, context)
			score *= t.styles[column].fits(s.field) * math.Pow(0.985, float64(s.depth))
			// Values that are e-mail addresses need no name.
			if t.styles[column].emails && s.field.Name == "email" {
				score = max(score, 0.75*math.Pow(0.985, float64(s.depth)))
			}
			// A product that is a fuel says what is supplied.
			if areFuels(t.styles[column].codes) && slices.Contains(t.names[column][0], "tariff") {
				switch s.field.Name {
				case "supply_type":
					score = max(score, 0.8*math.Pow(0.985, float64(s.depth)))
				case "product_code":
					score = 0
				}
			}
			if score >= mentionedFrom {
				list = append(list, match{s, column, score, words, "", nil})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b match) int {
		if math.Abs(a.score-b.score) > 1e-9 {
			return cmp.Compare(b.score, a.score)
		}
		return cmp.Compare(b.words, a.words)
	})
	return list
}

// refersElsewhere reports whether rows of another table are found by a column, and a kind has nothing to do
// with them: the number by which customers are found is not that of a supply point.
func (t *suggestedTable) refersElsewhere(column int, kind *tableKind) bool {
	return slices.ContainsFunc(t.children, func(child *suggestedTable) bool {
		inner := child.placement.kind
		return child.link != nil && child.link.theirs == column && inner != kind && inner.parent != nil && !inner.isInside(kind)
	})
}

// placement is which columns fill which attrs of a table of a kind.
type placement struct {
	kind   *tableKind
	placed map[*attrSlot]match
	open   map[*attrSlot][]match // several columns that fit equally well
	hints  map[int]match         // columns that may fill an attr
	total  float64               // sum of the scores
}

// place places the columns of a table, each at most once. A part of the rows needs one of its typical
// attrs.
func (t *suggestedTable) place(kinds []*tableKind, kind *tableKind, covered func(*tableKind) bool) *placement {
	all := attrSlots(kinds, kind, covered)
	dropped := map[*tableKind]bool{}
	for {
		if p := t.assign(kind, t.matches(all)); p.halfAddress() {
			// The town beside a supply address is that of the supply address.
			all = slices.DeleteFunc(all, func(s *attrSlot) bool {
				return strings.HasPrefix(s.field.Name, "billing_address") || s.field.Name == "billing_postcode"
			})
		}
		if p := t.assign(kind, t.matches(all)); p.halfName() {
			// The name beside a first name is the last name.
			all = slices.DeleteFunc(all, func(s *attrSlot) bool { return s.field.Name == "billing_name" })
		}
		p := t.assign(kind, t.matches(slices.DeleteFunc(slices.Clone(all), func(s *attrSlot) bool { return dropped[s.kind] })))
		again := false
		for s := range p.placed {
			if s.kind != kind && !dropped[s.kind] && !p.anchored(s.kind) {
				dropped[s.kind], again = true, true
			}
		}
		if !again {
			t.joinStreetNumbers(p)
			return p
		}
	}
}

// halfAddress reports whether the street is of the supply address only, and the town of the billing address.
func (p *placement) halfAddress() bool {
	have := map[string]bool{}
	for s := range p.placed {
		have[s.field.Name] = true
	}
	return have["supply_address1"] && !have["billing_address1"] && (have["billing_address2"] || have["billing_postcode"])
}

// halfName reports whether the customer has a first name only, and the bill the other name.
func (p *placement) halfName() bool {
	have := map[string]bool{}
	for s := range p.placed {
		have[s.field.Name] = true
	}
	return have["given_name"] && !have["family_name"] && have["billing_name"]
}

// assign takes the best matches first.
func (t *suggestedTable) assign(kind *tableKind, list []match) *placement {
	p := &placement{kind: kind, placed: map[*attrSlot]match{}, open: map[*attrSlot][]match{}, hints: map[int]match{}}
	used := map[int]bool{}
	for column := range t.columns {
		used[column] = t.keys[column]
	}
	for _, m := range list {
		if _, taken := p.placed[m.slot]; !taken && !used[m.column] && m.score >= placedFrom {
			p.placed[m.slot], used[m.column] = m, true
			p.total += min(m.score, 1)
		}
	}
	for _, m := range list {
		if used[m.column] {
			continue
		}
		// The other column of a tie is still unused.
		if best, taken := p.placed[m.slot]; taken && best.score-m.score < tied && best.words == m.words {
			p.open[m.slot] = append(p.open[m.slot], m)
		} else if _, known := p.hints[m.column]; !known && !taken {
			p.hints[m.column] = m
		}
	}
	return p
}

// anchored reports whether a typical attr of a kind is filled.
func (p *placement) anchored(kind *tableKind) bool {
	for s := range p.placed {
		if s.kind == kind && slices.Contains(strings.Fields(kind.anchors), s.field.Name) {
			return true
		}
	}
	return false
}

// has reports whether a kind has any column.
func (p *placement) has(kind *tableKind) bool {
	for s := range p.placed {
		if s.kind == kind || s.kind.isInside(kind) {
			return true
		}
	}
	return false
}
