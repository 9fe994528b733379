package convert_test

import (
	"strings"
	"testing"
)

// Each of these rows would need a guess, so it is refused with what to do.
func TestARowThatNeedsAGuessIsRefused(t *testing.T) {
	const coded = "transfer_balance: {column: X, negative_when: {Y: D}}"
	for name, test := range map[string]struct{ fill, rows, used, want string }{
		"a currency with a point":        {"transfer_balance: {column: X, currency: [Rs.]}", "Rs.5, 7Rs., Rs9,", "5 7", "it is not a number because of Rs"},
		"no code":                        {coded, "5,D 7,C 9,", "-5 7", "it is empty, and negative_when does not say what that means"},
		"two codes that are not listed":  {coded, "5,D 7,C 9,X", "-5", "it is one of several such codes: C, X"},
		"a code in another case":         {coded, "5,D 7,C 9,d", "-5 7", "negative_when lists it with other letters"},
		"both sides":                     {"transfer_balance: {column: X, negative_when: {Y: D}, positive_when: {Y: [C, '']}}", "5,D 7,C 8, 9,X", "-5 7 8", "neither negative_when nor positive_when applies"},
		"an exponent":                    {"transfer_balance: X", "1E5, 5,", "5", "it is written with an exponent"},
		"no code for zero":               {coded, "0,", "0", ""},
		"no code, and the map says plus": {"transfer_balance: {column: X, negative_when: {Y: {is: D, empty: false}}}", "5,D 9,", "-5 9", ""},
		"no code, and it says minus":     {"transfer_balance: {column: X, negative_when: {Y: [D, '']}}", "5,D 9,", "-5 -9", ""},
		"not a code, and none":           {"transfer_balance: {column: X, negative_when: {Y: {not: C}}}", "5,D 9,", "-5", "it is empty"},
		"another condition decides":      {"transfer_balance: {column: X, negative_when: {Y: D, NO: '99'}}", "9,", "9", ""},
		"a code and a sign":              {coded, "(5),D -5,D 5,D -5,C", "-5", "it has a sign, and negative_when gives it another"},
		"a part of a sum without a code": {"transfer_balance: {sum: [{column: X, negative_when: {Y: D}}, =1]}", "5,D 9,", "-4", "it is empty"},
		"two signs":                      {"transfer_balance: {column: X, signs: {CR: plus}}", "-5CR, (-5), --5, -5-, 5CR,", "5", "it has two signs"},
		"another minus":                  {"transfer_balance: X", "(−5), 5,", "5", "it has two signs"},
		"cents and pounds":               {"transfer_balance: {column: X, minor_units: 2}", "1250, 12.50, 99, 0,", "0.00", "it can be a number of minor units or not"},
		"cents only":                     {"transfer_balance: {column: X, minor_units: 2}", "1250, 99,", "12.50 0.99", ""},
		"a shortened account":            {"transfer_balance: =1, billing_name: X", "1.06257E+12, 1E+05,", "", "a spreadsheet has shortened this number"},
		"a text with a plus":             {"transfer_balance: =1, billing_name: X", "AE+12, 12+34, E+12,", "1 1 1", ""},
		"a shortened number in a text":   {"transfer_balance: =1, billing_name: {join: [X, Y]}", "1.06257E+12,x", "", "a spreadsheet has shortened this number"},
	} {
		rows, count := "", 0
		for row := range strings.FieldsSeq(test.rows) {
			rows += string(rune('A'+count)) + "," + row + "\n"
			count++
		}
		lines, problems, _ := must(t, map[string]string{
			"map.yaml": head + "    fill: {customers: [{family_name: NO}], " + test.fill + "}\n", "a.csv": "NO,X,Y\n" + rows,
		})
		used := strings.Fields(test.used)
		if len(lines) != len(used) || len(lines)+len(problems) != count || test.want == "" && len(problems) > 0 {
			t.Errorf("%s: %q %q", name, lines, problems)
			continue
		}
		for i, want := range used {
			if !strings.Contains(lines[i], `"transfer_balance":"`+want+`"`) {
				t.Errorf("%s: %s, want %s", name, lines[i], want)
			}
		}
		for _, problem := range problems {
			if !strings.Contains(problem[6], test.want) && !strings.Contains(problem[6], "minor_units is for numbers without one") {
				t.Errorf("%s: %q, want %q", name, problem, test.want)
			}
		}
	}
	// The number of an account decides what belongs to it.
	lines, problems, _ := must(t, map[string]string{
		"map.yaml": head + "    fill: {customers: {rows: C}}\n  C: {file: c.csv, into: A.customers, link: NO, fill: {family_name: NAME}}\n",
		"a.csv":    "NO\n1.06257E+12\n7\n", "c.csv": "NO,NAME\n1.06257E+12,x\n7,y\n",
	})
	if len(lines) != 1 || len(problems) != 2 {
		t.Errorf("%q %q", lines, problems)
	}
}
