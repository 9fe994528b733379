package convert_test

import (
	"errors"
	"strings"
	"testing"

	"landfall/internal/kit/convert"
)

// What is lost with a row is reported, and so is what a row or a line may hide.
func TestNothingIsLostInSilence(t *testing.T) {
	const accounts, sum = "  A: {file: a.csv, into: accounts, account: NO, fill: {customers: [{family_name: NO}], billing_name: NAME}}\n",
		"  B: {file: b.txt, into: A, link: NO, several: sum, optional: true, fill: {transfer_balance: V}%s}\n"
	tables := func(more string) string { return accounts + strings.Replace(sum, "%s", more, 1) }
	const fixed = ", fixed: {NO: 1-2, M: 3-4, V: 5-6}"
	for name, test := range map[string]struct{ tables, a, b, written, problem string }{
		"a quote that swallows rows":        {accounts, "1,a,b\n2,\"Foo,x\n3,bar,y\n4,Baz\",z\n5,q,r\n", "", "1 5", "lines 3 to 5 were read as one row: a quoted value contains a line that looks like a row"},
		"one that swallows a part of a row": {accounts, "1,a,b\n2,\"Foo,x\n3,Baz\",z\n", "", "1", "lines 3 to 4 were read as one row: a quoted value"},
		"text after such a quote":           {accounts, "1,a,b\n2,\"Foo,x\n3,bar,y\n5,\"q\",r\n6,a,b\n", "", "1 6", "lines 3 to 5 were read as one row: text follows a closing quote"},
		"a text of lines":                   {accounts, "1,\"a\nc\nd, e\",b\n2,c,\"d\ne,f\"\n", "", "1 2", ""},
		"a text with lines like rows":       {"  A: {file: a.csv, multiline: true, into: accounts, account: NO, fill: {customers: [{family_name: NO}], billing_name: NAME}}\n", "1,\"x\na,b,c\ny\",b\n", "", "1", ""},
		"a row without a key":               {tables(""), "1,a,b\n", "NO,V,W\n1,5,a\n,\n", "1", "what it belongs to cannot be read"},
		"a row of a sum without an account": {tables(""), "1,a,b\n", "NO,V\n1,5\n01,7\n", "1", "there is no such row in A"},
		"such a row that is not needed":     {tables(", orphans: {drop: old}"), "1,a,b\n", "NO,V\n1,5\n01,7\n", "1", "dropped: old"},
		"a row of an account passed over":   {strings.Replace(tables(""), "account: NO", "account: NO, when: {W: b}", 1), "1,a,b\n2,a,c\n", "NO,V\n1,5\n2,7\n", "1", ""},
		"text behind fixed columns":         {tables(fixed), "1,a,b\n2,a,b\n", "1 0105\n1 0207X\n2 0106\n", "2", "there is text after position 6"},
		"a line cut at a column":            {tables(fixed), "1,a,b\n2,a,b\n", "1 0105\n1 03\n2 0106\n", "2", "the line ends before position 5, which other lines reach"},
		"lines without the column":          {tables(fixed), "1,a,b\n2,a,b\n", "1 01\n2 03\n", "", "there is no number in a row that is added up"},
		"a repeated row with blanks":        {tables(", distinct: true"), "1,a,b\n", "NO,V\n1,5\n1,5 \n", "1", "is the same row"},
	} {
		lines, problems, _ := must(t, map[string]string{"map.yaml": "map: 1\nsupplier: N\ntables:\n" + test.tables, "a.csv": "NO,NAME,W\n" + test.a, "b.txt": test.b})
		var written []string
		for _, line := range lines {
			_, rest, _ := strings.Cut(line, `"external_account_number":"`)
			number, _, _ := strings.Cut(rest, `"`)
			written = append(written, number)
		}
		said := ""
		for _, problem := range problems {
			said += problem[6] + "\n"
		}
		if strings.Join(written, " ") != test.written || !strings.Contains(said, test.problem) || test.problem == "" && said != "" {
			t.Errorf("%s: %q %q", name, lines, problems)
		}
	}
}

// A map that would add up different things, or cut a line in two ways, is refused.
func TestMapsThatCannotBeRightAreRefused(t *testing.T) {
	for table, want := range map[string]string{
		"B: {file: b.csv, into: A, link: NO, several: sum, currency: [£, €], fill: {transfer_balance: V}}":             "different currencies cannot be added up: EUR, GBP",
		"B: {file: b.csv, into: A, link: NO, currency: [£, €], fill: {transfer_balance: {sum: [V, NO]}}}":              "different currencies cannot be added up",
		"B: {file: b.csv, into: A, link: NO, several: sum, currency: [£, GBP], fill: {transfer_balance: V}}":           "",
		"B: {file: b.csv, into: A, link: NO, fixed: {NO: 1-5, V: 5-6}, fill: {transfer_balance: V}}":                   "the positions of V overlap those of NO",
		"B: {file: b.csv, into: A, link: NO, fill: {transfer_balance: {column: V, positive_when: {NO: 1}}}}":           "positive_when needs negative_when",
		"B: {file: b.csv, into: A, link: NO, fill: {billing_name: '=\"1\"'}}":                                          "",
		"B: {file: b.csv, into: A, link: NO, multiline: perhaps, fill: {transfer_balance: {column: V, strip: \"0\"}}}": "multiline must be true or false",
	} {
		_, _, err := attempt(t, tableFolder(t, map[string]string{
			"map.yaml": head + "    fill: {customers: [{family_name: NO}]}\n  " + table + "\n", "a.csv": "NO\n1\n", "b.csv": "NO,V\n1,7\n",
		}))
		if wrong, is := errors.AsType[*convert.MapError](err); is != (want != "") || is && !strings.Contains(wrong.Error(), want) {
			t.Errorf("%s: %v", table, err)
		}
	}
}

// A row with totals, which has * instead of an account number, became an account.
func TestAccountNumberIsMoreThanPunctuation(t *testing.T) {
	lines, problems, _ := must(t, map[string]string{
		"map.yaml": head + "    fill: {customers: [{family_name: NAME}]}\n", "a.csv": "NO,NAME\n1,x\n*,y\n--,z\n-\u00e9,w\n",
	})
	if len(lines) != 2 || len(problems) != 2 || !strings.Contains(problems[0][6], "an account number has a letter or a digit") {
		t.Errorf("%q %q", lines, problems)
	}
}
