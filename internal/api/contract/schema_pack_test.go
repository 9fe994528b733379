package contract_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/api/pack"
	"landfall/internal/api/rules"
)

// openPacks returns the schema of built-in packs.
func openPacks(t *testing.T, names ...string) *contract.Schema {
	t.Helper()
	schema, err := contract.OpenSchema(names, func(name string) ([]byte, error) { return nil, fmt.Errorf("no pack %s", name) })
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// violations checks a document and returns "code attr" of every error.
func violations(t *testing.T, schema *contract.Schema, body string) []string {
	t.Helper()
	account, err := schema.ReadAccount(t.Context(), []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	supplier := landfall.NewSupplier("S")
	found := []string{}
	for _, violation := range account.Check(&supplier, time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)).Errors {
		found = append(found, violation.Code+" "+violation.Attr)
	}
	return found
}

// withFields is an account with more members.
func withFields(members string) string {
	return `{"import_supplier":"S","external_account_number":"1","customers":[{"family_name":"Doe"}]` + members + `}`
}

func TestFieldsOfAPackAreUnknownWithoutIt(t *testing.T) {
	body := withFields(`,"dunning_path":{"path_name":"SOFT"}`)
	if found := violations(t, contract.PlainSchema(), body); len(found) != 1 || found[0] != "unknown_field dunning_path" {
		t.Errorf("without the pack: %v", found)
	}
	if found := violations(t, openPacks(t, "gb-energy@1"), body); len(found) != 0 {
		t.Errorf("with the pack: %v", found)
	}
}

func TestViolationsInPackFieldsNameTheirAttr(t *testing.T) {
	schema := openPacks(t, "gb-energy@1")
	point := func(members string) string {
		return withFields(`,"supply_addresses":[{"supply_address1":"1 High Street","meter_points":[{"identifier":"1200","mpid":"ABCD","supply_type":"ELECTRICITY","supply_start_date":"2020-01-01"` +
			members + `}]}]`)
	}
	for body, want := range map[string]string{
		withFields(`,"dunning_path":{}`):                                     "required dunning_path.path_name",
		withFields(`,"dunning_path":{"path_name":"A","start":1}`):            "unknown_field dunning_path.start",
		withFields(`,"dunning_path":[]`):                                     "invalid_type dunning_path",
		withFields(`,"smart_read_cycle_day":29`):                             "out_of_range smart_read_cycle_day",
		withFields(`,"debts":[{"aged_debt":[{"debt_amount":"1.234"}]}]`):     "max_decimal_places debts.0.aged_debt.0.debt_amount",
		withFields(`,"debts":[{"aged_debt":[{"debt_amount":"123456789"}]}]`): "out_of_range debts.0.aged_debt.0.debt_amount",
		withFields(`,"account_type":"HOUSEBOAT"`):                            "invalid_choice account_type",
		withFields(`,"portfolio":{"portfolio_references":[{"value":"x"}]}`):  "required portfolio.portfolio_references.0.namespace",
		withFields(`,"complaints":[{"complainant_email":"nobody"}]`):         "invalid_email complaints.0.complainant_email",
		point(`,"agents":{"mop_contract":{"agent_mpid":"TOOLONG"}}`):         "max_length supply_addresses.0.meter_points.0.agents.mop_contract.agent_mpid",
		point(`,"supply_end_date":"2019-01-01"`):                             "start_date_later_than_end_date supply_addresses.0.meter_points.0.supply_start_date",
		point(`,"meters":[{"meter_serial_number":"M","registers":[{"register_id":"1","number_of_digits":5},{"register_id":"1","number_of_digits":5}]}]`): "duplicate_registers supply_addresses.0.meter_points.0.meters.0.registers.1.register_id",
		withFields(`,"supply_addresses":[{"meter_points":[{"identifier":"1","mpid":"ABCD","supply_type":"GAS","supply_start_date":"2020-01-01"}]}]`):     "shipper_mpid_required supply_addresses.0.meter_points.0.shipper_mpid",
		withFields(`,"payment_preferences":[{"type":"ACTIVE_NEW","ledger_identifier":"L"}]`):                                                             "payment_preference_instruction_required payment_preferences.0.instruction_reference_params",
		withFields(`,"payment_preferences":[{"type":"ACTIVE_NEW","ledger_identifier":"L","instruction_reference_params":{}}]`):                           "payment_preference_instruction_required payment_preferences.0.instruction_reference_params.vendor_reference",
		withFields(`,"payment_preferences":[{"type":"PASSIVE","ledger_identifier":"L","instruction_reference_params":{"vendor_reference":"R"}}]`):        "vendor_fields_incomplete payment_preferences.0.instruction_reference_params.vendor_name",
		point(`,"agreements":[{"tariff_code":"T","effective_from":"2020-01-01","bespoke_tariff_rates":[{"standing_charge":"1"}]}]`):                      "bespoke_unit_rate_required supply_addresses.0.meter_points.0.agreements.0.bespoke_tariff_rates.0.unit_rate",
		withFields(`,"ledgers":[{"ledger_code":"MAIN","ledger_balance":"5.00"}],"transfer_balance":"6.00"`):                                              "transfer_balance_mismatch transfer_balance",
	} {
		found := violations(t, schema, body)
		if !strings.Contains(strings.Join(found, "\n"), want) {
			t.Errorf("%s\nwant %s\ngot %v", body, want, found)
		}
	}
}

func TestAustralianPointsAndAddressesAreComplete(t *testing.T) {
	found := strings.Join(violations(t, openPacks(t, "au-energy@1"), withFields(`,"billing_address":{"country":"AU","locality":"CAIRNS","postal_code":"4870"},
		"supply_addresses":[{"meter_points":[{"mpxn":"5330998877","supply_type":"GAS","supply_start_date":"2022-02-20","address":{}}]}]`)), "\n")
	want := "gas_meter_point_fields_required supply_addresses.0.meter_points.0.master_data\ngas_meter_point_fields_required supply_addresses.0.meter_points.0.role_assignments"
	if !strings.Contains(found, want) || !strings.Contains(found, "address_fields_required billing_address.administrative_area") {
		t.Error(found)
	}
}

// Frequencies that count months need a day of the month, those that count weeks do not.
func TestFrequenciesOfMonthsNeedADay(t *testing.T) {
	for frequency, needed := range map[string]bool{
		"WEEKLY": false, "FORTNIGHTLY": false, "FOUR_WEEKLY": false, "MONTHLY": true, "QUARTERLY": true, "HALF_YEARLY": true, "ANNUAL": true,
		"SIX_MONTHLY": true, "ANNUALLY": true, // of the packs
	} {
		schedule := func(more string) string {
			return withFields(`,"payment_schedules":[{"start_date":"2026-01-01","means":"DD","trigger":"REGULAR","amount":"5.00","frequency":"` + frequency + `"` + more + `}]`)
		}
		want := ""
		if needed {
			want = "payment_schedule_missing_day_of_month payment_schedules.0.day_of_month"
		}
		schema := openPacks(t, "gb-energy@1")
		if found := strings.Join(violations(t, schema, schedule("")), "\n"); found != want {
			t.Errorf("%s without a day: %q", frequency, found)
		}
		if found := violations(t, schema, schedule(`,"day_of_month":15`)); len(found) > 0 {
			t.Errorf("%s with a day: %v", frequency, found)
		}
	}
}

// A pack can say that a field of Landfall is deprecated in its market.
func TestDeprecatedFieldsAreMarked(t *testing.T) {
	properties := openPacks(t, "gb-energy@1").BookTable("accounts").Schema(func(*rules.Table) string { return "" })["properties"].(map[string]any)
	for name, deprecated := range map[string]bool{"company_number": true, "dd_reference": true, "billing_name": false} {
		if got := properties[name].(map[string]any)["deprecated"] == true; got != deprecated {
			t.Errorf("%s: deprecated is %t", name, got)
		}
	}
}

func TestMeterPointsAndLedgersAreComputedWith(t *testing.T) {
	body := `{"import_supplier":"S","external_account_number":"1","customers":[{"family_name":"Doe"}],
		"ledgers":[{"ledger_code":"A","ledger_balance":"-7.00","last_statement_closing_date":"2026-01-31","last_statement_balance":"-5.00",
			"current_statement_transactions":[{"transaction_id":"T1","transaction_date":"2026-02-03","amount":"2.00","type":"CHARGE","reason":"R"}]},
			{"ledger_code":"B","ledger_balance":"1.00"}],
		"supply_addresses":[{"supply_address1":"1 High Street","meter_points":[{"identifier":"1200","mpid":"ABCD","supply_type":"ELECTRICITY",
			"supply_start_date":"2020-01-01","agreements":[{"tariff_code":"FIX-1","effective_from":"2020-01-01"}],
			"meters":[{"meter_serial_number":"M1","registers":[{"register_id":"1","number_of_digits":5}],
				"transfer_readings":[{"reading_date":"2026-01-31","reading_type":"SMART","reading_value":"123.4","register_id":"1"}]}]}]}]}`
	schema := openPacks(t, "gb-energy@1")
	if found := violations(t, schema, body); len(found) != 0 {
		t.Fatal(found)
	}
	account, err := schema.ReadAccount(t.Context(), []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	data, figures := account.Data(), account.Figures("GBP")
	point := data.SupplyAddresses[0].SupplyPoints[0]
	switch {
	case point.Identifier != "1200" || point.Agreements[0].ProductCode != "FIX-1" || point.Meters[0].SerialNumber != "M1":
		t.Errorf("the supply point is %+v", point)
	case len(point.Meters[0].Registers) != 1 || point.Meters[0].Registers[0].Readings[0].Value.String() != "123.4":
		t.Errorf("the registers are %+v", point.Meters[0].Registers)
	case data.TransferBalance == nil || data.TransferBalance.String() != "-6.00" || data.LastStatementBalance.String() != "-5.00":
		t.Errorf("the balances are %v and %v", data.TransferBalance, data.LastStatementBalance)
	case len(data.CurrentTransactions) != 1 || data.LastStatementClosingOn.String() != "2026-01-31":
		t.Errorf("the ledger is %+v, closed on %s", data.CurrentTransactions, data.LastStatementClosingOn)
	case figures.SupplyPoints != 1 || figures.Balance.String() != "-6.00":
		t.Errorf("the figures are %+v", figures)
	}
}

// TestEveryPackFieldTakesItsOwnTypeAndRefusesAnother sends each field of each
// built-in pack: a filled value is accepted where it is, and a value of another type
// or beyond a limit is refused with the exact attr.
func TestEveryPackFieldTakesItsOwnTypeAndRefusesAnother(t *testing.T) {
	for _, name := range pack.BuiltinNames() {
		t.Run(name, func(t *testing.T) {
			schema := openPacks(t, name)
			filled := schema.Example()
			if found := violations(t, schema, string(filled)); len(found) != 0 {
				t.Fatalf("the filled example has %d errors: %v", len(found), found[:min(10, len(found))])
			}
			var document any
			if err := json.Unmarshal(filled, &document); err != nil {
				t.Fatal(err)
			}
			cases := 0
			schema.Walk(func(path string, wrong json.RawMessage) {
				broken, attr, ok := replaced(document, strings.Split(path, "."), wrong)
				if !ok {
					t.Errorf("the filled example has no %s", path)
					return
				}
				cases++
				found := strings.Join(violations(t, schema, broken), "\n")
				if strings.HasPrefix(string(wrong), "[") && strings.Contains(found+"\n", " "+attr+".0\n") {
					return // the item is named
				}
				if !strings.Contains(found+"\n", " "+attr+"\n") {
					t.Errorf("%s = %s was accepted: %s", attr, wrong, found)
				}
			})
			if cases < 800 {
				t.Errorf("only %d values were tried", cases)
			}
		})
	}
}

// replaced returns a copy of a document in which one value is another, and its
// attr. The parent must exist.
func replaced(document any, path []string, value json.RawMessage) (body, attr string, ok bool) {
	text, _ := json.Marshal(document)
	var fresh any
	_ = json.Unmarshal(text, &fresh)
	at := fresh
	for _, step := range path[:len(path)-1] {
		switch inner := at.(type) {
		case map[string]any:
			at = inner[step]
		case []any:
			if len(inner) == 0 {
				return "", "", false
			}
			at = inner[0]
		}
	}
	parent, is := at.(map[string]any)
	if !is {
		return "", "", false
	}
	parent[path[len(path)-1]] = value
	text, _ = json.Marshal(fresh)
	return string(text), strings.Join(path, "."), true
}

func TestHostilePacksAreRefused(t *testing.T) {
	for want, text := range map[string]string{
		"there is no object Acount to add fields to. Did you mean Account?": "pack: own\nversion: 1\nadd:\n  Acount: {colour: line}\n",
		"Account has a field transfer_balance already":                      "pack: own\nversion: 1\nadd:\n  Account: {transfer_balance: date}\n",
		"Customer is an object of Landfall":                                 "pack: own\nversion: 1\nobjects:\n  Customer: {fields: {a: line}}\n",
		"Transaction contains itself through inner":                         "pack: own\nversion: 1\nadd:\n  Transaction: {more: list of Inner}\nobjects:\n  Inner: {fields: {inner: list of Transaction}}\n",
		"there is no object Boat":                                           "pack: own\nversion: 1\nadd:\n  Account: {boat: Boat}\n",
		"colour is neither a date nor a datetime":                           "pack: own\nversion: 1\nadd:\n  Account: {colour: line, shade: line}\nrules:\n  - {code: x, kind: from_to, object: Account, fields: [colour, shade], description: No.}\n",
		"description is missing":                                            "pack: own\nversion: 1\nadd:\n  Account: {a: date, b: date}\nrules:\n  - {code: x, kind: from_to, object: Account, fields: [a, b]}\n",
		"at most 255 are possible":                                          "pack: own\nversion: 1\nadd:\n  Account:\n" + manyFields(250),
	} {
		read, err := pack.Read([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", want, err)
		}
		if _, err := contract.NewSchema(read); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func manyFields(count int) string {
	var text strings.Builder
	for i := range count {
		fmt.Fprintf(&text, "    field_%d: line\n", i)
	}
	return text.String()
}

func TestAnObjectWithManyFieldsFindsEachOfThem(t *testing.T) {
	read, err := pack.Read([]byte("pack: own\nversion: 1\nadd:\n  Account:\n" + manyFields(200)))
	if err != nil {
		t.Fatal(err)
	}
	schema, err := contract.NewSchema(read)
	if err != nil {
		t.Fatal(err)
	}
	var members strings.Builder
	for i := range 200 {
		fmt.Fprintf(&members, `,"field_%d":"v"`, 199-i)
	}
	if found := violations(t, schema, withFields(members.String())); len(found) != 0 {
		t.Error(found)
	}
	_, err = schema.ReadAccount(t.Context(), []byte(withFields(members.String()+`,"field_170":5`)))
	if err == nil || !strings.Contains(err.Error(), "malformed_json") {
		t.Errorf("a duplicate field is %v", err)
	}
}
