package spreadsheet_test

import (
	"encoding/csv"
	"strings"
	"testing"

	"landfall/internal/lib/spreadsheet"
)

// TestAFormulaInACellIsShownAsText writes what spreadsheets execute, also hidden
// behind full-width signs, white space and invisible characters.
func TestAFormulaInACellIsShownAsText(t *testing.T) {
	for _, formula := range []string{
		"=1+1", "+1", "-1", "@SUM(A1)", "＝1+1", "＋1", "－1", "＠SUM(A1)", "\tx", "\rx", "\nx",
		" =1", "\u00a0=1", "\u200b=1", "\ufeff=1", "\u202e=1", "\v=1", "\x00=1", "=",
	} {
		var out strings.Builder
		rows := spreadsheet.NewWriter(&out)
		if err := rows.Write("a", formula); err != nil {
			t.Fatal(err)
		}
		if err := rows.Flush(); err != nil {
			t.Fatal(err)
		}
		// The reader turns CR LF into LF; nothing here has both.
		got, err := csv.NewReader(strings.NewReader(out.String())).Read()
		if err != nil || got[1] != "'"+formula {
			t.Errorf("%q became %q, %v", formula, got, err)
		}
	}
	for _, text := range []string{"", "1", "a=b", "x-1", "'=1", " a", "ada@example.com", "é"} {
		if got := spreadsheet.Escape(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}
