package convert_test

import (
	"fmt"
	"strings"
	"testing"

	"landfall/internal/kit/convert"
)

// TestAColumnWithBothReadingsRefusesTheDoubtfulRows has a column in which one number shows that some
// are written in another way. Those that can be either are reported, and the others converted.
func TestAColumnWithBothReadingsRefusesTheDoubtfulRows(t *testing.T) {
	for name, test := range map[string]struct{ settings, values, used string }{
		"a decimal comma":               {"decimal: ',', grouping: '.'", `"1,50" 1.234 "1.234,50" 1.234.567`, "1.50 1234 1234.50 1234567"},
		"a point among commas":          {"decimal: ',', grouping: '.'", `"1,50" 1.234 "1.234,50" 1.234.567 29.65`, "1.50 1234.50 1234567"},
		"a comma among points":          {"decimal: '.', grouping: ','", `1.50 "1,234" "1,234.50" "29,65"`, "1.50 1234.50"},
		"an unlisted currency":          {"decimal: '.', grouping: ','", `1.50 "1,234" "12,50EUR"`, "1.50"},
		"kept, because the map says so": {"decimal: '.', grouping: ',', mixed_formats: keep", `1.50 "1,234" "29,65"`, "1.50 1234"},
	} {
		rows := ""
		for i, value := range strings.Fields(test.values) {
			rows += fmt.Sprintf("%d,x,%s\n", 10+i, value)
		}
		lines, problems, result := must(t, map[string]string{
			"map.yaml": "source: {" + test.settings + "}\n" + head + "    fill: {customers: [{family_name: NAME}], transfer_balance: BAL}\n",
			"a.csv":    "NO,NAME,BAL\n" + rows,
		})
		used := strings.Fields(test.used)
		if len(lines) != len(used) || len(problems) != len(strings.Fields(test.values))-len(used) || result.Tallies[0].Read != len(lines)+len(problems) {
			t.Errorf("%s: %q %q", name, lines, problems)
			continue
		}
		for i, want := range used {
			if !strings.Contains(lines[i], `"transfer_balance":"`+want+`"`) {
				t.Errorf("%s: %s, want %s", name, lines[i], want)
			}
		}
	}
}

func TestDatesThatFitTwoFormatsAreRefused(t *testing.T) {
	for name, test := range map[string]struct{ settings, values, used string }{
		"the day first":              {"dates: DD/MM/YYYY", "03/04/2001 25/12/2001", "2001-04-03 2001-12-25"},
		"one with the month first":   {"dates: DD/MM/YYYY", "03/04/2001 25/12/2001 12/25/2001 05/05/2001", "2001-12-25 2001-05-05"},
		"the month in one digit":     {"dates: DD/MM/YYYY", "03/04/2001 25/12/2001 4/13/2001", "2001-12-25"},
		"with other separators":      {"dates: DD/MM/YYYY", "03/04/2001 25/12/2001 12-31-2001", "2001-12-25"},
		"another kind of date":       {"dates: DD/MM/YYYY", "03/04/2001 2001-12-31 31-12-2001", "2001-04-03"},
		"two formats":                {"dates: [DD/MM/YYYY, MM/DD/YYYY]", "03/04/2001 25/12/2001 12/25/2001 05/05/2001", "2001-12-25 2001-12-25 2001-05-05"},
		"the year first":             {"dates: DD/MM/YY", "01/02/03 99/12/31 31/12/99", "1999-12-31"},
		"a year that is no month":    {"dates: MM/DD/YY", "02/23/19 05/28/31 05/12/24 13/05/24", "2019-02-23 2031-05-28"},
		"past":                       {"dates: DD/MM/YY, century: past", "13/12/25 13/12/49", "2025-12-13 1949-12-13"},
		"a day that does not exist":  {"dates: DD/MM/YY", "03/04/21 14/03/24 30/02/25 31/04/25", "2021-04-03 2024-03-14"},
		"a pivot":                    {"dates: DD/MM/YY, century: 30", "13/12/29 13/12/30", "2029-12-13 1930-12-13"},
		"kept, as the map says":      {"dates: DD/MM/YYYY, mixed_formats: keep", "03/04/2001 12/25/2001", "2001-04-03"},
		"a month's name is no doubt": {"dates: DD-MON-YYYY", "03-Apr-2001 13-Apr-2001", "2001-04-03 2001-04-13"},
	} {
		rows := ""
		for i, value := range strings.Fields(test.values) {
			rows += fmt.Sprintf("%d,x,%s\n", 10+i, value)
		}
		lines, problems, _ := must(t, map[string]string{
			"map.yaml": "source: {" + test.settings + "}\n" + head + "    fill: {customers: [{family_name: NAME}], date_of_sale: SOLD}\n",
			"a.csv":    "NO,NAME,SOLD\n" + rows,
		})
		used := strings.Fields(test.used)
		if len(lines) != len(used) || len(problems) != len(strings.Fields(test.values))-len(used) {
			t.Errorf("%s: %q %q", name, lines, problems)
			continue
		}
		for i, want := range used {
			if !strings.Contains(lines[i], `"date_of_sale":"`+want+`"`) {
				t.Errorf("%s: %s, want %s", name, lines[i], want)
			}
		}
	}
}

// TestYearsOfBirthHaveACentury requires a map to say what two-digit years of birth mean. What source says
// holds for the attrs with formats of their own too.
func TestYearsOfBirthHaveACentury(t *testing.T) {
	table := map[string]string{"a.csv": "NO,NAME,BORN\n1,x,13/12/24\n2,y,13/12/80\n3,z,13/01/08\n"}
	for settings, want := range map[string]string{
		"dates: DD/MM/YY, century: adult": "1924 1980 2008", "dates: DD/MM/YY, century: past": "2024 1980 2008", "dates: DD/MM/YY, century: 20": "1924 1980 2008",
		"century: adult": "1924 1980 2008", "dates: DD/MM/YY": "",
	} {
		birth := "BORN"
		if !strings.Contains(settings, "dates") {
			birth = "{column: BORN, dates: DD/MM/YY}"
		}
		table["map.yaml"] = "source: {" + settings + "}\n" + head + "    fill: {customers: [{family_name: NAME, date_of_birth: " + birth + "}]}\n"
		if want == "" {
			if _, _, err := attempt(t, tableFolder(t, table)); err == nil || !strings.Contains(err.Error(), "customers.date_of_birth has years of two digits") {
				t.Errorf("%s: %v", settings, err)
			}
			continue
		}
		lines, problems, _ := must(t, table)
		for i, year := range strings.Fields(want) {
			if len(lines) != 3 || !strings.Contains(lines[i], `"date_of_birth":"`+year+"-") {
				t.Errorf("%s: %q %q, want %s", settings, lines, problems, want)
				break
			}
		}
	}
}

func TestSuggestionAsksAboutFiguresAndDatesThatCanBeReadTwoWays(t *testing.T) {
	folder := tableFolder(t, map[string]string{
		"accounts.csv": "AccountNo;Balance;LastBalance;Sold;Issued\n1;1.234;29.65;03/04/2001;25/12/2001\n2;2.500;1.234;04/05/2001;03/04/2001\n",
		"payments.csv": "AccountNo;TransNo;Amount;Date\n1;1;12,50;31/12/2001\n2;2;29.65;30/12/2001\n",
		"bills.csv":    "AccountNo;BillNo;Gross;Issued\n1;1;£1.234,50;31/12/2001\n2;2;£12,00;30/12/2001\n",
	})
	suggestion, err := convert.Suggest(t.Context(), convert.SuggestOptions{Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"transfer_balance: {column: Balance, decimal: CHOOSE, sign: CHOOSE}", "last_statement_balance: {column: LastBalance, sign: CHOOSE}", "date_of_sale: {column: Sold, dates: CHOOSE}",
		"last_statement_issue_date: Issued", "amount: {column: Amount, decimal: CHOOSE}", `gross_amount: {column: Gross, decimal: ",", grouping: ".", currency: ["£"]}`,
	} {
		if !strings.Contains(suggestion.Text, want) {
			t.Errorf("no %q in\n%s", want, suggestion.Text)
		}
	}
}

// TestAReusedAccountNumberMixesNothing has two accounts with one number. Neither is in the book, and
// neither is what belongs to them.
func TestAReusedAccountNumberMixesNothing(t *testing.T) {
	for name, second := range map[string]string{"good": "1.50", "unconvertible": "x"} {
		for _, more := range []string{"", "  P: {file: p.csv, into: A.supply_addresses, link: SITE, fill: {supply_address1: STREET}}\n"} {
			for _, rows := range []string{"1,s1,One,2\n2,s2,Two,3\n2,s3,Other," + second + "\n3,s4,Three,4\n", "1,s1,One,2\n2,s2,Two," + second + "\n2,s3,Other,5\n3,s4,Three,4\n"} {
				book, result, err := attempt(t, tableFolder(t, map[string]string{
					"map.yaml": head + `    fill: {customers: {rows: C}, transfer_balance: BAL}
  C: {file: c.csv, into: A.customers, link: NO, fill: {family_name: NAME}}
  N: {file: c.csv, into: notes, account: NO, orphans: keep, fill: {body: NAME}}
` + more,
					"a.csv": "NO,SITE,NAME,BAL\n" + rows, "c.csv": "NO,NAME\n1,a\n2,b\n2,c\n3,d\n4,e\n", "p.csv": "SITE,STREET\ns1,x\ns2,y\ns3,z\ns4,w\n",
				}))
				if err != nil {
					t.Fatal(err)
				}
				lines, notes, problems := linesOf(t, book, "accounts"), linesOf(t, book, "notes"), problemsOf(t, book)
				if len(lines) != 2 || len(notes) != 3 || !strings.Contains(lines[0], `"external_account_number":"1"`) || !strings.Contains(lines[1], `"external_account_number":"3"`) {
					t.Errorf("%s: %q %q %q", name, lines, notes, problems)
				}
				want := 2
				for _, problem := range problems {
					if problem[3] == "duplicate" && (!strings.Contains(problem[6], "a.csv:3") && !strings.Contains(problem[6], "a.csv:4") || problem[5] != "2") {
						t.Errorf("%s: %q", name, problem)
					}
					if problem[0] == "A" {
						want--
					}
				}
				if want != 0 || result.Tallies[0].Used != 2 {
					t.Errorf("%s: problems %q, %+v", name, problems, result.Tallies[0])
				}
			}
		}
	}
}
