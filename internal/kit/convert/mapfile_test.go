package convert_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"landfall/internal/kit/convert"
	"landfall/internal/kit/generate"
)

// TestAllMapErrorsAreReportedAtOnce makes one mistake of each kind in one map and wants all
// of them, with lines and suggestions.
func TestAllMapErrorsAreReportedAtOnce(t *testing.T) {
	_, _, err := attempt(t, tableFolder(t, map[string]string{
		"map.yaml": `map: 1
suplier: NORTH
source: {encoding: windows1252, dates: DD.MM.JJJJ, zone: Mars}
tables:
  A:
    file: a.csv
    into: accounts
    account: NUMBER
    fill:
      customer: NO
      account_type: {column: KIND, values: {P: DOMESTICK}}
      transfer_balance: {column: BAL, minor_units: two}
      billing_name: {column: NAME, constant: x}
  B: {file: bee.csv, into: A.customers, link: NO, fill: {family_name: NAME}}
  C: {file: c.csv, into: A.supply_address, link: NO, fill: {}}
  D: {file: c.csv, into: accunts, fill: {}}
  E: {file: twice.csv, into: notes, account: NO, fill: {body: X}}
  F: {file: none.csv, into: notes, account: NO, fill: {body: X}}
`,
		"a.csv": "NO,KIND,NAME\n", "b.csv": "NO,NAME\n", "c.csv": "NO\n", "twice.csv": "NO,X,X\n", "none.csv": "",
	}))
	wrong, is := errors.AsType[*convert.MapError](err)
	if !is {
		t.Fatal(err)
	}
	all := strings.Join(wrong.Wrong, "\n")
	for _, want := range []string{
		":2: there is no setting suplier in a map. Did you mean supplier?", ": supplier is required",
		":3: there is no encoding windows1252. Did you mean windows-1252", `:3: dates: "DD.MM.JJJJ" contains "J"`, ":3: unknown zone Mars",
		":8: there is no column NUMBER in a.csv", ":10: there is no attr customer in accounts. Did you mean customers",
		":11: P is translated into DOMESTICK, which must be one of DOMESTIC, BUSINESS", ":12: there is no column BAL in a.csv", ":12: minor_units",
		":13: an attr has exactly one of", ":14: there is no file bee.csv in ", "Did you mean b.csv", ":15: there is no attr supply_address in A. Did you mean supply_addresses?",
		":16: there is no place accunts. Did you mean accounts", ":17: twice.csv has two columns X", "none.csv: it is empty",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("missing: %q", want)
		}
	}
	if len(wrong.Wrong) != 16 || t.Failed() {
		t.Errorf("%d mistakes:\n%s", len(wrong.Wrong), all)
	}
}

// Settings that would have no effect, or a number that can be read in two ways, are mistakes of the map.
func TestSettingsWithoutEffectAreMistakes(t *testing.T) {
	for want, attr := range map[string]string{
		"settings of numbers and dates have no effect here":                            "billing_name: {join: [{column: NO, minor_units: 2}, =x]}",
		"set minor_units for each part of first":                                       "transfer_balance: {first: [{column: NO, sign: reversed}, =0], minor_units: 2}",
		"1.234 can be read in two ways, because decimal is ','":                        "transfer_balance: {column: NO, decimal: ',', default: 1.234}",
		"2.5 can be read in two ways, because decimal is ','":                          "transfer_balance: {column: NO, decimal: ',', values: {A: 2.5}, otherwise: keep}",
		"this has settings of a number and of a date; a text can be written as one of": "billing_name: {column: NO, minor_units: 2, dates: DD/MM/YY}",
	} {
		text := "map: 1\nsupplier: N\ntables:\n  A:\n    file: a.csv\n    into: accounts\n    account: NO\n    fill:\n      customers: [{family_name: NO}]\n      " + attr + "\n"
		_, _, err := attempt(t, tableFolder(t, map[string]string{"map.yaml": text, "a.csv": "NO\n"}))
		wrong, is := errors.AsType[*convert.MapError](err)
		if !is || !strings.Contains(strings.Join(wrong.Wrong, "\n"), want) {
			t.Errorf("want %q: %v %v", want, err, wrong)
		}
	}
}

// TestAMapWithAnOpenValueIsRefused leaves CHOOSE where any text is valid. It became a name, a product, or a condition
// that no row meets.
func TestAMapWithAnOpenValueIsRefused(t *testing.T) {
	for _, attr := range []string{
		"billing_name: {column: NO, values: {A: CHOOSE}}", "billing_name: {column: NO, values: codes}", "billing_name: {column: NO, when: {NO: CHOOSE}}", "billing_name: =CHOOSE",
		"billing_name: {first: [NO, {constant: CHOOSE}]}", "billing_name: {column: NO, default: CHOOSE}", "transfer_balance: {column: NO, negative_when: {NO: CHOOSE}}",
	} {
		text := "map: 1\nsupplier: N\nvalues: {codes: {A: CHOOSE}}\ntables:\n  A:\n    file: a.csv\n    into: accounts\n    account: NO\n    fill:\n      customers: [{family_name: NO}]\n      " + attr + "\n"
		if !strings.Contains(attr, "codes") {
			text = strings.Replace(text, "values: {codes: {A: CHOOSE}}\n", "", 1)
		}
		_, _, err := attempt(t, tableFolder(t, map[string]string{"map.yaml": text, "a.csv": "NO\nA\n"}))
		wrong, is := errors.AsType[*convert.MapError](err)
		if !is || len(wrong.Wrong) != 1 || !strings.Contains(wrong.Wrong[0], "says CHOOSE: decide what it is") {
			t.Errorf("%s: %v", attr, err)
		}
	}
}

func TestCircularMaps(t *testing.T) {
	for want, text := range map[string]string{
		"the tables form a circle: A → B → A": "map: 1\nsupplier: N\ntables:\n  A: {file: a.csv, into: B.customers, link: NO, fill: {}}\n  B: {file: a.csv, into: A.customers, link: NO, fill: {}}\n",
		"the tables form a circle: A → A":     "map: 1\nsupplier: N\ntables:\n  A: {file: a.csv, into: A.customers, link: NO, fill: {}}\n",
		"contains itself":                     "map: 1\ntables: &t\n  A: *t\n",
		"must begin with map: 1":              "map: 2\nsupplier: N\ntables: {}\n",
		"a map must have members":             "- map\n",
		"did not find":                        "map: [1\n",
	} {
		_, _, err := attempt(t, tableFolder(t, map[string]string{"map.yaml": text, "a.csv": "NO\n"}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}

// TestSuggestedMapIsUsableAfterCorrection suggests a map for the generated tables, fills in the
// open values, and converts with it.
func TestSuggestedMapIsUsableAfterCorrection(t *testing.T) {
	_, tables := printed(t, generateOptions(80))
	path := filepath.Join(tables, generate.MapName)
	if _, err := convert.WriteSuggestion(t.Context(), generate.MapName, convert.SuggestOptions{Folder: tables}); err == nil {
		t.Fatal("a map was overwritten")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	suggestion, err := convert.WriteSuggestion(t.Context(), generate.MapName, convert.SuggestOptions{Folder: tables})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"encoding: windows-1252", `delimiter: ";"`, `decimal: ","`, "dates: DD.MM.YYYY", "datetimes: DD.MM.YYYY hh:mm:ss", "link: POINT_ID"} {
		if !strings.Contains(suggestion.Text, want) {
			t.Errorf("no %q in\n%s", want, suggestion.Text)
		}
	}
	if _, _, err := attempt(t, tables); err == nil {
		t.Error("it converts although a choice is open")
	}
	corrected := strings.NewReplacer("supplier: CHOOSE", "supplier: NORTH", "zone: CHOOSE", "zone: UTC", "B: CHOOSE, P: CHOOSE", "B: BUSINESS, P: DOMESTIC", "E: CHOOSE, L: CHOOSE", "E: ONLINE, L: PRINT",
		"C: CHOOSE, D: CHOOSE, P: CHOOSE, S: CHOOSE", "C: CREDIT, D: CHARGE, P: PAYMENT, S: SUPPLY_CHARGE",
		"minor_units: CHOOSE", "minor_units: 2", "sign: CHOOSE", "sign: reversed", "supply_address1: CHOOSE", "supply_address1: STREET",
		"E: CHOOSE, G: CHOOSE", "E: ELECTRICITY, G: GAS", "C: CHOOSE, E: CHOOSE, R: CHOOSE, S: CHOOSE", "C: CUSTOMER, E: ESTIMATE, R: ROUTINE, S: SMART",
		"\"1\": CHOOSE, \"2\": CHOOSE, \"3\": CHOOSE", "\"1\": LARGE_PRINT, \"2\": BRAILLE, \"3\": SPOKEN", "M: CHOOSE, Q: CHOOSE", "M: MONTHLY, Q: QUARTERLY",
		"trigger: CHOOSE", "trigger: =REGULAR", "vendor: CHOOSE", "vendor: =acme", "type: CHOOSE", "type: =DIRECT_DEBIT",
		"into: LEDGER.line_items", "into: LEDGER.line_items\n    when: {KIND: L}").Replace(suggestion.Text)
	if err := os.WriteFile(path, []byte(corrected), 0o600); err != nil {
		t.Fatal(err)
	}
	book, result, err := attempt(t, tables)
	if err != nil {
		t.Fatalf("%v\n%s", err, corrected)
	}
	if !result.Whole() || len(linesOf(t, book, "accounts")) != 80 {
		t.Errorf("%+v", result.Troubles)
	}
}

// TestSuggestionMarksGuesses uses tables with meaningless names: typical columns are used, and
// the rest is left open.
func TestSuggestionMarksGuesses(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"KONTEN.csv":    "KontoNr|Saldo\n1|1.234,50\n2|-7,00\n",
		"BUCHUNGEN.csv": "BuchNr|KontoNr|Betrag|Text\nB1|1|12,50|Rate\n",
		"XYZ.csv":       "Q1|Q2|Q3\nZ1|01/03/2024|\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	suggestion, err := convert.Suggest(t.Context(), convert.SuggestOptions{Folder: folder})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`decimal: ","`, `grouping: "."`, "probably transactions", "unknown content", "into: CHOOSE", "# not used: Q1"} {
		if !strings.Contains(suggestion.Text, want) {
			t.Errorf("no %q in\n%s", want, suggestion.Text)
		}
	}
	if strings.Contains(suggestion.Text, "probably notes") {
		t.Errorf("something was taken for notes:\n%s", suggestion.Text)
	}
}

func TestMapsFillTheFieldsOfPacks(t *testing.T) {
	tables := func(packs string) map[string]string {
		return map[string]string{
			"map.yaml": "map: 1\nsupplier: NORTH\n" + packs + `tables:
  A:
    file: a.csv
    into: accounts
    account: NO
    fill:
      customers: {family_name: NAME}
      dunning_path: {path_name: PATH}
      loyalty_number: CARD
  P: {file: p.csv, into: A.supply_addresses, link: NO, fill: {supply_address1: STREET, meter_points: {identifier: MPAN, mpid: SUPPLIER, supply_type: {constant: ELECTRICITY}, supply_start_date: FROM}}}
`,
			"own.yaml": "pack: own\nversion: 1\nadd:\n  Account:\n    loyalty_number: line 12\n",
			"a.csv":    "NO,NAME,PATH,CARD\n1,Doe,SOFT,L-1\n", "p.csv": "NO,STREET,MPAN,SUPPLIER,FROM\n1,1 High Street,1200,ABCD,2020-01-01\n",
		}
	}
	if _, _, err := attempt(t, tableFolder(t, tables(""))); err == nil || !strings.Contains(err.Error(), "there is no attr dunning_path") {
		t.Errorf("without packs: %v", err)
	}
	if _, _, err := attempt(t, tableFolder(t, tables("packs: [gb-energy@2]\n"))); err == nil || !strings.Contains(err.Error(), ":3: packs:") {
		t.Errorf("an unknown pack: %v", err)
	}
	folder, _, err := attempt(t, tableFolder(t, tables("packs: [gb-energy@1, own.yaml]\n")))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, "accounts.ndjson"))
	for _, want := range []string{`"dunning_path":{"path_name":"SOFT"}`, `"loyalty_number":"L-1"`, `"meter_points":[{"identifier":"1200"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s (%v)", want, text, err)
		}
	}
}
