package convert

import (
	"maps"
	"slices"
	"strings"

	"landfall/internal/lib/yamltree"
)

// The sign of a number can be a code in another column. A code that the map does not list is not taken for
// positive if there are several of them.

// otherCodes are the codes that negative_when does not list, by column.
type otherCodes map[int][]string

// maxCodes limits how many of them are named.
const maxCodes = 5

// add adds a code.
func (o otherCodes) add(column int, codes ...string) {
	for _, code := range codes {
		if len(o[column]) < maxCodes && !slices.Contains(o[column], code) {
			o[column] = append(o[column], code)
		}
	}
}

// names lists the codes of a column.
func (o otherCodes) names(column int) string {
	return strings.Join(slices.Sorted(slices.Values(o[column])), ", ")
}

// addCodes adds the codes that occurred in a part of a table. Like addMet, it is not called twice at once.
func (x *conversion) addCodes(t *sourceTable, codes otherCodes) {
	for column, list := range codes {
		if x.codes[t.number] == nil {
			x.codes[t.number] = otherCodes{}
		}
		x.codes[t.number].add(column, list...)
	}
}

// signConditions reads the conditions that decide about the sign of a number.
func (c *mapCompiler) signConditions(t *sourceTable, node *yamltree.Node, v *expression) {
	if when := node.Find("negative_when"); when != nil {
		v.minus = c.tests(t, when)
	}
	if when := node.Find("positive_when"); when != nil {
		if v.plus = c.tests(t, when); v.minus == nil {
			c.errorf(when.Line, "positive_when needs negative_when")
		}
	}
}

// negative reports whether all conditions hold. unknown is a column that is empty, if that decides
// and its condition does not say what it means, or -1.
func (r *currentRow) negative(tests []test) (yes bool, unknown int) {
	unknown = -1
	for i := range tests {
		t := &tests[i]
		text := r.cell(t.column, true)
		switch {
		case len(text) == 0 && t.empty == 0 && !contains(t.is, nil) && !contains(t.not, nil):
			unknown = t.column
		case !r.meets(t, text):
			return false, -1
		}
	}
	return unknown < 0, unknown
}

// checkSign refuses a number whose sign is not known: the map does not say what its code means, or the
// number has a sign of its own.
func (v *expression) checkSign(r *currentRow, text []byte, negative bool, unknown int) {
	positive := false
	if len(v.plus) > 0 {
		positive, _ = r.negative(v.plus)
	}
	switch {
	case negative && positive:
		r.fail(Unconvertible, v.column, text, "negative_when and positive_when both apply; correct one of them")
	case positive:
	case unknown >= 0:
		r.fail(Unconvertible, unknown, nil, "it is empty, and negative_when does not say what that means; write {is: X, empty: false} if the number is then positive, or list \"\" among the values")
	case len(v.plus) > 0 && !negative:
		column := v.plus[0].column
		r.fail(Unconvertible, column, r.cell(column, true), "neither negative_when nor positive_when applies; add this code to one of them")
	case len(v.plus) == 0 && len(v.minus) == 1:
		r.checkCode(&v.minus[0])
	}
	if _, minus, signed := v.numbers.strip(text); signed && (negative || minus) {
		r.fail(Unconvertible, v.column, text, "it has a sign, and negative_when gives it another; if this reverses the sign, write {first: [{product: [COLUMN, =-1], when: …}, COLUMN]}")
	}
}

// checkCode refuses a code that a condition does not list, if there is more than one such code.
func (r *currentRow) checkCode(t *test) {
	code := r.cell(t.column, true)
	listed := slices.Concat(t.is, t.not)
	if len(code) == 0 || len(listed) == 0 || t.matches != nil || len(t.bounds) > 0 || contains(listed, code) {
		return
	}
	if slices.ContainsFunc(listed, func(one string) bool { return strings.EqualFold(one, string(code)) }) {
		r.fail(Unconvertible, t.column, code, "negative_when lists it with other letters, upper or lower case; add it to negative_when or to positive_when")
		return
	}
	if r.codes == nil {
		r.codes = otherCodes{}
	}
	r.codes.add(t.column, string(code))
	if codes := r.table.mixed[t.column].codes; codes != "" {
		r.fail(Unconvertible, t.column, code, "negative_when does not list it, and it is one of several such codes: "+codes+"; list those of positive numbers with positive_when")
	}
}

// sameCurrency are other names of currencies.
var sameCurrency = map[string]string{"£": "GBP", "€": "EUR", "EURO": "EUR", "$": "USD", "US$": "USD"}

// oneCurrency refuses a sum of numbers in several currencies.
func (c *mapCompiler) oneCurrency(line int, names []string) {
	meant := map[string]bool{}
	for _, name := range names {
		name = strings.ToUpper(name)
		if same := sameCurrency[name]; same != "" {
			name = same
		}
		meant[name] = true
	}
	if len(meant) > 1 {
		c.errorf(line, "numbers of different currencies cannot be added up: %s; list one currency here, and exclude rows with others", strings.Join(slices.Sorted(maps.Keys(meant)), ", "))
	}
}
