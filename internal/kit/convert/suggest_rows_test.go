package convert_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"landfall/internal/kit/convert"
)

// TestSuggestionKeepsWhichRowsCount suggests a map like another for tables with renamed columns. Conditions
// of the other map are taken over, or asked for if their column is missing.
func TestSuggestionKeepsWhichRowsCount(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("ACCT.csv", "ACCT_NO,LAST_NAME\n8000,Smith\n8001,Jones\n")
	write("CARD.csv", "ACCT_NO,CARD_TYPE,CARD_NO\n8000,PCC,X0\n8001,PCC,X1\n")
	transactions := "TRAN_NO,ACCT_NO,TRAN_DT,TRANS_TYPE_CD,AMOUNT,REVERSED_YN,VOID,TXT\n100,8000,2026-10-01,PAY,1.50,Y,,a\n101,8001,2026-10-02,PAY,2.50,N,,b\n"
	write("TRAN.csv", transactions)
	like := filepath.Join(t.TempDir(), "old.yaml")
	if err := os.WriteFile(like, []byte(`map: 1
supplier: S
tables:
  A: {file: ACCT.csv, into: accounts, account: ACCT_NO, fill: {customers: [{family_name: LAST_NAME}]}}
  T:
    file: TRAN.csv
    distinct: true
    when: {REVERSED_YN: N, VOID: }
    several: {newest: TRAN_DT}
    into: transactions
    account: ACCT_NO
    fill: {transaction_id: TRAN_NO, transaction_date: TRAN_DT, amount: AMOUNT, type: {column: TRAN_CD, values: {PAY: PAYMENT}}, reason: TRAN_CD}
  R: {file: TRAN.csv, into: A.references, link: ACCT_NO, fill: {namespace: =CODE, value: TRAN_CD}}
  C: {file: CARD.csv, into: A.references, link: ACCT_NO, fill: {namespace: CARD_TYPE, value: CARD_NO}}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	check := func(wants ...string) {
		t.Helper()
		suggestion, err := convert.Suggest(t.Context(), convert.SuggestOptions{Folder: folder, Like: like})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(suggestion.Text, want) {
				t.Errorf("no %q in\n%s", want, suggestion.Text)
			}
		}
	}
	check("    distinct: true ", `    when: {REVERSED_YN: "N", VOID: null} `, "    several: {newest: TRAN_DT} ", "# the other map fills it from TRAN_CD, which TRAN.csv does not have",
		"  R: CHOOSE ", "  C: {file: CARD.csv, into: A.references, link: ACCT_NO, fill: {namespace: CARD_TYPE, value: CARD_NO}}")
	write("TRAN.csv", strings.NewReplacer("REVERSED_YN", "UNDONE", "TRAN_DT", "BOOKED_DT").Replace(transactions))
	check("    distinct: true ", "    when: CHOOSE ", "with the column REVERSED_YN, which TRAN.csv does not have", "    several: CHOOSE ")
}
