package convert_test

import (
	"errors"
	"strings"
	"testing"

	"landfall/internal/kit/convert"
)

// A figure of several rows is whole or it is not in the book, and neither is the account it belongs to.
func TestNoAccountHasAFigureOfSomeOfItsRows(t *testing.T) {
	for name, test := range map[string]struct{ several, rows, want string }{
		"a sum without a row":              {"several: sum", "100.00,,2024-01-01 `50,00`,,2024-01-01", ""},
		"a sum of rows that differ":        {"several: sum", "1,x,2024-01-01 2,y,2024-01-01", ""},
		"a sum with an empty number":       {"several: sum", "1,x,2024-01-01 ,x,2024-01-01", ""},
		"a sum of an empty number":         {"several: sum", ",x,2024-01-01", ""},
		"the newest cannot be read":        {"several: {newest: AT}", "1,,2024-01-01 2,,2024-02-30", ""},
		"the newest has no date":           {"several: {newest: AT}", "1,,2024-01-01 2,,", ""},
		"only one row, without a date":     {"several: {newest: AT}", "2,,", "2"},
		"the map says what no date means":  {"several: {newest: {first: [AT, =9999-12-31]}}", "1,,2024-01-01 2,,", "2"},
		"two of the same day":              {"several: {newest: AT}", "1,,2024-01-01 2,,2024-01-01", ""},
		"two of the same day, and a newer": {"several: {newest: AT}", "1,,2024-01-01 2,,2024-01-01 3,,2024-01-02", "3"},
		"the winner cannot be used":        {"several: {newest: AT}", "x,,2024-01-02 2,,2024-01-01", ""},
		"a loser cannot be used":           {"several: {newest: AT}", "1,,2024-01-02 x,,2024-01-01", "1"},
		"the highest of two and a word":    {"several: {highest: BAL}", "1,,2024-01-01 DR,,2024-01-02 2,,2024-01-02", ""},
		"a condition that cannot be read":  {"several: sum, when: {BAL: {above: 0}}", "5,,2024-01-01 x,,2024-01-01", ""},
		"rows that the map excludes":       {"several: sum, when: {BAL: {above: 0}}", "5,,2024-01-01 -2,,2024-01-01 3,,2024-01-01", "8"},
		"two rows, and one is wanted":      {"optional: true", "1,,2024-01-01 2,,2024-01-01", ""},
		"a sum with a short row":           {"several: sum", "1,x,2024-01-01 2,x", ""},
		"a sum with a long row":            {"several: sum", "1,x,2024-01-01 2,x,2024-01-01,y", ""},
		"the newest of a long row":         {"several: {newest: AT}", "1,x,2024-01-02 2,x,2024-01-01,y", ""},
		"the last of a short row":          {"several: last", "1,x,2024-01-02 2,x", ""},
		"a quote that swallows a row":      {"several: sum", "1,x,2024-01-01 2,`x,2024-01-01 3,`x`,2024-01-01", ""},
		"only a short row":                 {"optional: true", "1,x", ""},
		"one row that cannot be used":      {"optional: true", "x,,2024-01-01", ""},
	} {
		rows := ""
		for row := range strings.FieldsSeq(strings.ReplaceAll(test.rows, "`", `"`)) {
			rows += "1," + row + "\n"
		}
		lines, problems, result := must(t, map[string]string{
			"map.yaml": head + "    fill: {customers: [{family_name: NO}]}\n  B: {file: b.csv, into: A, link: NO, " + test.several + ", fill: {transfer_balance: BAL, billing_name: NAME}}\n" +
				"  N: {file: n.csv, into: notes, account: NO, orphans: keep, fill: {body: NO}}\n",
			"a.csv": "NO\n1\n2\n", "b.csv": "NO,BAL,NAME,AT\n" + rows + "2,7,z,2024-01-01\n", "n.csv": "NO\n1\n",
		})
		switch {
		case test.want == "" && (len(lines) != 1 || len(problems) < 2 || problems[0][3] != "incomplete" || !strings.HasPrefix(problems[0][6], "b.csv:") || result.Tallies[2].LeftOut != 1):
			t.Errorf("%s: %q %q %+v", name, lines, problems, result.Tallies)
		case test.want != "" && (len(lines) != 2 || len(problems) != 0 || !strings.Contains(lines[0], `"transfer_balance":"`+test.want+`"`)):
			t.Errorf("%s: %q %q", name, lines, problems)
		}
	}
}

// Two tables that fill one attr would write it twice.
func TestAnAttrIsFilledOnce(t *testing.T) {
	for name, test := range map[string]struct{ fill, tables, want string }{
		"the account itself and a table": {"transfer_balance: NO", "B: {file: b.csv, into: A, link: NO, fill: {transfer_balance: V}}", "transfer_balance is filled by table B and by table A (line 6)"},
		"two tables":                     {"billing_name: NO", "B: {file: b.csv, into: A, link: NO, fill: {transfer_balance: V}}\n  C: {file: b.csv, into: A, link: NO, fill: {transfer_balance: V}}", "filled by table C and by table B (line 12)"},
		"a table of a table":             {"transfer_balance: NO", "B: {file: b.csv, into: A, link: NO, fill: {billing_name: V}}\n  C: {file: b.csv, into: B, link: NO, fill: {transfer_balance: V}}", "filled by table C and by table A (line 6)"},
		"an object":                      {"account_billing_options: {period_start_day: NO}", "B: {file: b.csv, into: A.account_billing_options, link: NO, fill: {period_start_day: V}}", ":11: account_billing_options is filled here and by rows of table B (line 12)"},
		"an object of two tables":        {"billing_name: NO", "B: {file: b.csv, into: A.account_billing_options, link: NO, fill: {period_start_day: V}}\n  C: {file: b.csv, into: A.account_billing_options, link: NO, fill: {period_start_day: V}}", "account_billing_options is filled by table C and by table B"},
		"a list":                         {"metadata: [{key: =x, value: NO}]", "B: {file: b.csv, into: A.metadata, link: NO, fill: {key: V, value: V}}", "metadata is filled here and by rows of table B"},
		"a list of two tables":           {"billing_name: NO", "B: {file: b.csv, into: A.metadata, link: NO, fill: {key: V, value: V}}\n  C: {file: b.csv, into: A.metadata, link: NO, fill: {key: NO, value: V}}", ""},
		"two places of a table":          {"billing_name: NO", "B: {file: b.csv, link: NO, optional: true, into: [{place: A, when: {V: 7}, fill: {transfer_balance: V}}, {place: A, fill: {transfer_balance: {column: V, sign: reversed}}}]}", ""},
	} {
		book, _, err := attempt(t, tableFolder(t, map[string]string{
			"map.yaml": head + "    fill:\n      customers: [{family_name: NO}]\n      currency: =GBP\n      " + test.fill + "\n  " + test.tables + "\n",
			"a.csv":    "NO\n1\n2\n3\n", "b.csv": "NO,V\n1,7\n2,8\n3,7\n3,8\n",
		}))
		if wrong, is := errors.AsType[*convert.MapError](err); test.want != "" && (!is || !strings.Contains(wrong.Error(), test.want)) {
			t.Errorf("%s: %v", name, err)
		}
		if test.want != "" {
			continue
		}
		lines, problems := linesOf(t, book, "accounts"), problemsOf(t, book)
		for _, line := range lines {
			if strings.Count(line, `"transfer_balance":`) > 1 || strings.Count(line, `"metadata":`) > 1 {
				t.Errorf("%s: %s", name, line)
			}
		}
		// Account 3 has a row in both places.
		if withheld := strings.Contains(test.tables, "place:"); len(lines) != 3 && !withheld || withheld && (len(lines) != 2 || len(problems) != 1 || problems[0][3] != "incomplete") {
			t.Errorf("%s: %q %q %v", name, lines, problems, err)
		}
	}
}
