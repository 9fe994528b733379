package xlsx

import (
	"archive/zip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// excelFile writes a workbook as Excel does: with name spaces, a hidden sheet first, styles and shared
// texts.
func excelFile(t *testing.T, properties, rows, after string) string {
	t.Helper()
	const head = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\r\n"
	const main = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`
	path := filepath.Join(t.TempDir(), "a.xlsx")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	archive := zip.NewWriter(file)
	for name, text := range map[string]string{
		"[Content_Types].xml": `<Types/>`,
		"xl/workbook.xml": `<workbook ` + main + `><fileVersion appName="xl"/><workbookPr ` + properties + `/><bookViews><workbookView activeTab="1"/></bookViews><sheets>` +
			`<sheet name="Lists" sheetId="3" state="veryHidden" r:id="rId3"/><sheet name="Old" sheetId="2" state="hidden" r:id="rId2"/><sheet name="Data &amp; more" sheetId="1" r:id="rId1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships><Relationship Id="rId3" Type="x" Target="worksheets/sheet3.xml"/><Relationship Id="rId1" Type="x" Target="/xl/worksheets/sheet1.xml"/>` +
			`<Relationship Id="rId2" Type="x" Target="worksheets/sheet2.xml"/></Relationships>`,
		"xl/styles.xml": `<styleSheet ` + main + `><numFmts count="2"><numFmt numFmtId="164" formatCode="dd\.mm\.yyyy;@"/><numFmt numFmtId="165" formatCode="&quot;£&quot;#,##0.00"/></numFmts>` +
			`<cellStyleXfs count="2"><xf numFmtId="14"/><xf numFmtId="0"/></cellStyleXfs><cellXfs count="5"><xf numFmtId="0" xfId="0"/><xf numFmtId="14" xfId="0" applyNumberFormat="1"/>` +
			`<xf numFmtId="164" xfId="0"/><xf numFmtId="22" xfId="0"/><xf numFmtId="165" xfId="0"/></cellXfs><cellStyles/><dxfs><dxf><numFmt numFmtId="14" formatCode="yyyy"/></dxf></dxfs></styleSheet>`,
		"xl/sharedStrings.xml": `<sst ` + main + ` count="4" uniqueCount="4"><si><t>Account</t></si><si><t xml:space="preserve"> two  spaces </t></si>` +
			`<si><r><rPr><b/><sz val="11"/></rPr><t>Mc</t></r><r><t>Donald</t></r></si><si><t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh><phoneticPr fontId="1"/></si></sst>`,
		"xl/worksheets/sheet1.xml": `<worksheet ` + main + `><sheetPr><tabColor rgb="FF00B050"/></sheetPr><dimension ref="A1:F9"/><cols><col min="2" max="2" hidden="1"/></cols><sheetData>` +
			rows + `</sheetData>` + after + `<pageMargins left="0.7"/></worksheet>`,
		"xl/worksheets/sheet2.xml": `<worksheet ` + main + `><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>hidden</t></is></c></row></sheetData></worksheet>`,
		"xl/worksheets/sheet3.xml": `<worksheet ` + main + `><sheetData/></worksheet>`,
	} {
		part, err := archive.Create(name)
		if err == nil {
			_, err = io.WriteString(part, head+text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(archive.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// readSheet reads all rows of a sheet.
func readSheet(t *testing.T, path, name string) (rows [][]Cell) {
	t.Helper()
	w, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	found, err := w.Rows(name)
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	for {
		_, cells, err := found.Next()
		if errors.Is(err, io.EOF) {
			return rows
		}
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, append([]Cell{}, cells...))
	}
}

// Every kind of cell that Excel writes has its value, or says that it has none.
func TestCellsAsExcelWritesThem(t *testing.T) {
	rows := []struct {
		xml  string
		want []Cell
	}{
		{`<c r="A1" s="0" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="s"><v>2</v></c><c r="D1" t="s"><v>3</v></c>`,
			[]Cell{{Text, "Account"}, {Text, " two  spaces "}, {Text, "McDonald"}, {Text, "東京"}}},
		{`<c r="A2" t="inlineStr"><is><t>inline</t></is></c><c r="B2" t="inlineStr"><is><r><t>in</t></r><r><t xml:space="preserve">line </t></r></is></c><c r="C2" t="inlineStr"><is/></c>`,
			[]Cell{{Text, "inline"}, {Text, "inline "}, {}}},
		{`<c r="A3" s="1"><v>45657</v></c><c r="B3" s="2"><v>45657</v></c><c r="C3" s="3"><v>45657.75</v></c><c r="D3" s="4"><v>1234.5</v></c><c r="E3" t="d"><v>2024-12-31T00:00:00</v></c>`,
			[]Cell{{Date, "2024-12-31"}, {Date, "2024-12-31"}, {Date, "2024-12-31 18:00:00"}, {Number, "1234.5"}, {Date, "2024-12-31"}}},
		// Formulas: a number, a shared one, a text, an empty text, a truth value, a date, and one that was never calculated.
		{`<c r="A4"><f>SUM(A1:A3)</f><v>0.30000000000000004</v></c><c r="B4"><f t="shared" si="0"/><v>7</v></c><c r="C4" t="str"><f>A1&amp;"x"</f><v>a&amp;x</v></c>` +
			`<c r="D4" t="str"><f>""</f><v></v></c><c r="E4" t="b"><f>TRUE()</f><v>1</v></c><c r="F4" s="1"><f>TODAY()</f><v>45657</v></c><c r="G4"><f>A1</f></c>`,
			[]Cell{{Number, "0.3"}, {Number, "7"}, {Text, "a&x"}, {}, {Bool, "true"}, {Date, "2024-12-31"}, {Error, "a formula without a stored result"}}},
		{`<c r="A5" t="e"><v>#N/A</v></c><c r="B5" t="e"><f>1/0</f><v>#DIV/0!</v></c><c r="C5" s="1" t="e"><v>#REF!</v></c>`, []Cell{{Error, "#N/A"}, {Error, "#DIV/0!"}, {Error, "#REF!"}}},
		// A merged cell has its value once; the others are empty. Styled empty cells have no value.
		{`<c r="A6" t="s"><v>0</v></c><c r="B6" s="1"/><c r="D6"><v>1</v></c>`, []Cell{{Text, "Account"}, {}, {}, {Number, "1"}}},
		{`<c r="B7"><v>-1.5E-3</v></c><c r="AA7"><v>1E+2</v></c>`, append(append([]Cell{{}, {Number, "-0.0015"}}, make([]Cell, 24)...), Cell{Number, "100"})},
	}
	var text strings.Builder
	var want [][]Cell
	for i, row := range rows {
		text.WriteString(`<row r="` + string(rune('1'+i)) + `" spans="1:7" x14ac:dyDescent="0.25" hidden="` + string(rune('0'+i%2)) + `">` + row.xml + "</row>")
		want = append(want, row.want)
	}
	path := excelFile(t, `defaultThemeVersion="124226"`, text.String(), `<mergeCells count="1"><mergeCell ref="A6:C6"/></mergeCells>`)
	for _, name := range []string{"", "data & MORE"} {
		if difference := cmp.Diff(want, readSheet(t, path, name)); difference != "" {
			t.Errorf("sheet %q: %s", name, difference)
		}
	}
	// A hidden sheet is read only by its name.
	if got := readSheet(t, path, "Old"); len(got) != 1 || got[0][0].Text != "hidden" {
		t.Errorf("%v", got)
	}
}

// Workbooks from old Macs count days from 1904.
func TestDatesSince1904(t *testing.T) {
	rows := readSheet(t, excelFile(t, `date1904="1"`, `<row><c s="1"><v>44195</v></c><c s="3"><v>44195.5</v></c><c><v>44195</v></c></row>`, ""), "")
	if difference := cmp.Diff([][]Cell{{{Date, "2024-12-31"}, {Date, "2024-12-31 12:00:00"}, {Number, "44195"}}}, rows); difference != "" {
		t.Error(difference)
	}
}
