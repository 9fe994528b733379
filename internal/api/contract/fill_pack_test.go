package contract_test

import (
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"landfall/internal/api/contract"
	"landfall/internal/api/pack"
	"landfall/internal/lib/calendar"
)

// ownPack has every type and every kind of rule.
const ownPack = `pack: own
version: 1
add:
  Account:
    label: text 40
    colour: {type: line 20, pattern: "^[A-Z]{2}-[0-9]{3,5}(x|yz)?$"}
    class: {type: choice, choices: [GOLD, SILVER]}
    visits: {type: list of Visit, min: 2}
    extra: any
    box: object
    old_label: {type: line 9, deprecated: use label}
objects:
  Visit:
    fields:
      visited_on: {type: date, required: true}
      left_on: {type: date}
      at: time
      seen_at: {type: datetime, required: true}
      code: {type: code, required: true}
      ready: boolean
      stars: {type: integer, min: 3, max: 5}
      size: {type: decimal, digits: 1, places: 3}
      price: money
      mail: email
      phone: phone
rules:
  - {code: visit_order, kind: from_to, object: Visit, fields: [visited_on, left_on], description: No.}
  - {code: visit_left, kind: required_when, object: Visit, when: visited_on, fields: [left_on], description: No.}
  - {code: visit_twice, kind: unique, object: Account, list: visits, fields: [code], description: No.}
  - {code: both, kind: together, object: Account, fields: [class, colour], description: No.}
  - {code: label_twice, kind: exclusive, object: Account, fields: [old_label, label], description: No.}
  - {code: contact, kind: one_of, object: Visit, fields: [mail, phone], description: No.}
`

// plainAccount has one of each object that packs add to.
const plainAccount = `{"import_supplier":"S","external_account_number":"1","customers":[{"family_name":"Doe","customer_preferences":{"opted_into_sms":true},
	"consents":[{"type":"A","value":"ACCEPTED"}],"alternative_phone_numbers":[{"phone_number":"020 7946 0001"}]}],
	"billing_address":{"country":"GB","postal_code":"N1 1AA","locality":"London"},"metadata":[{"key":"k","value":1}],
	"account_billing_options":{"period_length":"MONTHLY","period_start_day":1},
	"payment_instructions":[{"vendor":"V","reference":"R","type":"CARD"}],
	"payment_schedules":[{"start_date":"2026-01-01","trigger":"REGULAR","frequency":"MONTHLY","amount":"5.00","day_of_month":3}],
	"supply_addresses":[{"supply_address":{"country":"GB","postal_code":"N1 1AA"},"supply_points":[{"identifier":"1200","supply_type":"GAS","supply_start_date":"2020-01-01",
		"agreements":[{"product_code":"A","effective_from":"2020-01-01"}],"meters":[{"serial_number":"M1","registers":[{"register_id":"1","number_of_digits":5,
			"transfer_readings":[{"reading_date":"2026-01-31","reading_type":"SMART","reading_value":"123.4"}]}]}]}]}]}`

// Filled accounts are valid, and sooner or later each field of a pack is filled.
func TestFilledAccountsAreValid(t *testing.T) {
	own, err := pack.Read([]byte(ownPack))
	if err != nil {
		t.Fatal(err)
	}
	schema, err := contract.NewSchema(own)
	if err != nil {
		t.Fatal(err)
	}
	for name, schema := range map[string]*contract.Schema{"own": schema, "gb-energy": openPacks(t, "gb-energy@1"), "au-energy": openPacks(t, "au-energy@1")} {
		t.Run(name, func(t *testing.T) {
			filled := map[string]bool{}
			for seed := range uint64(300) {
				var account map[string]any
				if err := json.Unmarshal([]byte(plainAccount), &account); err != nil {
					t.Fatal(err)
				}
				schema.Fill(account, calendar.Date(2026, time.June, 30), rand.New(rand.NewPCG(seed, 1)).IntN)
				text, err := json.Marshal(account)
				if err != nil {
					t.Fatal(err)
				}
				if found := violations(t, schema, string(text)); len(found) != 0 {
					t.Fatalf("%v in %s", found, text)
				}
				addPaths(filled, "", account)
			}
			never := []string{}
			schema.Walk(func(path string, _ json.RawMessage) {
				// Ledgers must agree with the account, and ends of periods with their beginnings.
				skipped := strings.HasPrefix(path, "ledgers") || strings.HasSuffix(path, "_to") || strings.HasSuffix(path, "_date") || strings.HasSuffix(path, "removed_on") ||
					strings.Contains(path, "meters.0.transfer_readings")
				if !filled[path] && !skipped && !strings.Contains(path, "notes.0.") {
					never = append(never, path)
				}
			})
			if len(never) > 0 {
				t.Errorf("%d fields were never filled: %v", len(never), never)
			}
		})
	}
}

// addPaths collects the attrs of a document, with 0 for every item of a list.
func addPaths(into map[string]bool, path string, value any) {
	into[path] = true
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			addPaths(into, strings.TrimPrefix(path+"."+name, "."), member)
		}
	case []any:
		for _, item := range value {
			addPaths(into, path+"."+strconv.Itoa(0), item)
		}
	}
}
