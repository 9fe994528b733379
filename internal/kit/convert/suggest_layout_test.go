package convert_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"landfall/internal/kit/convert"
)

// TestSuggestionForLinesThatAreNotRows has titles above the header, last lines with totals, and a last line
// that was cut.
func TestSuggestionForLinesThatAreNotRows(t *testing.T) {
	rows, tabs := "", ""
	for i := range 30 {
		rows += fmt.Sprintf("A%04d;Smith;%d,50\n", i, i)
		tabs += fmt.Sprintf("A%04d\tSmith\t%d,50\n", i, i)
	}
	const header = "Account No;Surname;Balance\n"
	for name, with := range map[string]struct{ text, want, not string }{
		"a title":              {"Accounts of 31.12.2025\n" + header + rows, "header: 2 ", ""},
		"titles and delimiter": {"Accounts;;\n\n\"as of; today\"\n" + header + rows, "header: 4 ", ""},
		"a title above tabs":   {"All accounts, closed ones too\nAccount No\tSurname\tBalance\n" + tabs, "header: 2 ", ""},
		"no title":             {header + rows, "account: \"Account No\"", "header:"},
		"the end":              {header + rows + "*** ENDE\n", `skip: "^\\*\\*\\* ENDE"`, ""},
		"a total":              {header + rows + "TOTAL 3012\n", `skip: "^TOTAL [0-9]+"`, ""},
		"a number of rows":     {header + rows + "\n(30 rows)\n", `skip: "^\\([0-9]+ rows\\)"`, ""},
		"two lines":            {header + rows + "TOTAL;30\n*** ENDE ***\n", `skip: ["^TOTAL", "^\\*\\*\\* ENDE \\*\\*\\*"]`, ""},
		"a row of totals":      {header + rows + "TOTAL;;\n", `skip: "^TOTAL *;"`, ""},
		"a line that was cut":  {header + rows + "A0030;Sm", "account: \"Account No\"", "skip:"},
		"a line in between":    {header + "XYZ;1\n" + rows, "account: \"Account No\"", "skip:"},
	} {
		folder, text := suggested(t, "", map[string]string{"accounts.csv": with.text})
		if mustHave(t, text, with.want); with.not != "" && strings.Contains(text, with.not) {
			t.Errorf("%s: %s", name, text)
		}
		if with.not == "" {
			accounts := convertedAccounts(t, folder, strings.NewReplacer("supplier: CHOOSE", "supplier: NORTH", "sign: CHOOSE", "sign: same").Replace(text))
			if strings.Count(accounts, "Smith") != 30 {
				t.Errorf("%s: %s\n%s", name, text, accounts)
			}
		}
	}
}

// TestSuggestionSkipsTheTotalsOfAList has a list as it is shown on a screen, with bars at both ends of its lines. Its
// total was taken for an account with the number *.
func TestSuggestionSkipsTheTotalsOfAList(t *testing.T) {
	text := "|Account No|Surname     |Balance|\n"
	for i := range 30 {
		text += fmt.Sprintf("|A%04d     |Smith       |  %d,50|\n", i, i)
	}
	text += "|*         |            | 450,00|\n|Total     |            | 450,00|\n|A9999     |Total Energy|   5,00|\n---------------------\n"
	folder, suggestion := suggested(t, "", map[string]string{"accounts.txt": text})
	mustHave(t, suggestion, `skip: ["^\\|\\* *\\|", "^\\|Total *\\|", "^---------------------"]`)
	accounts := convertedAccounts(t, folder, strings.NewReplacer("supplier: CHOOSE", "supplier: NORTH", "sign: CHOOSE", "sign: same").Replace(suggestion))
	if strings.Count(accounts, "Smith") != 30 || strings.Contains(accounts, "450") || !strings.Contains(accounts, `"Total Energy"`) {
		t.Error(accounts)
	}
}

// TestSuggestionAsksAboutMixedTables has dates in two formats, and backslashes with a meaning.
func TestSuggestionAsksAboutMixedTables(t *testing.T) {
	rows := ""
	for i := range 30 {
		rows += fmt.Sprintf("A%04d;Smith;%d,50;%s\n", i, i, []string{"2024-05-20", "20.05.2024", "21.06.2024"}[i%3])
	}
	_, text := suggested(t, "", map[string]string{"accounts.csv": "Account No;Surname;Balance;Date of birth\n" + rows})
	mustHave(t, text, "into: accounts", "dates: CHOOSE", "some dates are DD.MM.YYYY and some YYYY-MM-DD")
	_, text = suggested(t, "", map[string]string{"accounts.csv": "Account No,Surname,Balance\nA1,\"O\\\"Brien\",1.50\nA2,\\N,2.50\nA3,\"Back\\\\slash\",3.50\n"})
	mustHave(t, text, "escape: CHOOSE")
	_, text = suggested(t, "", map[string]string{"accounts.csv": "Account No,Surname,Balance\nA1,Brien,1.50\nA2,\\N,2.50\n"})
	if strings.Contains(text, "escape") {
		t.Error(text)
	}
}

// TestOtherSheetsAndEmptyFilesAreNamed checks that nothing of a folder is left out in silence.
func TestOtherSheetsAndEmptyFilesAreNamed(t *testing.T) {
	row := `<row r="1"><c r="A1" t="inlineStr"><is><t>NO</t></is></c></row><row r="2"><c r="A2"><v>1</v></c></row>`
	folder := tableFolder(t, map[string]string{
		"a.xlsx": twoSheets(t, row), "b.csv": "Account No;Surname\nA1;x\nA2;y\n", "none.csv": "\n", "void.xlsx": workbook(t, ""),
		"map.yaml": strings.Replace(head, "a.csv", "a.xlsx", 1) + "    fill: {customers: [{family_name: NO}]}\n",
	})
	profile, err := convert.ProfileTables(t.Context(), folder)
	if err != nil || len(profile.Tables) != 2 || fmt.Sprint(profile.Unread) != "[{a.xlsx, sheet More only the first sheet is described} {none.csv it is empty} {void.xlsx it is empty}]" {
		t.Errorf("%+v %v", profile, err)
	}
	_, result, err := attempt(t, folder)
	if err != nil || strings.Join(result.Tallies[0].Sheets, "") != "a.xlsx More" {
		t.Errorf("%+v %v", result, err)
	}
	if err := os.Remove(filepath.Join(folder, "map.yaml")); err != nil {
		t.Fatal(err)
	}
	suggestion, err := convert.Suggest(t.Context(), convert.SuggestOptions{Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	mustHave(t, suggestion.Text, "# a.xlsx, sheet More: only the first sheet is read", "# none.csv: it is empty", "# void.xlsx: it is empty")
}

// TestExamplesKnowCompactDates places a column of dates without separators and with short years.
func TestExamplesKnowCompactDates(t *testing.T) {
	rows, examples := "K1,K2,K3\n", ""
	for i := range 12 {
		rows += fmt.Sprintf("A%04d,9101%02d,N%d\n", i, i+13, i)
		examples += fmt.Sprintf(`{"external_account_number":"A%04d","date_of_sale":"1991-01-%02d","billing_name":"N%d"}`+"\n", i, i+13, i)
	}
	folder := tableFolder(t, map[string]string{"x.csv": rows, "examples.ndjson": examples})
	suggestion, err := convert.Suggest(t.Context(), convert.SuggestOptions{Folder: folder, Examples: filepath.Join(folder, "examples.ndjson")})
	if err != nil {
		t.Fatal(err)
	}
	mustHave(t, suggestion.Text, "date_of_sale: {column: K2, dates: YYMMDD, century: 50}")
}
