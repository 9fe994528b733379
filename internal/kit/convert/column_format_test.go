package convert_test

import (
	"strings"
	"testing"
)

// A column that an attr reads in a format of its own is compared in the same format.
func TestAColumnHasOneFormat(t *testing.T) {
	const european = "transfer_balance: {column: V, decimal: ',', grouping: '.'}"
	for name, test := range map[string]struct{ place, fill, rows, want string }{
		"newest, the month first":     {"several: {newest: D}", "billing_name: NAME, date_of_sale: {column: D, dates: MM/DD/YYYY}", "a,,03/04/2001 b,,01/05/2001", `"billing_name":"a"`},
		"oldest, with years past":     {"several: {oldest: D}", "billing_name: NAME, date_of_sale: {column: D, dates: DD/MM/YY, century: past}", "a,,03/04/60 b,,01/05/45", `"billing_name":"b"`},
		"its own format":              {"several: {newest: {column: D, dates: MM/DD/YYYY}}", "billing_name: NAME", "a,,03/04/2001 b,,01/05/2001", `"billing_name":"a"`},
		"highest":                     {"several: {highest: V}", "billing_name: NAME, " + european, "a,1.234, b,29,", `"billing_name":"a"`},
		"highest of the first":        {"several: {highest: {first: [V, =0]}}", "billing_name: NAME, " + european, "a,1.234, b,29, c,,", `"billing_name":"a"`},
		"lowest, in cents":            {"several: {lowest: {first: [V, =13]}}", "billing_name: NAME, transfer_balance: {column: V, minor_units: 2}", "a,1300, b,1299, c,1400,", `"billing_name":"b"`},
		"above":                       {"several: first, when: {V: {above: 100}}", "billing_name: NAME, " + european, "a,29, b,1.234,", `"billing_name":"b"`},
		"above, in cents":             {"several: first, when: {V: {above: 100}}", "billing_name: NAME, transfer_balance: {column: V, minor_units: 2}", "a,9000, b,10001,", `"billing_name":"b"`},
		"above, with its own":         {"several: first, when: {V: {above: 100, decimal: ',', grouping: '.'}}", "billing_name: NAME", "a,29, b,1.234,", `"billing_name":"b"`},
		"above, of a sum":             {"several: first, when: {V: {above: 100}}", "billing_name: NAME, transfer_balance: {sum: [V, =1], decimal: ',', grouping: '.'}", "a,29, b,1.234,", `"billing_name":"b"`},
		"a date above":                {"several: first", "billing_name: {column: NAME, when: {D: {above: 2001-04-01}}}, date_of_sale: {column: D, dates: MM/DD/YYYY}", "a,,03/04/2001", `"date_of_sale":"2001-03-04"`},
		"a part of another text":      {"several: {newest: D}", "billing_name: NAME, date_of_sale: {column: D, split: ' ', part: 1, dates: DD/MM/YYYY}", "a,,2001-01-02", `not a date in the format DD/MM/YYYY`},
		"two formats":                 {"several: first", european + ", last_statement_balance: V", "a,29,", "column V is read in another way in line 9"},
		"a product in cents":          {"several: first", "transfer_balance: {product: [V, =2], minor_units: 2}, last_statement_balance: {column: V, minor_units: 2}", "a,150,", `"transfer_balance":"3.00"`},
		"two formats with conditions": {"several: first", "transfer_balance: {first: [{column: V, decimal: ',', when: {NAME: a}}, V]}", `a,"2,5",`, `"transfer_balance":"2.5"`},
		"two formats, and compared":   {"several: {highest: V}", "transfer_balance: {first: [{column: V, decimal: ',', when: {NAME: a}}, V]}", "a,2,", "column V is read in different ways in line 9 and line 9; set its format here too"},
		"a table of the same file":    {"several: {newest: D}", "billing_name: NAME", "a,,03/04/2001 b,,01/05/2001", `"billing_name":"a"`},
	} {
		rows := ""
		for row := range strings.FieldsSeq(test.rows) {
			rows += "1," + row + "\n"
		}
		text := "map: 1\nsupplier: NORTH\nsource: {dates: [DD/MM/YYYY, YYYY-MM-DD]}\ntables:\n  A:\n    file: a.csv\n    into: [{place: accounts, account: NO, " + test.place +
			",\n      fill: {customers: [{family_name: NO}],\n        " + test.fill + "}}]\n"
		if strings.HasPrefix(name, "a table") {
			text += "  N: {file: a.csv, into: notes, account: NO, orphans: keep, fill: {body: NAME, created_at: {column: D, dates: MM/DD/YYYY}}}\n"
		}
		book, _, err := attempt(t, tableFolder(t, map[string]string{"map.yaml": text, "a.csv": "NO,NAME,V,D\n" + rows}))
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			for _, problem := range problemsOf(t, book) {
				got += strings.Join(problem, " ") + "\n"
			}
			got += strings.Join(linesOf(t, book, "accounts"), "\n")
		}
		if !strings.Contains(got, test.want) || name == "a date above" && strings.Contains(got, "billing_name") {
			t.Errorf("%s: %s\nwant %s", name, got, test.want)
		}
	}
}
