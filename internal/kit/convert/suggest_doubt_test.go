package convert_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"

	"landfall/internal/kit/convert"
	"landfall/internal/kit/generate"
)

// suggested returns the suggested map for tables, which may be like those of another map.
func suggested(t *testing.T, like string, tables map[string]string) (folder, text string) {
	t.Helper()
	order := convert.SuggestOptions{Folder: tableFolder(t, tables)}
	if like != "" {
		order.Like = filepath.Join(t.TempDir(), "old.yaml")
		if err := os.WriteFile(order.Like, []byte(like), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	suggestion, err := convert.Suggest(t.Context(), order)
	if err != nil {
		t.Fatal(err)
	}
	return order.Folder, suggestion.Text
}

// mustHave checks what a suggestion says.
func mustHave(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}

// convertedAccounts converts tables with a map and returns the accounts.
func convertedAccounts(t *testing.T, folder, text string) string {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, generate.MapName), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	book, result, err := attempt(t, folder)
	if err != nil || !result.Whole() {
		t.Fatalf("%v %+v\n%s", err, result, text)
	}
	return strings.Join(linesOf(t, book, "accounts"), "\n")
}

// TestSuggestionKeepsTheSourceOfAnotherMap takes over how the other map reads values. The new tables may
// contradict it.
func TestSuggestionKeepsTheSourceOfAnotherMap(t *testing.T) {
	const like = `map: 1
supplier: NORTH
source: {delimiter: ";", dates: MM/DD/YYYY, decimal: ",", grouping: ".", century: past, zone: Europe/Berlin}
tables:
  A: {file: A.csv, into: accounts, account: NO, fill: {customers: [{family_name: NAME}], transfer_balance: BAL, date_of_sale: SOLD}}
`
	folder, text := suggested(t, like, map[string]string{"A.csv": "NO;NAME;BAL;SOLD\n1;a;1.234;03/04/2024\n2;b;2.500;05/06/2024\n"})
	mustHave(t, text, "supplier: NORTH ", `decimal: "," `, `grouping: "." `, "century: past ", `zone: "Europe/Berlin" `)
	if accounts := convertedAccounts(t, folder, text); !strings.Contains(accounts, `"transfer_balance":"1234"`) || !strings.Contains(accounts, `"date_of_sale":"2024-03-04"`) {
		t.Error(accounts)
	}
	_, text = suggested(t, like, map[string]string{"A.csv": "NO,NAME,BAL,SOLD\n1,a,12.34,2024-03-04\n2,b\xe9,NULL,2024-05-06\n"})
	mustHave(t, text, `encoding: CHOOSE `, `A.csv is not utf-8`, `delimiter: CHOOSE `, `the other map says ";", but A.csv has ','`, "decimal: CHOOSE ", "A.csv has numbers with '.' in BAL",
		"dates: CHOOSE ", "A.csv has 2024-03-04 in SOLD", "empty: CHOOSE ", "A.csv has NULL")
}

// TestSuggestionKeepsPartsOfAnotherMap renames one column. The rest of its table still takes rows of the same
// table, and a column of a join is used.
func TestSuggestionKeepsPartsOfAnotherMap(t *testing.T) {
	const like = `map: 1
supplier: NORTH
source: {dates: YYYY-MM-DD}
tables:
  ACCT:
    file: ACCT.csv
    into: accounts
    account: NO
    fill:
      customers: [{family_name: NAME}]
      transfer_balance: BAL
      supply_addresses:
        - supply_address1: {join: [STREET, HOUSE], with: " "}
          supply_points: {rows: POINT}
  POINT: {file: POINT.csv, into: ACCT.supply_addresses.supply_points, link: NO, fill: {identifier: MPAN, supply_type: =GAS, supply_start_date: FROM}}
  METER: {file: METER.csv, into: POINT, link: MPAN, fill: {supply_end_date: TILL}}
`
	folder, text := suggested(t, like, map[string]string{
		"ACCT.csv": "NO,NAME,BALANCE,STREET,HOUSE\n1000,a,1.50,High St,7\n2000,b,2.50,Low St,8\n", "POINT.csv": "NO,MPAN,FROM\n1000,1200000,2020-01-02\n2000,1200001,2020-01-03\n",
		"METER.csv": "MPAN,TILL\n1200000,2021-01-02\n1200001,2021-01-03\n",
	})
	if strings.Contains(text, "not used: HOUSE") {
		t.Errorf("HOUSE is used in\n%s", text)
	}
	accounts := convertedAccounts(t, folder, strings.ReplaceAll(text, "sign: CHOOSE", "sign: same"))
	for _, want := range []string{`"supply_address1":"High St 7"`, `"identifier":"1200001"`, `"supply_end_date":"2021-01-03"`, `"transfer_balance":"2.50"`} {
		if !strings.Contains(accounts, want) {
			t.Errorf("no %s in %s", want, accounts)
		}
	}
}

// TestSuggestionAsksForSigns has negative amounts of transactions, and balances of which some have a word.
func TestSuggestionAsksForSigns(t *testing.T) {
	accounts, ledger, words := "ACCT_NO;SURNAME;BALANCE\n", "TRAN_NO;ACCT_NO;TRAN_DATE;AMOUNT;TRAN_TYPE\n", "TRAN_NO;ACCT_NO;TRAN_DATE;AMOUNT;TRAN_TYPE\n"
	for i := range 60 {
		accounts += fmt.Sprintf("%07d;Smith;%d.50%s\n", i, i, []string{"", "CR"}[i%2])
		ledger += fmt.Sprintf("T%d;%07d;2025-03-04;%d.50;%s\n", i, i, []int{i, -i}[i%2], []string{"PAYMENT", "CHARGE"}[i%2])
		words += fmt.Sprintf("U%d;%07d;2025-03-04;%d.50%s;PAYMENT\n", i, i, i, []string{"DR", "CR"}[i%2])
	}
	folder, text := suggested(t, "", map[string]string{"ACCT.csv": accounts, "LEDGER.csv": ledger, "TRANSACTION.csv": words})
	mustHave(t, text, "amount: {column: AMOUNT, sign: CHOOSE}", "30 values are negative, first in LEDGER.csv:3;", "the type says the direction", `remove: "[-()]"`,
		"amount: {column: AMOUNT, signs: {DR: CHOOSE, CR: CHOOSE}}", "plus for each word",
		"transfer_balance: {column: BALANCE, signs: {CR: CHOOSE}, sign: CHOOSE}", "30 of 60 numbers have no word. If these are owed: sign: reversed, CR: minus")
	// The advice for numbers that are owed.
	text = strings.NewReplacer("supplier: CHOOSE", "supplier: NORTH", "{CR: CHOOSE}, sign: CHOOSE", "{CR: minus}, sign: reversed", "sign: CHOOSE", `remove: "[-()]"`, "CHOOSE", "plus").Replace(text)
	if got := convertedAccounts(t, folder, text); !strings.Contains(got, `"transfer_balance":"-2.50"`) || !strings.Contains(got, `"transfer_balance":"3.50"`) {
		t.Error(got)
	}
	book, _, _ := attempt(t, folder)
	if got := strings.Join(linesOf(t, book, "transactions"), "\n"); strings.Contains(got, `"amount":"-`) || !strings.Contains(got, `"amount":"59.50"`) {
		t.Error(got)
	}
}

// TestSuggestionAsksForStrayCurrencies has a currency beside one of many numbers, and two in another column.
func TestSuggestionAsksForStrayCurrencies(t *testing.T) {
	stray, ways := "ACCT_NO;SURNAME;BALANCE\n", "TRAN_NO;ACCT_NO;TRAN_DATE;AMOUNT;TRAN_TYPE\n"
	for i := range 60 {
		stray += fmt.Sprintf("%07d;Smith;%d.50%s\n", i, i, map[bool]string{true: " USD"}[i == 7])
		ways += fmt.Sprintf("T%d;%07d;2025-03-04;%s%d.50;PAYMENT\n", i, i, []string{"£", "$"}[i%2], i)
	}
	_, text := suggested(t, "", map[string]string{"ACCT.csv": stray, "LEDGER.csv": ways})
	mustHave(t, text, "transfer_balance: {column: BALANCE, currency: CHOOSE, ", "USD is beside 1 of 60 numbers, first in ACCT.csv:9;", "amount: {column: AMOUNT, currency: CHOOSE}",
		"£ is beside 30 of 60 numbers, first in LEDGER.csv:2; $ is beside 30 of 60 numbers, first in LEDGER.csv:3;")
}

// TestSuggestionForAReusedAccountNumber has one account number twice. It is still the key.
func TestSuggestionForAReusedAccountNumber(t *testing.T) {
	customers, supplies := "Account No;Surname;First Name;Balance;Address;Town\n", "Account No;MPAN;Fuel;Supply Start Date\n"
	for i := range 60 {
		customers += fmt.Sprintf("%07d;Smith%d;Ann;%d.50;%d High St;Leeds\n", i, i, i, i)
		supplies += fmt.Sprintf("%07d;12%011d;Elec;%02d/06/2012\n", i, i, i%28+1)
	}
	customers = strings.Replace(customers, "0000059;", "0000005;", 1)
	_, text := suggested(t, "", map[string]string{"Customers.csv": customers, "Supplies.csv": supplies})
	mustHave(t, text, "  CUSTOMERS:                                       # probably accounts", "1 number occurs more than once: Customers.csv:61;", "into: CUSTOMERS.supply_addresses.supply_points")
}

// TestSuggestionKeepsZeroBalances has dates of zeros, which mean no date, and a balance of zeros.
func TestSuggestionKeepsZeroBalances(t *testing.T) {
	accounts := "ACCT_NO;SURNAME;BALANCE;LAST_BILL_DT;SUPPLY_END\n0000001;Smith;00000000;00000000;31.12.9999\n"
	for i := range 20 {
		accounts += fmt.Sprintf("%07d;Smith;%08d;202503%02d;%02d.01.2025\n", i+2, i+100, i+1, i+1)
	}
	folder, text := suggested(t, "", map[string]string{"ACCT.csv": accounts})
	mustHave(t, text, `values: {"00000000": ""}, otherwise: keep`)
	if strings.Contains(text, "empty:") {
		t.Errorf("a word is empty everywhere in\n%s", text)
	}
	text = strings.NewReplacer("supplier: CHOOSE", "supplier: NORTH", "minor_units: CHOOSE", "minor_units: 2", "sign: CHOOSE", "sign: same").Replace(text)
	line, _, _ := strings.Cut(convertedAccounts(t, folder, text), "\n")
	if !strings.Contains(line, `"transfer_balance":"0.00"`) || strings.Contains(line, "last_statement_issue_date") {
		t.Error(line)
	}
}

// TestSuggestionFindsTheEncoding writes the same table in many encodings. What a table does not show, another
// one may; if none does, a person decides.
func TestSuggestionFindsTheEncoding(t *testing.T) {
	west := []string{"Jörg Müller", "Hélène Groß", "Šimunek Željko", "12,50 €", "Änne Öller", "François Noël", "José Núñez"}
	east := []string{"Jiří Dvořák", "Božena Černá", "Tomáš Žižka", "Růžena Šťastná", "Zdeněk Kučera"}
	for name, with := range map[string]struct {
		table *charmap.Charmap
		names []string
	}{
		"windows-1252": {charmap.Windows1252, west}, "iso-8859-15": {charmap.ISO8859_15, west}, "macintosh": {charmap.Macintosh, []string{west[0], west[1], west[5], west[6]}},
		"cp850": {charmap.CodePage850, []string{west[0], west[1], west[4], west[5], west[6]}}, "windows-1250": {charmap.Windows1250, east}, "iso-8859-2": {charmap.ISO8859_2, east},
	} {
		text := "Account No;Surname;Balance\n"
		for i := range 40 {
			text += fmt.Sprintf("%d;%s;%d.50\n", 1000+i, with.names[i%len(with.names)], i)
		}
		encoded, err := with.table.NewEncoder().String(text)
		if err != nil {
			t.Fatal(name, err)
		}
		notes, _ := with.table.NewEncoder().String("Account No;Note\n1000;é\n1001;é é\n")
		folder, written := suggested(t, "", map[string]string{"accounts.csv": encoded, "notes.csv": notes})
		if mustHave(t, written, "  encoding: "+name+"\n"); strings.Count(written, "encoding:") != 1 {
			t.Errorf("%s: a table has another encoding in\n%s", name, written)
		}
		written, _, _ = strings.Cut(written, "\n  NOTES:")
		accounts := convertedAccounts(t, folder, strings.NewReplacer("supplier: CHOOSE", "supplier: NORTH", "sign: CHOOSE", "sign: same").Replace(written))
		for _, one := range with.names {
			if !strings.Contains(accounts, `"`+one+`"`) {
				t.Errorf("%s: no %s in %s", name, one, accounts)
			}
		}
	}
	_, written := suggested(t, "", map[string]string{"accounts.csv": "Account No;Surname;Balance\n1;Ji\x9aka;2.50\n"})
	mustHave(t, written, "encoding: CHOOSE ", "Jiška in windows-1250", "Jiöka in macintosh")
}

// TestControlCharactersAreRefused reads a byte that is no character, and a text that was read in a wrong
// encoding before.
func TestControlCharactersAreRefused(t *testing.T) {
	for encoding, name := range map[string]string{"latin-1": "J\x94rg", "iso-8859-15": "J\x94rg", "utf-8": "J\u0094rg"} {
		_, problems, _ := must(t, map[string]string{
			"A.csv":    "NO,NAME\n1," + name + "\n2,Ann\n",
			"map.yaml": "map: 1\nsupplier: NORTH\nsource: {encoding: " + encoding + "}\ntables:\n  A: {file: A.csv, into: accounts, account: NO, fill: {customers: [{family_name: NAME}]}}\n",
		})
		if text := fmt.Sprint(problems); !strings.Contains(text, "94") || !strings.Contains(text, "encoding") {
			t.Errorf("%s: %s", encoding, text)
		}
	}
}

// TestSuggestionForDutchAndFrenchNames has a product that is a fuel, and a name beside a first name.
func TestSuggestionForDutchAndFrenchNames(t *testing.T) {
	clients, points := "Numéro de compte;Nom;Prénom;Solde\n", "EAN-code;Klantnummer;Product;Startdatum levering\n"
	for i := range 20 {
		clients += fmt.Sprintf("C%04d;Lefèvre;Jean;%d,50\n", i, i)
		points += fmt.Sprintf("8716%014d;C%04d;%s;%02d-11-2019\n", i, i, []string{"Gas", "Elektriciteit"}[i%2], i+1)
	}
	_, text := suggested(t, "", map[string]string{"CLIENTS.csv": clients, "aansluitingen.csv": points})
	mustHave(t, text, "family_name: Nom\n", "supply_type: {column: Product, values: {Elektriciteit: ELECTRICITY, Gas: GAS}}")
	if strings.Contains(text, "product_code: Product") {
		t.Error(text)
	}
}

// TestSuggestionLinksByKeys has a column with one value in all tables, meters with two registers, and a
// number of customers in the table of accounts.
func TestSuggestionLinksByKeys(t *testing.T) {
	accounts, addresses, contracts := "MANDT;VKONT;GPART;WAERS\n", "MANDT;PARTNER;STREET;POST_CODE1;CITY1\n", "MANDT;VERTRAG;VKONT;ANLAGE;SPARTE;EINZDAT;AUSZDAT\n"
	meters, reads := "NMI;METER_SERIAL;REG_ID\n", "METER_SERIAL;REG_ID;READ_DATE;READING\n"
	accounts2, clients := "N° compte;N° client;Solde\n", "N° client;Nom;Prénom\n"
	for i := range 30 {
		accounts += fmt.Sprintf("100;%012d;%010d;EUR\n", 200000+i*7, 900000+i*3)
		addresses += fmt.Sprintf("100;%010d;Weg %d;%d;Ulm\n", 900000+i*3, i, 10000+i)
		contracts += fmt.Sprintf("100;%010d;%012d;%010d;01;20200101;20240101\n", 700000+i, 200000+i*7, 5000000+i)
		for register := range 1 + i%2 {
			meters += fmt.Sprintf("41%08d;M%05d;0%d\n", i, i, register+1)
			reads += fmt.Sprintf("M%05d;0%d;2024-01-31;%d\nM%05d;0%d;2024-02-28;%d\n", i, register+1, 1000+i, i, register+1, 1100+i)
		}
		accounts2 += fmt.Sprintf("C%05d;%07d;%d,50\n", i, 7000000+i, i)
		clients += fmt.Sprintf("%07d;Lefèvre;Jean\n", 7000000+i)
	}
	for name, with := range map[string]struct {
		files     map[string]string
		want, not string
	}{
		"one value":    {map[string]string{"FKKVKP.TXT": accounts, "ADRC.TXT": addresses, "EVER.TXT": contracts}, "link: VKONT ", "link: MANDT"},
		"an account":   {map[string]string{"FKKVKP.TXT": accounts, "ADRC.TXT": addresses, "EVER.TXT": contracts}, "identifier: CHOOSE", "identifier: VKONT"},
		"registers":    {map[string]string{"MTR.csv": meters, "READ.csv": reads}, "link: CHOOSE", "link: METER_SERIAL"},
		"other number": {map[string]string{"COMPTES.csv": accounts2, "CLIENTS.csv": clients}, `link: "N° client"`, "identifier: "},
	} {
		_, text := suggested(t, "", with.files)
		if mustHave(t, text, with.want); strings.Contains(text, with.not) {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// TestSuggestionAsksForTheCodeOfASign has a column beside the balance that says whether it is owed. Only sign was
// asked for, and either answer is wrong for half of the balances.
func TestSuggestionAsksForTheCodeOfASign(t *testing.T) {
	rows, plain := "", ""
	for i := range 30 {
		rows += fmt.Sprintf("A%04d;Smith;%d,50;%s\n", i, i, []string{"Dr", "Cr"}[i%2])
		plain += fmt.Sprintf("A%04d;Smith;%d,50;%s\n", i, i, []string{"X", "Y"}[i%2])
	}
	folder, text := suggested(t, "", map[string]string{"accounts.csv": "Account No;Surname;Balance;Dr/Cr\n" + rows})
	mustHave(t, text, `transfer_balance: {column: Balance, negative_when: {"Dr/Cr": CHOOSE}}`)
	text = strings.Replace(text, "supplier: CHOOSE", "supplier: NORTH", 1)
	if err := os.WriteFile(filepath.Join(folder, generate.MapName), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := attempt(t, folder); err == nil {
		t.Error("a map that leaves the code open is converted")
	}
	accounts := convertedAccounts(t, folder, strings.Replace(text, `"Dr/Cr": CHOOSE`, `"Dr/Cr": Dr`, 1))
	if !strings.Contains(accounts, `"transfer_balance":"-2.50"`) || !strings.Contains(accounts, `"transfer_balance":"3.50"`) {
		t.Error(accounts)
	}
	_, text = suggested(t, "", map[string]string{"accounts.csv": "Account No;Surname;Balance;Dr/Cr\n" + plain})
	mustHave(t, text, "transfer_balance: {column: Balance, sign: CHOOSE}")
}

// TestSuggestionJoinsTheStreetNumber has the house number in a column of its own, which was left out of the address.
func TestSuggestionJoinsTheStreetNumber(t *testing.T) {
	for header, want := range map[string]string{
		"KdNr;Nachname;Strasse;HausNr;Ort;Geburtsdatum":      `billing_address1: {join: [Strasse, HausNr], with: " "}`,
		"Account No;Surname;House No;Street;Town;Birth date": `billing_address1: {join: ["House No", Street], with: " "}`,
		"Account No;Surname;Street;Town;House No;Birth date": "# not used: House No",
	} {
		rows := ""
		for i := range 30 {
			cells := []string{fmt.Sprintf("A%04d", i), "Smith", "High Street", "Leeds", "", "1980-01-02"}
			names := strings.Split(header, ";")
			for at, name := range names {
				switch name {
				case "Strasse", "Street":
					cells[at] = "High Street"
				case "HausNr", "House No":
					cells[at] = fmt.Sprintf("%d%s", i+1, []string{"", "a"}[i%2])
				case "Ort", "Town":
					cells[at] = "Leeds"
				}
			}
			rows += strings.Join(cells, ";") + "\n"
		}
		_, text := suggested(t, "", map[string]string{"accounts.csv": header + "\n" + rows})
		mustHave(t, text, want)
		if strings.HasPrefix(want, "billing") && strings.Contains(text, "# not used: House No") {
			t.Error(text)
		}
	}
}
