package convert_test

import (
	"errors"
	"strings"
	"testing"

	"landfall/internal/kit/convert"
)

// A value that no condition selects is reported, unless the map says that it is not needed.
func TestValuesThatNoConditionSelects(t *testing.T) {
	signed := "{column: V, when: {DC: C}}, {column: V, sign: reversed, when: {DC: D}}"
	for name, test := range map[string]struct{ fill, row, want string }{
		"the first condition":        {"transfer_balance: {first: [" + signed + "]}", "5,D", `"transfer_balance":"-5"`},
		"no condition":               {"transfer_balance: {first: [" + signed + "]}", "5,X", "V: no condition of first applies"},
		"no condition and no value":  {"transfer_balance: {first: [" + signed + "]}", ",X", `1"`},
		"no condition, not needed":   {"transfer_balance: {first: [" + signed + `, "="]}`, "5,X", `1"`},
		"a part without a condition": {"transfer_balance: {first: [" + signed + ", =9]}", "5,X", `"transfer_balance":"9"`},
		"inside another":             {"transfer_balance: {first: [{first: [" + signed + "]}, =9]}", "5,X", `"transfer_balance":"9"`},
		"no condition inside":        {"transfer_balance: {first: [{first: [" + signed + "]}, {constant: 7, when: {DC: Z}}]}", "5,X", "V: no condition of first applies"},
		"a condition of its own":     {"transfer_balance: {first: [" + signed + "], when: {DC: Y}}", "5,X", `1"`},
		"a default":                  {"billing_name: {first: [{column: V, when: {DC: C}}, {column: DC, when: {DC: D}}], default: none}", "5,X", `"billing_name":"none"`},
		"no condition of a sum":      {"transfer_balance: {sum: [" + signed + "]}", "5,X", "V: no condition of sum applies"},
		"codes for constants":        {"billing_name: {first: [{constant: a, when: {DC: C}}, {constant: b, when: {DC: D}}]}", ",X", "DC: no condition of first applies"},
		"no code for constants":      {"billing_name: {first: [{constant: a, when: {DC: C}}, {constant: b, when: {DC: D}}]}", "5,", `1"`},
		"constants of several flags": {"billing_name: {first: [{constant: a, when: {DC: C}}, {constant: b, when: {V: 1}}]}", "5,X", `1"`},
		"a minus where it is plus":   {"transfer_balance: {column: V, negative_when: {DC: D}, positive_when: {DC: C}}", "-5,C", "V: it has a sign"},
		"a minus after the number":   {"transfer_balance: {column: V, negative_when: {DC: D}}", "5-,C", "V: it has a sign"},
		"a plus where it is plus":    {"transfer_balance: {column: V, negative_when: {DC: D}, positive_when: {DC: C}}", "+5,C", `"transfer_balance":"5"`},
	} {
		lines, problems, _ := must(t, map[string]string{
			"map.yaml": head + "    fill:\n      customers: [{family_name: NO}]\n      " + test.fill + "\n", "a.csv": "NO,V,DC\n1," + test.row + "\n",
		})
		got := strings.Join(lines, "")
		for _, problem := range problems {
			got += problem[4] + ": " + problem[6]
		}
		if !strings.Contains(got, test.want) || len(lines)+len(problems) != 1 || test.want == `1"` && strings.Contains(got, "transfer_balance") {
			t.Errorf("%s: %q %q", name, lines, problems)
		}
	}
}

// Rows of accounts that the map passes over are passed over with them.
func TestRowsOfAccountsThatArePassedOver(t *testing.T) {
	for name, test := range map[string]struct {
		orphans, extra string
		notes, passed  int
	}{
		"left out": {"report", "", 1, 2}, "kept, as they exist already": {"keep", "", 4, 0},
		"with a table of their own": {"report", "  C: {file: c.csv, into: A.customers, link: NO, fill: {family_name: NO}}\n", 1, 2},
		"with another link":         {"report", "  C: {file: c.csv, into: A.customers, link: {NO: STATE}, optional: true, fill: {family_name: NO}}\n", 1, 2},
	} {
		fill := "    when: {STATE: A}\n    fill: {customers: [{family_name: NO}]}\n"
		if test.extra != "" {
			fill = "    when: {STATE: A}\n    fill: {billing_name: NO}\n"
		}
		book, result, err := attempt(t, tableFolder(t, map[string]string{
			"map.yaml": head + fill + test.extra + "  N: {file: n.csv, into: notes, account: NO, orphans: " + test.orphans + ", fill: {body: NO}}\n",
			// Account 1 was closed before, and its number is in use again.
			"a.csv": "NO,STATE\n1,X\n1,A\n2,X\n3,X\n1,X\n", "c.csv": "NO\n1\n", "n.csv": "NO\n1\n2\n3\n4\n",
		}))
		if err != nil {
			t.Fatal(err)
		}
		notes := result.Tallies[len(result.Tallies)-1]
		if len(linesOf(t, book, "accounts")) != 1 || len(linesOf(t, book, "notes")) != test.notes || notes.PassedOver != test.passed || notes.Problems[convert.Orphan] != 4-test.notes-test.passed {
			t.Errorf("%s: %q %+v %q", name, linesOf(t, book, "accounts"), result.Tallies, problemsOf(t, book))
		}
	}
}

// A condition that can never hold is a mistake in the map.
func TestConditionOnAWordThatMeansEmpty(t *testing.T) {
	for condition, wrong := range map[string]bool{`{V: "NULL"}`: true, `{V: {not: [X, "NULL"]}}`: true, `{V: ""}`: false, `{V: {empty: true}}`: false, `{V: X}`: false} {
		_, _, err := attempt(t, tableFolder(t, map[string]string{
			"map.yaml": head + "    empty: [\"NULL\"]\n    when: " + condition + "\n    fill: {customers: [{family_name: NO}]}\n", "a.csv": "NO,V\n1,NULL\n",
		}))
		if _, is := errors.AsType[*convert.MapError](err); is != wrong || wrong && !strings.Contains(err.Error(), "NULL means an empty value") {
			t.Errorf("%s: %v", condition, err)
		}
	}
}
