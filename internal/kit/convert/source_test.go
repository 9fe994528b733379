package convert_test

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"landfall/internal/kit/convert"
)

// workbook writes an Excel workbook with one sheet. Style 1 is a date, style 2 a date with a time.
func workbook(t *testing.T, rows string) string {
	t.Helper()
	return writeWorkbook(t, `<sheet name="Data" sheetId="1" r:id="r1"/>`, rows)
}

// twoSheets writes an Excel workbook with the same rows on two sheets, and an empty sheet.
func twoSheets(t *testing.T, rows string) string {
	t.Helper()
	return writeWorkbook(t, `<sheet name="Data" sheetId="1" r:id="r1"/><sheet name="More" sheetId="2" r:id="r1"/><sheet name="Empty" sheetId="3" r:id="r3"/>`, rows)
}

// writeWorkbook writes an Excel workbook.
func writeWorkbook(t *testing.T, sheets, rows string) string {
	t.Helper()
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for name, text := range map[string]string{
		"xl/workbook.xml":            `<workbook><sheets>` + sheets + `</sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="r1" Target="worksheets/sheet1.xml"/><Relationship Id="r3" Target="worksheets/sheet3.xml"/></Relationships>`,
		"xl/styles.xml":              `<styleSheet><numFmts><numFmt numFmtId="170" formatCode="dd/mm/yyyy hh:mm"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="170"/></cellXfs></styleSheet>`,
		"xl/sharedStrings.xml":       `<sst><si><t>NO</t></si><si><t>NAME</t></si><si><r><t>SOL</t></r><r><t>D</t></r></si></sst>`,
		"xl/worksheets/sheet3.xml":   `<worksheet><sheetData></sheetData></worksheet>`,
		"xl/worksheets/sheet1.xml":   `<worksheet><sheetData>` + rows + `</sheetData></worksheet>`,
	} {
		part, err := archive.Create(name)
		if err == nil {
			_, err = part.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestWorkbooksAreTables converts a sheet with a title, a gap, dates by style, a number that is not
// exact in binary, a text of several lines and an error.
func TestWorkbooksAreTables(t *testing.T) {
	files := map[string]string{
		"map.yaml": "source: {encoding: windows-1252, delimiter: ';', decimal: ',', grouping: '.', dates: DD/MM/YYYY}\n" +
			strings.Replace(head, "a.csv", "a.xlsx", 1) + "    sheet: Data\n    header: 2\n    fill: {customers: [{family_name: NAME}], date_of_sale: SOLD, transfer_balance: BAL}\n",
		"a.xlsx": workbook(t, `<row r="1"><c r="A1" t="inlineStr"><is><t>All accounts</t></is></c></row>`+
			`<row r="2"><c r="A2" t="s"><v>0</v></c><c r="B2" t="s"><v>1</v></c><c r="C2" t="s"><v>2</v></c><c r="D2" t="str"><v>BAL</v></c></row>`+
			`<row r="3"><c r="A3"><v>1</v></c><c r="B3" t="inlineStr"><is><t>Smith&#10;Jones, "x"</t></is></c><c r="C3" s="1"><v>45292</v></c><c r="D3"><v>-29.649999999999999</v></c></row>`+
			`<row r="4"><c r="A4"/></row>`+
			`<row r="7"><c r="A7"><v>2</v></c><c r="B7" t="inlineStr"><is><t>b</t></is></c><c r="C7" s="2"><v>45293</v></c><c r="D7" t="inlineStr"><is><t>1.234,50</t></is></c></row>`+
			`<row r="8"><c r="A8"><v>3</v></c><c r="B8" t="inlineStr"><is><t>c</t></is></c><c r="C8" t="inlineStr"><is><t>25/12/2023</t></is></c></row>`+
			`<row r="9"><c r="A9"><v>4</v></c><c r="B9" t="e"><v>#REF!</v></c></row>`+
			`<row r="10"><c r="A10"><v>5</v></c><c r="B10" t="str"><f>B9</f><v>e</v></c><c r="D10" t="str"><f>D9+1</f></c></row>`),
	}
	lines, problems, result := must(t, files)
	for i, want := range []string{
		`"1","customers":[{"family_name":"Smith\nJones, \"x\""}],"date_of_sale":"2024-01-01","transfer_balance":"-29.65"`,
		`"2","customers":[{"family_name":"b"}],"date_of_sale":"2024-01-02","transfer_balance":"1234.50"`,
		`"3","customers":[{"family_name":"c"}],"date_of_sale":"2023-12-25"}`,
	} {
		if len(lines) != 3 || !strings.Contains(lines[i], want) {
			t.Fatalf("%q, want %s; %q", lines, want, problems)
		}
	}
	if len(problems) != 2 || problems[0][2] != "9" || problems[0][5] != "#REF!" || problems[1][4] != "BAL" || result.Tallies[0].Read != 5 {
		t.Errorf("%q %+v", problems, result.Tallies[0])
	}
	suggestion, err := convert.Suggest(t.Context(), convert.SuggestOptions{Folder: tableFolder(t, map[string]string{"accounts.xlsx": files["a.xlsx"]})})
	if err != nil || !strings.Contains(suggestion.Text, "file: accounts.xlsx") {
		t.Errorf("%+v %v", suggestion, err)
	}
}

func TestWorkbooksThatCannotBeRead(t *testing.T) {
	for want, text := range map[string]string{
		"not an Excel workbook":      "NO,NAME\n",
		"old or encrypted":           "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and more",
		"there is no sheet Data":     workbook(t, ""),
		"longer than Excel allows":   workbook(t, `<row r="1"><c r="A1" t="inlineStr"><is><t>`+strings.Repeat("x", 3<<20)+`</t></is></c></row>`),
		"is out of order":            workbook(t, `<row r="1"><c r="B1"><v>1</v></c><c r="A1"><v>1</v></c></row>`),
		"row 3 is out of order":      workbook(t, `<row r="4"></row><row r="3"></row>`),
		"it has more than":           workbook(t, `<row r="1048577"><c><v>1</v></c></row>`),
		"there is no shared text 99": workbook(t, `<row><c t="s"><v>99</v></c></row>`),
		"unexpected EOF":             workbook(t, `<row><c>`),
	} {
		sheet := "Data"
		if want == "there is no sheet Data" {
			text, sheet, want = workbook(t, ""), "Date", "there is no sheet Date; there are Data"
		}
		_, _, err := attempt(t, tableFolder(t, map[string]string{
			"map.yaml": strings.Replace(head, "a.csv", "a.xlsx", 1) + "    sheet: " + sheet + "\n    fill: {customers: [{family_name: NAME}]}\n", "a.xlsx": text,
		}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestOtherLayouts reads the same two accounts from files that are not plain CSV.
func TestOtherLayouts(t *testing.T) {
	for name, one := range map[string]struct{ settings, text string }{
		"fixed columns":               {"fixed: {NO: 1-4, NAME: 5-12, BAL: 13-20}", "1   Smïth      12.50\r\n\r\n2   O,\"B\"      -3.00\r\n"},
		"with a title and a trailer":  {"fixed: {NO: 1-4, NAME: 5-12, BAL: 13-20}, header: 2, skip: ['^TRL']", "REPORT\nNO  NAME         BAL\n1   Smïth      12.50\n2   O,\"B\"      -3.00\nTRL 000002\n"},
		"the rest of the line":        {"fixed: {NO: 1-4, NAME: 5-12, BAL: 13-}", "1   Smïth      12.50\n2   O,\"B\"   -3.00"},
		"returns alone":               {"quote: '\"'", "NO,NAME,BAL\r1,Smïth,12.50\r2,\"O,\"\"B\"\"\",-3.00\r"},
		"a trailer":                   {"skip: '^(TRL|\\*\\*\\*)'", "NO,NAME,BAL\n1,Smïth,12.50\n2,\"O,\"\"B\"\"\",-3.00\nTRL,2\n*** END OF REPORT ***\n"},
		"Ctrl-Z":                      {"quote: '\"'", "NO,NAME,BAL\n1,Smïth,12.50\n2,\"O,\"\"B\"\"\",-3.00\n\x1a\x1a\x00\x00\n"},
		"titles above the header":     {"header: 3", "Accounts\n\"as of, today\"\nNO,NAME,BAL\n1,Smïth,12.50\n2,\"O,\"\"B\"\"\",-3.00\n"},
		"a delimiter that is found":   {"delimiter: detect", "NO|NAME|BAL\n1|Smïth|12.50\n2|\"O,\"\"B\"\"\"|-3.00\n"},
		"escapes, as MySQL does":      {"delimiter: tab, quote: none, escape: backslash", "NO\tNAME\tBAL\n1\tSmïth\t12.50\n2\tO,\\\"B\"\t-3.00\n"},
		"escapes and quotes":          {"delimiter: ';', escape: backslash", "\"NO\";\"NAME\";\"BAL\"\r\n\"1\";\"Smïth\";\"12.50\"\r\n\"2\";\"O,\\\"B\\\"\";\"-3.00\"\r\n"},
		"no line end after the last ": {"delimiter: tab, quote: none, escape: backslash", "NO\tNAME\tBAL\n1\tSmïth\t12.50\n2\tO,\"B\"\t-3.00"},
	} {
		lines, problems, _ := must(t, map[string]string{
			"map.yaml": "map: 1\nsupplier: NORTH\nsource: {dates: YYYY-MM-DD}\ntables:\n  A: {file: a.csv, " + one.settings + ", into: accounts, account: NO, fill: {customers: [{family_name: NAME}], transfer_balance: BAL}}\n",
			"a.csv":    one.text,
		})
		if len(lines) != 2 || len(problems) != 0 || !strings.Contains(lines[0], `"1","customers":[{"family_name":"Smïth"}],"transfer_balance":"12.50"`) ||
			!strings.Contains(lines[1], `"2","customers":[{"family_name":"O,\"B\""}],"transfer_balance":"-3.00"`) {
			t.Errorf("%s: %q %q", name, lines, problems)
		}
	}
	lines, _, _ := must(t, map[string]string{
		"map.yaml": "map: 1\nsupplier: NORTH\ntables:\n  A: {file: a.csv, delimiter: tab, quote: none, escape: backslash, into: accounts, account: NO, fill: {customers: [{family_name: NAME}], transfer_balance: BAL}}\n",
		"a.csv":    "NO\tNAME\tBAL\n1\ttwo\\nlines\\tand\\\nmore\t\\N\n",
	})
	if len(lines) != 1 || !strings.Contains(lines[0], `"family_name":"two\nlines\tand\nmore"}]}`) {
		t.Errorf("%q", lines)
	}
	_, _, err := attempt(t, tableFolder(t, map[string]string{"map.yaml": head + "    fill: {customers: [{family_name: NO}]}\n", "a.csv": "NO;NAME\n1;x\n"}))
	if err == nil || !strings.Contains(err.Error(), `has one column with the delimiter ','; it seems to be ';'`) {
		t.Error(err)
	}
}

// TestFixedLinesWithOtherPositions refuses the lines whose text is not where the map says. Nothing is cut
// or left out without a word.
func TestFixedLinesWithOtherPositions(t *testing.T) {
	for want, line := range map[string]string{
		"there is text after position 20, which no column covers":      "2   Jones     1113.55\n",
		"there is text at the positions 13-13, which no column covers": "2   Jones   x  13.55\n",
		"the line ends within BAL, at position 18 of 14-20":            "2   Jones     13.5\n",
		"the line has a tab": "2   Jones\t       13.55\n",
		"the file ends within this line, before position 12":              "2   Jon",
		"the row has 2 fields, but the table has 3 columns; if it is not": "TRL|2\n",
	} {
		files := map[string]string{
			"map.yaml": "map: 1\nsupplier: NORTH\ntables:\n  A: {file: a.txt, fixed: {NO: 1-4, NAME: 5-12, BAL: 14-20}, into: accounts, account: NO, fill: {customers: [{family_name: NAME}], transfer_balance: BAL}}\n",
			"a.txt":    "1   Smith      12.50\n3   Short           \n" + line,
		}
		if strings.HasPrefix(line, "TRL") {
			files["map.yaml"] = strings.Replace(files["map.yaml"], "fixed: {NO: 1-4, NAME: 5-12, BAL: 14-20}", "columns: [NO, NAME, BAL], delimiter: '|'", 1)
			files["a.txt"] = "1|Smith|12.50\n3|Short|\n" + line
		}
		lines, problems, _ := must(t, files)
		if len(lines) != 2 || len(problems) != 1 || !strings.Contains(problems[0][6], want) || problems[0][2] != "3" {
			t.Errorf("%s: %q %q", want, lines, problems)
		}
	}
}

// TestAnEmptyFileAmongOthers converts the other files of a pattern, and names the empty one.
func TestAnEmptyFileAmongOthers(t *testing.T) {
	files := map[string]string{
		"map.yaml": strings.Replace(head, "a.csv", "a-*.csv", 1) + "    fill: {customers: [{family_name: NAME}]}\n",
		"a-1.csv":  " \r\n\x1a", "a-2.csv": "NO,NAME\n1,x\n", "a-3.csv": "",
	}
	lines, _, result := must(t, files)
	if len(lines) != 1 || strings.Join(result.Tallies[0].Blank, " ") != "a-1.csv a-3.csv" {
		t.Errorf("%q %+v", lines, result.Tallies)
	}
	files["a-2.csv"] = ""
	if _, _, err := attempt(t, tableFolder(t, files)); err == nil || !strings.Contains(err.Error(), "it is empty") {
		t.Error(err)
	}
}

// TestNoBreakSpacesInKeys treats them like other blanks: nobody sees the difference.
func TestNoBreakSpacesInKeys(t *testing.T) {
	for name, nbsp := range map[string]string{"utf-8": "\u00a0", "windows-1252": "\xa0"} {
		lines, problems, _ := must(t, map[string]string{
			"map.yaml": "source: {encoding: " + name + "}\n" + head + "    fill: {customers: {rows: C}}\n  C: {file: c.csv, into: A.customers, link: NO, fill: {family_name: NAME}}\n",
			"a.csv":    "NO,NAME\n1" + nbsp + ",x\nA" + nbsp + "2,x\n", "c.csv": "NO,NAME\n1,Smith" + nbsp + "\nA 2,Jones\n",
		})
		if len(lines) != 2 || len(problems) != 0 || !strings.Contains(lines[0], `"1","customers":[{"family_name":"Smith"}]`) || !strings.Contains(lines[1], `"A 2","customers":[{"family_name":"Jones"}]`) {
			t.Errorf("%s: %q %q", name, lines, problems)
		}
	}
}

func TestAFilterRewritesTables(t *testing.T) {
	folder := tableFolder(t, map[string]string{
		"map.yaml": head + "    fill: {customers: [{family_name: NAME}]}\n", "a.csv": "NO,NAME\n1,old\n",
		"filter.sh": "#!/bin/sh\nsed s/old/$1/\n", "broken.sh": "#!/bin/sh\ncat\necho no such code >&2\nexit 3\n",
	})
	for _, name := range []string{"filter.sh", "broken.sh"} {
		if err := os.Chmod(filepath.Join(folder, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	order := convert.Options{Map: filepath.Join(folder, "map.yaml"), Source: folder, Book: filepath.Join(t.TempDir(), "book"), Filter: filepath.Join(folder, "filter.sh")}
	if _, err := convert.Convert(t.Context(), order); err != nil {
		t.Fatal(err)
	}
	if lines := linesOf(t, order.Book, "accounts"); len(lines) != 1 || !strings.Contains(lines[0], `"family_name":"A"`) {
		t.Errorf("%q", lines)
	}
	order.Book, order.Filter = filepath.Join(t.TempDir(), "book"), filepath.Join(folder, "broken.sh")
	if _, err := convert.Convert(t.Context(), order); err == nil || !strings.Contains(err.Error(), "failed: exit status 3 no such code") {
		t.Error(err)
	}
	if _, err := os.Stat(order.Book); err == nil {
		t.Error("there is a book of a filter that failed")
	}
}

// TestOneOfSeveralRows has histories: accounts with several rows, and balances per account.
func TestOneOfSeveralRows(t *testing.T) {
	for several, want := range map[string]string{
		"first": "1.00", "last": "4.00", "{newest: {column: AT, default: 2023-12-31}}": "3.00", "{oldest: {column: AT, default: 2025-01-01}}": "2.00",
		"{newest: {first: [AT, =9999-12-31]}}": "4.00", "{highest: {column: SEQ, default: 0}}": "2.00", "{lowest: {column: SEQ, default: 99}}": "1.00", "sum": "10.00",
	} {
		accounts := several
		if several == "sum" {
			accounts = "first"
		}
		lines, problems, result := must(t, map[string]string{
			"map.yaml": head + "    several: " + accounts + "\n    fill: {billing_name: NAME, customers: [{family_name: NO}]}\n  B: {file: b.csv, into: A, link: NO, several: " + several + ", fill: {transfer_balance: BAL, currency: =GBP}}\n",
			"a.csv":    "NO,NAME,AT,SEQ\n1,1.00,2024-01-02,1\n1,2.00,2024-01-01,10\n1,3.00,2024-01-03,9\n1,4.00,,\n2,x,,\n",
			"b.csv":    "NO,BAL,AT,SEQ\n1,1.00,2024-01-02,1\n1,2.00,2024-01-01,10\n1,3.00,2024-01-03,9\n1,4.00,,\n2,7,,\n",
		})
		name := want
		if several == "sum" {
			name = "1.00"
		}
		if len(lines) != 2 || len(problems) != 0 || !strings.Contains(lines[0], `"billing_name":"`+name+`"`) || !strings.Contains(lines[0], `"transfer_balance":"`+want+`"`) {
			t.Errorf("%s: %q %q", several, lines, problems)
		}
		if tally := result.Tallies[0]; tally.Read != 5 || tally.Used != 2 || tally.PassedOver != 3 {
			t.Errorf("%s: %+v", several, tally)
		}
	}
	// Nothing says which of two rows of the same day is newer.
	lines, problems, _ := must(t, map[string]string{
		"map.yaml": head + "    several: {newest: AT}\n    fill: {customers: [{family_name: NAME}]}\n",
		"a.csv":    "NO,NAME,AT\n1,a,2024-01-02\n1,b,2024-01-02\n1,c,2024-01-01\n2,d,soon\n3,e,2024-01-01\n",
	})
	if len(lines) != 1 || len(problems) != 3 {
		t.Errorf("%q %q", lines, problems)
	}
}

// TestFlatTables has one table with a row for each supply point, in which the account and its customer
// are repeated, and a table of movements with a column for debits and one for credits.
func TestFlatTables(t *testing.T) {
	book, result, err := attempt(t, tableFolder(t, map[string]string{
		"map.yaml": head + `    several: first
    fill:
      customers: [{family_name: NAME}]
      supply_addresses: [{supply_address1: STREET, supply_points: {rows: POINT}}]
  POINT: {file: a.csv, into: A.supply_addresses.supply_points, link: NO, fill: {identifier: MPAN, supply_type: =ELECTRICITY, supply_start_date: =2020-01-01}}
  MOVE:
    file: m.csv
    into: transactions
    account: NO
    fill:
      transaction_id: DOC
      transaction_date: AT
      amount: {sum: [DEBIT, CREDIT]}
      type: {first: [{constant: CHARGE, when: {DEBIT: {above: 0}}}, =PAYMENT]}
`,
		"a.csv": "NO,NAME,STREET,MPAN\n1,Smith,1 High St,101\n1,Smith,1 High St,102\n2,Jones,2 High St,103\n",
		"m.csv": "NO,DOC,AT,DEBIT,CREDIT\n1,D1,2024-02-01,100.50,\n1,D2,2024-02-15,,40.25\n2,D3,2024-02-20,7.10,0.00\n2,D4,2024-02-21,seven,1.00\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	accounts, moves := strings.Join(linesOf(t, book, "accounts"), "\n"), strings.Join(linesOf(t, book, "transactions"), "\n")
	for want, text := range map[string]string{
		`"supply_points":[{"identifier":"101"`: accounts, `{"identifier":"102"`: accounts, `{"identifier":"103"`: accounts,
		`"transaction_id":"D1","transaction_date":"2024-02-01","amount":"100.50","type":"CHARGE"`: moves,
		`"transaction_id":"D2","transaction_date":"2024-02-15","amount":"40.25","type":"PAYMENT"`: moves,
		`"transaction_id":"D3","transaction_date":"2024-02-20","amount":"7.10","type":"CHARGE"`:   moves,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if strings.Count(accounts, "Smith") != 1 || strings.Contains(moves, "D4") || len(result.Troubles) != 1 {
		t.Errorf("%s\n%s\n%+v", accounts, moves, result.Troubles)
	}
}

// TestDroppedRowsAreListedAndAcknowledged has repeated rows and orphans that the map acknowledges.
func TestDroppedRowsAreListedAndAcknowledged(t *testing.T) {
	lines, problems, result := must(t, map[string]string{
		"map.yaml": head + `    distinct: true
    fill: {customers: {rows: C}}
  C: {file: c.csv, into: A.customers, link: NO, orphans: {drop: closed before 2010}, fill: {family_name: NAME}}
  N: {file: c.csv, into: notes, account: NO, orphans: {drop: closed before 2010}, fill: {body: NAME}}
`,
		"a.csv": "NO,X\n1,a\n2,b\n1,a\n1,a\n", "c.csv": "NO,NAME\n1,x\n2,y\n9,z\n",
	})
	if len(lines) != 2 || len(problems) != 4 || !result.Whole() || result.Acknowledged != 4 {
		t.Fatalf("%q %q %+v", lines, problems, result)
	}
	for i, want := range []string{"a.csv:2 is the same row", "a.csv:2 is the same row", "dropped: closed before 2010", "dropped: closed before 2010"} {
		if !strings.Contains(problems[i][6], want) {
			t.Errorf("%q, want %s", problems[i], want)
		}
	}
	if tally := result.Tallies[0]; tally.Read != 4 || tally.Used != 2 || tally.Acknowledged != 2 || tally.Reported() != 0 {
		t.Errorf("%+v", tally)
	}
}
