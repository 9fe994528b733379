package xlsx

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"landfall/internal/test/tooltest"
)

// Two programs that others use write the same table. Both are read right.
func TestWorkbooksOfOtherPrograms(t *testing.T) {
	tooltest.SkipIfShort(t)
	const data = `
import datetime, sys
rows = [
	["Account", "Balance", "Since", "Seen", "Paper", "Point", "Sum"],
	["000123", -12.5, datetime.date(2024, 2, 29), datetime.datetime(2026, 6, 30, 23, 59, 59), True, 1012345678901, "=1+2"],
	["Zoë & Söhne <GmbH>\nline 2", 0.1, None, None, False, None, None],
]
`
	for pack, script := range map[string]string{
		"openpyxl": `
import openpyxl
book = openpyxl.Workbook()
sheet = book.active
sheet.title = "Customers"
for row in rows: sheet.append(row)
sheet["C2"].number_format = "DD/MM/YYYY"
sheet["D2"].number_format = "yyyy-mm-dd hh:mm:ss"
sheet["B2"].number_format = '"£"#,##0.00;[Red]-"£"#,##0.00'
book.create_sheet("Other")
book.save(sys.argv[1])
`,
		"xlsxwriter": `
import xlsxwriter
book = xlsxwriter.Workbook(sys.argv[1])
sheet = book.add_worksheet("Customers")
day, instant, pounds = (book.add_format({"num_format": f}) for f in ("dd/mm/yyyy", "yyyy-mm-dd hh:mm:ss", '"£"#,##0.00'))
for r, row in enumerate(rows):
	for c, value in enumerate(row):
		if isinstance(value, datetime.datetime): sheet.write_datetime(r, c, value, instant)
		elif isinstance(value, datetime.date): sheet.write_datetime(r, c, value, day)
		elif isinstance(value, float): sheet.write_number(r, c, value, pounds)
		elif value == "=1+2": sheet.write_formula(r, c, value, None, 3)
		elif value is not None: sheet.write(r, c, value)
book.add_worksheet("Other")
book.close()
`,
	} {
		t.Run(pack, func(t *testing.T) {
			tooltest.DebianFile(t, "/usr/lib/python3/dist-packages/"+pack+"/__init__.py", "python3-"+pack)
			path := filepath.Join(t.TempDir(), "a.xlsx")
			program := exec.CommandContext(t.Context(), "/usr/bin/python3", "-", path)
			program.Stdin = strings.NewReader(data + script)
			if out, err := program.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			sum := Cell{Number, "3"}
			if pack == "openpyxl" { // it does not calculate
				sum = Cell{Error, "a formula without a stored result"}
			}
			want := [][]Cell{
				{{Text, "Account"}, {Text, "Balance"}, {Text, "Since"}, {Text, "Seen"}, {Text, "Paper"}, {Text, "Point"}, {Text, "Sum"}},
				{{Text, "000123"}, {Number, "-12.5"}, {Date, "2024-02-29"}, {Date, "2026-06-30 23:59:59"}, {Bool, "true"}, {Number, "1012345678901"}, sum},
				{{Text, "Zoë & Söhne <GmbH>\nline 2"}, {Number, "0.1"}, {}, {}, {Bool, "false"}},
			}
			if difference := cmp.Diff(want, readSheet(t, path, "Customers")); difference != "" {
				t.Error(difference)
			}
		})
	}
}
