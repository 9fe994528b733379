package convert_test

import (
	"path/filepath"
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
