package convert_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"landfall/internal/kit/convert"
)

// TestProfileFindsWhatIsWrong puts one mistake of each kind into a table.
func TestProfileFindsWhatIsWrong(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("NO,NAME,BORN,PHONE,BALANCE\n")
	for i := range 300 {
		fmt.Fprintf(&rows, "A%04d,Name of %d,%02d/03/1970,07700 900%03d,%d.50\n", i, i, i%28+1, i, 100+i)
	}
	rows.WriteString("1.06257E+12,Test,01/01/1900,0000000000,999999.00\nA0300,NULL,31/12/9999,07700 900300,12\nA0301,too,short\n")
	folder := tableFolder(t, map[string]string{
		"accounts.csv": rows.String(),
		"notes.csv":    "NO,TEXT\nA0001,Hello\nA0002,Hello\nA0003,Hello\nB0001,lost\n",
	})
	profile, err := convert.ProfileTables(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	accounts := profile.Tables[0]
	if accounts.Rows != 303 || accounts.Malformed != 1 || !slices.Equal(accounts.Keys, []string{"NO"}) {
		t.Errorf("%d rows, %d malformed, keys %v", accounts.Rows, accounts.Malformed, accounts.Keys)
	}
	found := map[string]string{}
	for _, column := range accounts.Columns {
		for _, one := range column.Suspicious {
			found[column.Name+" "+one.What] = fmt.Sprint(one.Count, " ", one.Value, " ", one.Line)
		}
	}
	for what, want := range map[string]string{
		"NO a number that a spreadsheet shortened": "1 1.06257E+12 302", "NAME looks like test data": "1 Test 302", "NAME means an empty value": "1 NULL 303",
		"BORN a date that stands for none": "1 01/01/1900 302", "BORN a date that stands for no end": "1 31/12/9999 303",
		"PHONE one digit repeated": "1 0000000000 302", "BALANCE far from the other numbers": "1 999999.00 302",
	} {
		if found[what] != want {
			t.Errorf("%s: %q, want %q", what, found[what], want)
		}
	}
	// A telephone number is no number.
	if phone := accounts.Columns[3]; phone.Type != "text" || len(phone.Suspicious) != 1 {
		t.Errorf("%+v", phone)
	}
	born := accounts.Columns[2]
	if born.Type != "date" || born.Format != "DD/MM/YYYY" || born.Min != "01/03/1970" || born.Max != "28/03/1970" || born.Distinct != 30 || !born.Exact {
		t.Errorf("%+v", born)
	}
	if balance := accounts.Columns[4]; balance.Type != "number" || balance.Min != "12" || balance.Max != "999999.00" || balance.Patterns[0].Pattern != "9+.9+" {
		t.Errorf("%+v", balance)
	}
	want := convert.LinkProfile{File: "notes.csv", Column: "NO", Other: "accounts.csv", Theirs: "NO", Missing: 1, Compared: 4}
	if !slices.Equal(profile.Links, []convert.LinkProfile{want}) {
		t.Errorf("%+v", profile.Links)
	}
}

// TestProfileOfManyValuesIsCloseEnough counts more values than it keeps.
func TestProfileOfManyValuesIsCloseEnough(t *testing.T) {
	var rows, others strings.Builder
	rows.WriteString("NO,KIND\n")
	others.WriteString("REF,NO\n")
	for i := range 60_000 {
		fmt.Fprintf(&rows, "A%d,%d\n", i, i%7)
		fmt.Fprintf(&others, "R%d,A%d\n", i, i+12_000) // a fifth of the accounts is missing
	}
	profile, err := convert.ProfileTables(t.Context(), tableFolder(t, map[string]string{"accounts.csv": rows.String(), "bills.csv": others.String()}))
	if err != nil {
		t.Fatal(err)
	}
	number := profile.Tables[0].Columns[0]
	if number.Exact || number.Distinct < 54_000 || number.Distinct > 66_000 || profile.Tables[0].Columns[1].Distinct != 7 {
		t.Errorf("%+v", number)
	}
	if !slices.Contains(profile.Tables[0].Keys, "NO") || slices.Contains(profile.Tables[0].Keys, "KIND") {
		t.Error(profile.Tables[0].Keys)
	}
	for _, link := range profile.Links {
		if share := float64(link.Missing) / float64(link.Compared); link.File == "bills.csv" && (share < 0.15 || share > 0.25 || link.Compared > 4_096) {
			t.Errorf("%+v", link)
		}
	}
}
