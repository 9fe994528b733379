package convert_test

import (
	"context"
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"landfall/internal/kit/convert"
)

// tableFolder writes tables and a map into a folder.
func tableFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func attempt(t *testing.T, folder string) (book string, result *convert.Result, err error) {
	t.Helper()
	book = filepath.Join(t.TempDir(), "book")
	result, err = convert.Convert(t.Context(), convert.Options{Map: filepath.Join(folder, "map.yaml"), Source: folder, Book: book, Memory: 1})
	return book, result, err
}

// must converts and returns the lines of the accounts and the problems.
func must(t *testing.T, files map[string]string) (lines []string, problems [][]string, result *convert.Result) {
	t.Helper()
	book, result, err := attempt(t, tableFolder(t, files))
	if err != nil {
		t.Fatal(err)
	}
	return linesOf(t, book, "accounts"), problemsOf(t, book), result
}

func linesOf(t *testing.T, book, stem string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(book, stem+".ndjson"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
}

func problemsOf(t *testing.T, book string) [][]string {
	t.Helper()
	file, err := os.Open(filepath.Join(book, "conversion", "problems.csv"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows[1:]
}

// head is the beginning of a map with one table of accounts.
const head = `map: 1
supplier: NORTH
tables:
  A:
    file: a.csv
    into: accounts
    account: NO
`

// TestExpressions tries every setting of a map on one row.
func TestExpressions(t *testing.T) {
	for name, one := range map[string]struct{ fill, columns, row, want string }{
		"a column":                       {"billing_name: X", "X", " Smith ", `"billing_name":"Smith"`},
		"a currency and a fixed blank":   {"transfer_balance: {column: X, currency: £}", "X", "-£\u00a06.50", `"transfer_balance":"-6.50"`},
		"a constant in quotes":           {"billing_name: '=\"007\"'", "X", "x", `"billing_name":"007"`},
		"zeros stripped but one":         {"billing_name: {column: X, strip: \"0\"}", "X", "000", `"billing_name":"0"`},
		"nothing":                        {"billing_name: X", "X", "  ", ``},
		"a constant":                     {"billing_name: =A & B", "X", "", `"billing_name":"A & B"`},
		"blanks kept":                    {"billing_name: {column: X, trim: no}", "X", " S ", `"billing_name":" S "`},
		"joined":                         {"billing_name: {join: [T, F, L]}", "T,F,L", "Dr,,Who", `"billing_name":"Dr Who"`},
		"joined with":                    {"billing_name: {join: [T, =x, L], with: '-'}", "T,L", "a,b", `"billing_name":"a-x-b"`},
		"split":                          {"billing_name: {column: X, split: '/', part: 2}", "X", "a / b / c", `"billing_name":"b"`},
		"split from behind":              {"billing_name: {column: X, split: '/', part: -1}", "X", "a/b/c", `"billing_name":"c"`},
		"no such part":                   {"billing_name: {column: X, split: '/', part: 4}", "X", "a/b/c", ``},
		"first":                          {"billing_name: {first: [X, Y, =none]}", "X,Y", ",b", `"billing_name":"b"`},
		"first of none":                  {"billing_name: {first: [X, Y, =none]}", "X,Y", ",", `"billing_name":"none"`},
		"default":                        {"billing_name: {column: X, default: none}", "X", "", `"billing_name":"none"`},
		"capitals":                       {"billing_name: {column: X, upper: true}", "X", "é", `"billing_name":"É"`},
		"zeros in front":                 {"billing_name: {column: X, strip: '0'}", "X", "00070", `"billing_name":"70"`},
		"translated":                     {"account_type: {column: X, values: {P: DOMESTIC}}", "X", "P", `"account_type":"DOMESTIC"`},
		"a code in blanks":               {"account_type: {column: X, values: {P: DOMESTIC}}", "X", " P ", `"account_type":"DOMESTIC"`},
		"a blank":                        {"billing_name: {column: X, values: {' ': Q, P: R}}", "X", " ", ``},
		"a code to nothing":              {"billing_name: {column: X, values: {P: ''}}", "X", "P", ``},
		"yes, translated":                {"unknown_occupier: {column: X, values: {P: 'true'}}", "X", "P", `"unknown_occupier":true`},
		"by name":                        {"account_type: {column: X, values: kind}", "X", "B", `"account_type":"BUSINESS"`},
		"otherwise":                      {"account_type: {column: X, values: {P: DOMESTIC}, otherwise: BUSINESS}", "X", "Z", `"account_type":"BUSINESS"`},
		"kept":                           {"billing_name: {column: X, values: {P: Q}, otherwise: keep}", "X", "Z", `"billing_name":"Z"`},
		"on condition":                   {"billing_name: {column: X, when: {Y: [a, b]}}", "X,Y", "n,b", `"billing_name":"n"`},
		"condition fails":                {"billing_name: {column: X, when: {Y: {not: b}}}", "X,Y", "n,b", ``},
		"a day":                          {"date_of_sale: {column: X, dates: DD.MM.YYYY}", "X", "31.12.1999", `"date_of_sale":"1999-12-31"`},
		"a short day":                    {"date_of_sale: {column: X, dates: D/M/YY}", "X", "1/2/51", `"date_of_sale":"1951-02-01"`},
		"a month's name":                 {"date_of_sale: {column: X, dates: DD-MON-YYYY}", "X", "03-Feb-2001", `"date_of_sale":"2001-02-03"`},
		"its whole name":                 {"date_of_sale: {column: X, dates: DD-MON-YYYY}", "X", "03-February-2001", `"date_of_sale":"2001-02-03"`},
		"whole and short":                {"date_of_sale: {column: X, dates: D MON YYYY}", "X", "5 may 2001", `"date_of_sale":"2001-05-05"`},
		"of four letters":                {"date_of_sale: {column: X, dates: DDMONYY}", "X", "05SEPT01", `"date_of_sale":"2001-09-05"`},
		"one of two ways":                {"date_of_sale: {column: X, dates: [DD.MM.YYYY, YYYYMMDD]}", "X", "20010203", `"date_of_sale":"2001-02-03"`},
		"no day, said so":                {"date_of_sale: X", "X", "NULL", ``},
		"cents":                          {"transfer_balance: {column: X, minor_units: 2}", "X", "-5", `"transfer_balance":"-0.05"`},
		"reversed":                       {"transfer_balance: {column: X, minor_units: 2, sign: reversed}", "X", "1234", `"transfer_balance":"-12.34"`},
		"reversed nothing":               {"transfer_balance: {column: X, minor_units: 2, sign: reversed}", "X", "000", `"transfer_balance":"0.00"`},
		"grouped":                        {"transfer_balance: {column: X, decimal: ',', grouping: '.'}", "X", `"1.234,56-"`, `"transfer_balance":"-1234.56"`},
		"a sign beside":                  {"transfer_balance: {column: X, negative_when: {S: D}}", "X,S", "12.5,D", `"transfer_balance":"-12.5"`},
		"parentheses":                    {"transfer_balance: X", "X", "(12.50)", `"transfer_balance":"-12.50"`},
		"a sign word":                    {"transfer_balance: {column: X, signs: {CR: plus, DR: minus}}", "X", "29.65DR", `"transfer_balance":"-29.65"`},
		"its other word":                 {"transfer_balance: {column: X, signs: {CR: plus, DR: minus}, sign: reversed}", "X", "29.65 Cr", `"transfer_balance":"-29.65"`},
		"a currency":                     {"transfer_balance: {column: X, currency: ['£', GBP], grouping: ','}", "X", `"£1,234.50-"`, `"transfer_balance":"-1234.50"`},
		"a sum":                          {"transfer_balance: {sum: [X, Y, Z]}", "X,Y,Z", "1.05,,-2.5", `"transfer_balance":"-1.45"`},
		"a part in cents":                {"transfer_balance: {first: [{column: X, minor_units: 2}, Y]}", "X,Y", "1250,", `"transfer_balance":"12.50"`},
		"the other part":                 {"transfer_balance: {first: [{column: X, minor_units: 2}, Y]}", "X,Y", ",7.5", `"transfer_balance":"7.5"`},
		"a part with a sign":             {"transfer_balance: {first: [{column: X, sign: reversed}, Y]}", "X,Y", "5,", `"transfer_balance":"-5"`},
		"a part with its own dates":      {"date_of_sale: {first: [{column: X, dates: MM/DD/YYYY, days: -1}, Y]}", "X,Y", "04/03/2001,", `"date_of_sale":"2001-04-02"`},
		"a sum as a part":                {"transfer_balance: {first: [{sum: [X, Y], decimal: ',', grouping: '.'}, =0]}", "X,Y", `"1,111","0,123"`, `"transfer_balance":"1.234"`},
		"a constant as a part":           {"transfer_balance: {first: [{column: X, decimal: ',', grouping: '.'}, =1.25]}", "X", `""`, `"transfer_balance":"1.25"`},
		"an object of constants":         {"account_billing_options: {period_length: =MONTHLY}", "X", "1", `"account_billing_options":{"period_length":"MONTHLY"}`},
		"a text of a number":             {"billing_name: {product: [X, Y], round: 2}", "X,Y", "3,1.333", `"billing_name":"4.00"`},
		"a text of cents":                {"billing_name: {column: X, minor_units: 2}", "X", "1234", `"billing_name":"12.34"`},
		"a text of a date":               {"billing_name: {column: X, dates: DD/MM/YY, days: +1}", "X", "31/12/23", `"billing_name":"2024-01-01"`},
		"thousandths of a dinar":         {"transfer_balance: X", "X", "1.234", `"transfer_balance":"1.234"`},
		"a sum of cents with a constant": {"transfer_balance: {sum: [X, =5], minor_units: 2}", "X", "100", `"transfer_balance":"1.05"`},
		"a sum of cents":                 {"transfer_balance: {sum: [X, Y], minor_units: 2, sign: reversed}", "X,Y", "105,3", `"transfer_balance":"-1.08"`},
		"a product":                      {"transfer_balance: {product: [X, Y], round: 2}", "X,Y", "3.5,-0.1271", `"transfer_balance":"-0.44"`},
		"a product, comma":               {"transfer_balance: {product: [X, =0.5], decimal: ','}", "X", `"12,5"`, `"transfer_balance":"6.25"`},
		"no product":                     {"transfer_balance: {product: [X, Y]}", "X,Y", "3.5,", ``},
		"rounded":                        {"transfer_balance: {column: X, round: 2}", "X", "0.005", `"transfer_balance":"0.01"`},
		"a day later":                    {"date_of_sale: {column: X, days: +1}", "X", "2024-02-28", `"date_of_sale":"2024-02-29"`},
		"a day earlier":                  {"date_of_sale: {column: X, dates: DD.MM.YYYY, days: -1}", "X", "01.01.2024", `"date_of_sale":"2023-12-31"`},
		"matches":                        {"billing_name: {column: X, when: {Y: {matches: '^A[0-9]+$'}}}", "X,Y", "n,A12", `"billing_name":"n"`},
		"does not match":                 {"billing_name: {column: X, when: {Y: {matches: '^A[0-9]+$'}}}", "X,Y", "n,B12", ``},
		"above":                          {"billing_name: {column: X, when: {Y: {above: 9.99, at_most: '10'}}}", "X,Y", "n,10.00", `"billing_name":"n"`},
		"not above":                      {"billing_name: {column: X, when: {Y: {above: 9.99}}}", "X,Y", "n,9.99", ``},
		"below, and empty":               {"billing_name: {column: X, when: {Y: {below: 5}}}", "X,Y", "n,", ``},
		"a date from":                    {"billing_name: {column: X, when: {Y: {at_least: 2024-01-01, below: 2025-01-01}}}", "X,Y", "n,2024-12-31", `"billing_name":"n"`},
		"extracted":                      {"billing_postcode: {column: X, extract: gb-postcode}", "X", `"12 High Street, Leeds ls1 1aa"`, `"billing_postcode":"ls1 1aa"`},
		"removed":                        {"billing_address2: {column: X, remove: gb-postcode, split: ',', part: 2}", "X", `"12 High Street, Leeds LS1 1AA"`, `"billing_address2":"Leeds"`},
		"a group":                        {"billing_name: {column: X, extract: '^([^,]+),'}", "X", `"Smith, J"`, `"billing_name":"Smith"`},
		"otherwise, kept":                {"billing_name: {column: X, extract: '^([^,]+),', otherwise: keep}", "X", `Smith`, `"billing_name":"Smith"`},
		"yes":                            {"unknown_occupier: X", "X", "Y", `"unknown_occupier":true`},
		"a whole number":                 {"account_billing_options: {period_start_day: X}", "X", "07", `"account_billing_options":{"period_start_day":7}`},
		"an empty object":                {"account_billing_options: {period_start_day: X, period_length: =MONTHLY}", "X", "", ``},
		"a list":                         {"references: [{namespace: =old, value: X}, {namespace: =older, value: Y}]", "X,Y", ",7", `"references":[{"namespace":"older","value":"7"}]`},
		"quotes and lines":               {"billing_name: X", "X", "\"a \"\"b\"\"\nc\\\"", `"billing_name":"a \"b\"\nc\\"`},
		"a quote within":                 {"billing_name: X", "X", `12" pipe`, `"billing_name":"12\" pipe"`},
	} {
		for _, source := range []string{"source: {empty: ['NULL']}\n", ""} { // without such words there are shorter ways
			if source == "" && one.row == "NULL" {
				continue
			}
			t.Run(name, func(t *testing.T) {
				lines, problems, _ := must(t, map[string]string{
					"map.yaml": "values: {kind: {B: BUSINESS}}\n" + source + head + "    fill:\n      customers: [{family_name: NO}]\n      " + one.fill + "\n",
					"a.csv":    "NO," + one.columns + "\n1," + one.row + "\n",
				})
				want := `{"import_supplier":"NORTH","external_account_number":"1","customers":[{"family_name":"1"}]`
				if one.want != "" {
					want += "," + one.want
				}
				if len(lines) != 1 || lines[0] != want+"}" {
					t.Errorf("got %q %q\nwant %s}", lines, problems, want)
				}
			})
		}
	}
}

// TestRowsThatCannotBeConverted wants each problem with its line and column, and the other rows in
// the book.
func TestRowsThatCannotBeConverted(t *testing.T) {
	lines, problems, result := must(t, map[string]string{
		"map.yaml": "source: {encoding: windows-1252, dates: DD.MM.YYYY}\n" + head + `    fill:
      customers: [{family_name: NAME}]
      date_of_sale: SOLD
      transfer_balance: BAL
      account_type: {column: KIND, values: {P: DOMESTIC}}
`,
		"a.csv": "NO,NAME,SOLD,BAL,KIND\n" +
			"1,Bj\xf6rk \x80,01.02.2003,1.50,P\n" +
			"2,x,31.02.2003,1,P\n" +
			"3,x,,1.2345,P\n" +
			"4,x,,,X\n" +
			"5,\x81,,,P\n" +
			"6,a\x00b,,,P\n" +
			"7,too,few\n" +
			"8,x,,,P,more\n" +
			"9,\"x\"y,,,P\n" +
			",x,,,P\n" +
			"14,once,,,P\n" +
			"14,again,,,P\n" +
			"11,\"two\nlines\",,abc,P\n" +
			"\r\n" +
			"12,last,,,P",
	})
	if len(lines) != 2 || !strings.Contains(lines[0], `"Björk €"`) || !strings.Contains(lines[1], `"last"`) {
		t.Errorf("lines %q", lines)
	}
	want := [][]string{
		{"3", "unconvertible", "SOLD", "31.02.2003"}, {"4", "unconvertible", "BAL", "1.2345"}, {"5", "unconvertible", "KIND", "X"},
		{"6", "unconvertible", "NAME", "\ufffd"}, {"7", "unconvertible", "NAME", "a\x00b"}, {"8", "malformed", "", "7"}, {"9", "malformed", "", "8"},
		{"10", "malformed", "", "9"}, {"11", "unconvertible", "NO", ""}, {"14", "unconvertible", "BAL", "abc"},
		{"12", "duplicate", "NO", "14"}, {"13", "duplicate", "NO", "14"},
	}
	if len(problems) != len(want) {
		t.Fatalf("%d problems: %q", len(problems), problems)
	}
	for i, one := range want {
		if got := problems[i]; got[1] != "a.csv" || got[2] != one[0] || got[3] != one[1] || got[4] != one[2] || got[5] != one[3] || got[6] == "" {
			t.Errorf("problem %q, want %q", got, one)
		}
	}
	if tally := result.Tallies[0]; tally.Read != 14 || tally.Used != 2 || tally.Reported() != 12 {
		t.Errorf("tally %+v", tally)
	}
}

// TestEveryRowIsAccountedFor links tables in every way and loses rows on purpose.
func TestEveryRowIsAccountedFor(t *testing.T) {
	lines, problems, result := must(t, map[string]string{
		"map.yaml": head + `    when: {STATE: {not: closed}}
    fill:
      billing_name: NAME
  ROLE:
    file: role.csv
    into: A.customers
    link: {ACC: NO}
    fill: {role: ROLE}
  PERSON:
    file: person.csv
    into: ROLE
    link: PID
    fill: {family_name: NAME, date_of_birth: BORN}
  CONSENT:
    file: consent.csv
    into: PERSON.consents
    link: PID
    fill: {type: TYPE, value: =ACCEPTED}
  ADDRESS:
    file: address.csv
    into: A.billing_address
    link: {ID: ADDR}
    fill: {country: =GB, locality: TOWN}
  NOTE:
    file: note.csv
    into: notes
    account: NO
    fill: {body: TEXT}
`,
		"a.csv":       "NO,NAME,STATE,ADDR\n10,ten,,7\n9,nine,,\n8,eight,closed,7\n11,eleven,,7\n",
		"role.csv":    "ACC,PID,ROLE\n10,1,HOLDER\n10,2,OTHER\n9,1,HOLDER\n99,2,HOLDER\n9,77,HOLDER\n11,5,HOLDER\n",
		"person.csv":  "PID,NAME,BORN\n1,One,\n2,Two,2000-01-01\n3,Three,\n5,Five,soon\n",
		"consent.csv": "PID,TYPE\n1,sms\n3,sms\n5,sms\n6,sms\n",
		"address.csv": "ID,TOWN\n7,Leeds\n7,Leeds\n8,York\n",
		"note.csv":    "NO,TEXT\n10,a\n9,b\n10,c\n77,d\n",
	})
	want := []string{
		`{"import_supplier":"NORTH","external_account_number":"9","billing_name":"nine","customers":[{"role":"HOLDER","family_name":"One","consents":[{"type":"sms","value":"ACCEPTED"}]}]}`,
		`{"import_supplier":"NORTH","external_account_number":"10","billing_name":"ten","customers":[{"role":"HOLDER","family_name":"One","consents":[{"type":"sms","value":"ACCEPTED"}]},{"role":"OTHER","family_name":"Two","date_of_birth":"2000-01-01"}],"billing_address":{"country":"GB","locality":"Leeds"}}`,
		`{"import_supplier":"NORTH","external_account_number":"11","billing_name":"eleven","customers":[],"billing_address":{"country":"GB","locality":"Leeds"}}`,
	}
	if strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("lines\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	for name, sums := range map[string][6]int{ // read, used, passed over, not referred, left out, reported
		"A": {4, 3, 1, 0, 0, 0}, "ROLE": {6, 3, 0, 0, 0, 3}, "PERSON": {4, 2, 0, 1, 0, 1}, "CONSENT": {4, 1, 0, 0, 2, 1}, "ADDRESS": {3, 1, 0, 0, 0, 2}, "NOTE": {4, 3, 0, 0, 0, 1},
	} {
		for _, tally := range result.Tallies {
			if got := [6]int{tally.Read, tally.Used, tally.PassedOver, tally.NotReferred, tally.LeftOut, tally.Reported()}; tally.Table == name && got != sums {
				t.Errorf("%s: %v, want %v\n%q", name, got, sums, problems)
			}
		}
	}
}

// TestEncodings reads one name in every encoding. With the wrong one it would be a wrong name
// without an error.
func TestEncodings(t *testing.T) {
	wide := func(mark string, little bool) string {
		text := mark
		for _, r := range "NO,NAME\r\n1,Zoë €\r\n" {
			if little {
				text += string([]byte{byte(r), byte(r >> 8)})
			} else {
				text += string([]byte{byte(r >> 8), byte(r)})
			}
		}
		return text
	}
	for encoding, text := range map[string]string{
		"utf-8":        "\xef\xbb\xbfNO,NAME\n1,Zoë €\n",
		"windows-1252": "NO,NAME\n1,Zo\xeb \x80\n",
		"utf-16":       wide("\xff\xfe", true),
		"UTF-16":       wide("\xfe\xff", false),
	} {
		lines, problems, _ := must(t, map[string]string{
			"map.yaml": "source: {encoding: " + encoding + "}\n" + head + "    fill: {customers: [{family_name: NAME}]}\n", "a.csv": text,
		})
		if len(lines) != 1 || !strings.Contains(lines[0], `"Zoë €"`) {
			t.Errorf("%s: %q %q", encoding, lines, problems)
		}
	}
}

// TestEndlessRows checks that an open quote costs only its own line, and that a very long line
// is not kept in memory.
func TestEndlessRows(t *testing.T) {
	lines, problems, _ := must(t, map[string]string{
		"map.yaml": head + "    fill: {customers: [{family_name: NAME}]}\n",
		"a.csv":    "NO,NAME\n1,one\n2,\"open\n3,three\n4," + strings.Repeat("x", 9<<20) + "\n5,five\n6,\"open\n7,seven\n",
	})
	if len(lines) != 4 {
		t.Errorf("%d lines, problems %q", len(lines), problems)
	}
	for i, line := range []string{"3", "5", "7"} {
		if len(problems) != 3 || problems[i][2] != line || problems[i][3] != "malformed" {
			t.Fatalf("problems %q", problems)
		}
	}
}

// TestListsAreBounded gives an account more rows than a request may have. They are split over
// several lines where possible. Otherwise they are reported, and the account is not written with some of them.
func TestListsAreBounded(t *testing.T) {
	book, result, err := attempt(t, tableFolder(t, map[string]string{
		"map.yaml": head + "    fill: {customers: {rows: C}}\n  C: {file: c.csv, into: A.customers, link: NO, fill: {family_name: NO}}\n  N: {file: n.csv, into: notes, account: NO, fill: {body: NO}}\n",
		"a.csv":    "NO\n1\n2\n",
		"c.csv":    "NO\n" + strings.Repeat("1\n", 2500),
		"n.csv":    "NO\n" + strings.Repeat("2\n", 2500),
	}))
	if err != nil {
		t.Fatal(err)
	}
	if tally := result.Tallies[1]; tally.Used != 0 || tally.LeftOut != 100 || tally.Problems[convert.Surplus] != 2400 || result.Tallies[0].Problems[convert.Incomplete] != 1 {
		t.Errorf("customers: %+v", tally)
	}
	if notes := linesOf(t, book, "notes"); len(notes) != 3 || result.Tallies[2].Used != 2500 {
		t.Errorf("%d lines of notes: %+v", len(notes), result.Tallies[2])
	}
}

// TestFailedConversionLeavesNoFiles wants no book and no temporary folder.
func TestFailedConversionLeavesNoFiles(t *testing.T) {
	folder := tableFolder(t, map[string]string{"map.yaml": head + "    fill: {customers: [{family_name: NO}]}\n", "a.csv": "NO\n1\n"})
	above := t.TempDir()
	order := convert.Options{Map: filepath.Join(folder, "map.yaml"), Source: folder, Book: filepath.Join(above, "book")}
	ctx, stop := context.WithCancel(t.Context())
	order.Progress = func(int64, int64) { stop() }
	if _, err := convert.Convert(ctx, order); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if entries, _ := os.ReadDir(above); len(entries) != 0 {
		t.Errorf("left: %v", entries)
	}
	// The leftover of a killed conversion is removed by the next one.
	if err := os.MkdirAll(filepath.Join(above, "book.part", "spill"), 0o700); err != nil {
		t.Fatal(err)
	}
	order.Progress = nil
	if _, err := convert.Convert(t.Context(), order); err != nil {
		t.Error(err)
	}
	if entries, _ := os.ReadDir(above); len(entries) != 1 || entries[0].Name() != "book" {
		t.Errorf("left: %v", entries)
	}
}

// TestUnusedColumnsAreNamed has columns used by a link, by a condition and by another table,
// and one that is not used.
func TestUnusedColumnsAreNamed(t *testing.T) {
	_, _, result := must(t, map[string]string{
		"map.yaml": head + `    when: {STATE: {not: closed}}
    fill:
      billing_name: NAME
      customers: [{family_name: NAME}]
  AGAIN:
    file: a.csv
    into: notes
    account: NO
    fill: {body: REMARK}
  ADDRESS:
    file: address.csv
    into: A.billing_address
    link: {ID: ADDR}
    fill: {country: =GB, locality: TOWN}
`,
		"a.csv":       "NO,NAME,STATE,ADDR,REMARK,FORGOTTEN\n10,ten,,7,Hello,x\n",
		"address.csv": "ID,TOWN,COUNTY\n7,Leeds,\n",
	})
	for _, tally := range result.Tallies {
		want := "FORGOTTEN"
		if tally.Table == "ADDRESS" {
			want = "COUNTY"
		}
		if got := strings.Join(tally.Unused, " "); got != want {
			t.Errorf("unused columns of %s: %q, want %q", tally.Table, got, want)
		}
	}
}

// TestALocalTimeWasResolvedInSilence converts times that do not exist, exist twice or leave the
// calendar in UTC. Each is reported unless the map decides.
func TestALocalTimeWasResolvedInSilence(t *testing.T) {
	for _, test := range []struct{ zone, changes, local, want, problem string }{
		{"Europe/London", "", "31.03.2024 00:59:59", "2024-03-31T00:59:59Z", ""},
		{"Europe/London", "", "31.03.2024 01:30:00", "", "does not exist in Europe/London"},
		{"Europe/London", "earlier", "31.03.2024 01:30:00", "2024-03-31T00:30:00Z", ""},
		{"Europe/London", "later", "31.03.2024 01:30:00", "2024-03-31T01:30:00Z", ""},
		{"Europe/London", "", "31.03.2024 02:00:00", "2024-03-31T01:00:00Z", ""},
		{"Europe/London", "", "27.10.2024 00:59:59", "2024-10-26T23:59:59Z", ""},
		{"Europe/London", "", "27.10.2024 01:30:00", "", "exists twice in Europe/London"},
		{"Europe/London", "earlier", "27.10.2024 01:30:00", "2024-10-27T00:30:00Z", ""},
		{"Europe/London", "later", "27.10.2024 01:30:00", "2024-10-27T01:30:00Z", ""},
		{"Europe/London", "", "27.10.2024 02:00:00", "2024-10-27T02:00:00Z", ""},
		{"Pacific/Apia", "", "30.12.2011 12:00:00", "", "does not exist in Pacific/Apia"},
		{"America/New_York", "", "31.12.9999 18:59:59", "9999-12-31T23:59:59Z", ""},
		{"America/New_York", "", "31.12.9999 23:59:59", "", "out of range"},
		{"Asia/Tokyo", "", "01.01.0001 00:00:00", "", "out of range"},
		{"UTC", "", "31.12.9999 23:59:59", "9999-12-31T23:59:59Z", ""},
	} {
		dialect := "source: {datetimes: 'DD.MM.YYYY hh:mm:ss', zone: " + test.zone
		if test.changes != "" {
			dialect += ", clock_changes: " + test.changes
		}
		book, result, err := attempt(t, tableFolder(t, map[string]string{
			"a.csv":    "NO,AT\n1," + test.local + "\n",
			"map.yaml": "map: 1\nsupplier: NORTH\n" + dialect + "}\ntables:\n  N: {file: a.csv, into: notes, account: NO, fill: {body: =x, created_at: AT}}\n",
		}))
		if err != nil {
			t.Fatal(err)
		}
		lines, problems := linesOf(t, book, "notes"), problemsOf(t, book)
		switch {
		case test.problem == "" && (len(problems) > 0 || len(lines) != 1 || !strings.Contains(lines[0], `"`+test.want+`"`)):
			t.Errorf("%s in %s (%s): %v, %v", test.local, test.zone, test.changes, lines, problems)
		case test.problem != "" && (len(lines) != 0 || len(problems) != 1 || !strings.Contains(problems[0][6], test.problem) || result.Tallies[0].Used != 0):
			t.Errorf("%s in %s is used: %v, %v", test.local, test.zone, lines, problems)
		}
	}
}

// 100.00 + 5 in minor units became 1.05: the decimal mark of a part was not
// noticed.
func TestASumOfMinorUnitsRefusesAPartWithADecimalMark(t *testing.T) {
	lines, problems, _ := must(t, map[string]string{
		"map.yaml": head + "    fill:\n      customers: [{family_name: NO}]\n      transfer_balance: {sum: [X, Y], minor_units: 2, mixed_formats: keep}\n",
		"a.csv":    "NO,X,Y\n1,100.00,5\n2,100,5\n",
	})
	if len(lines) != 1 || !strings.Contains(lines[0], `"transfer_balance":"1.05"`) || len(problems) != 1 || !strings.Contains(problems[0][len(problems[0])-1], "decimal mark") {
		t.Errorf("got %q %q", lines, problems)
	}
}
