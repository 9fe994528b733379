package convert_test

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestUnusedColumnsOfAccountsAreKept converts a table of which two columns are not used.
func TestUnusedColumnsOfAccountsAreKept(t *testing.T) {
	folder, result, err := attempt(t, tableFolder(t, map[string]string{
		"map.yaml": "map: 1\nsupplier: NORTH\ntables:\n  A: {file: a.csv, into: accounts, account: NO, fill: {billing_name: NAME, customers: [{family_name: NAME}]}}\n",
		"a.csv":    "NO,NAME,Segment,Owner\n2,Two,Gold,\"Smith, J\"\n1,One,=1+1,\n",
	}))
	if err != nil || !result.Whole() {
		t.Fatal(err, result)
	}
	want := "import_supplier,external_account_number,Segment,Owner\nNORTH,2,Gold,\"Smith, J\"\nNORTH,1,'=1+1,\n"
	if text := readFile(t, filepath.Join(folder, "conversion", "unused.csv")); text != want {
		t.Errorf("%q", text)
	}
}

// TestRowsOfSeveralKindsInOneFile reads a file twice. The columns at one place have nothing in common.
func TestRowsOfSeveralKindsInOneFile(t *testing.T) {
	_, _, result := must(t, map[string]string{
		"map.yaml": "map: 1\nsupplier: NORTH\nsource: {delimiter: \";\"}\ntables:\n" +
			"  A: {file: a.csv, columns: [K, NO, CENTS, VIP], skip: ^N, into: accounts, account: NO, fill: {customers: [{family_name: NO}], transfer_balance: {column: CENTS, minor_units: 2}}}\n" +
			"  T: {file: a.csv, columns: [K, NO, AMT, TEXT], skip: ^H, into: notes, account: NO, fill: {body: TEXT}}\n  U: {file: a.csv, columns: [K, NO, AMT, TEXT], skip: ^H, into: A.metadata, link: NO, fill: {key: K, value: {column: AMT, decimal: \".\"}}}\n",
		"a.csv": "H;1;550;vip\nN;1;5.50;hello\n",
	})
	if result.Problems != 0 || !slices.Equal(result.Tallies[0].Unused, []string{"K", "VIP"}) || len(result.Tallies[1].Unused) != 0 {
		t.Errorf("%+v", result)
	}
}
