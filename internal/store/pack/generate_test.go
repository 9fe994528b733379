package pack_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// generator generates accounts as the systems of suppliers export them: the same
// fields in the same order, with other values in every account.
type generator struct{ *rand.Rand }

func newGenerator(seed uint64) *generator {
	return &generator{rand.New(rand.NewPCG(seed, seed))} // always the same numbers, on purpose
}

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON writes the members in order.
func (o object) MarshalJSON() ([]byte, error) {
	var text strings.Builder
	text.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			text.WriteByte(',')
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&text, "%q:%s", m.name, value)
	}
	text.WriteByte('}')
	return []byte(text.String()), nil
}

func (c *generator) pick(from string) string {
	words := strings.Split(from, "|")
	return words[c.IntN(len(words))]
}

func (c *generator) digits(n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = byte('0' + c.IntN(10))
	}
	return string(text)
}

func (c *generator) day(first, years int) string {
	return fmt.Sprintf("%d-%02d-%02d", first+c.IntN(years), 1+c.IntN(12), 1+c.IntN(28))
}

func (c *generator) money() string { return fmt.Sprintf("%d.%02d", c.IntN(400)-150, c.IntN(100)) }

func (c *generator) maybe(of int, members ...member) []member {
	if c.IntN(of) == 0 {
		return members
	}
	return nil
}

// account returns one account. Half of them have a space after every colon and
// comma, as exports from Python and hand-written ones do.
func (c *generator) account() []byte {
	text, err := json.Marshal(c.whole())
	if err != nil {
		panic(err)
	}
	if c.IntN(2) == 0 {
		return text
	}
	return []byte(strings.NewReplacer(`":`, `": `, `,"`, `, "`, `},{`, `}, {`).Replace(string(text)))
}

func (c *generator) whole() object {
	given, family := c.pick(givenNames), c.pick(familyNames)
	mail := strings.ToLower(given + "." + family + "@" + c.pick(mailHosts))
	street, town, code := c.digits(2)+" "+c.pick(streets), c.pick(towns), c.pick("SW1Y|M1|LS6|BS3|EH3|CF10|B15|NE1|L8|G12")+" "+c.digits(1)+c.pick("AB|JH|QT|ZY|LN|PR")
	o := object{
		{"import_supplier", c.pick("NORTH|ACME_ENERGY|SOUTH_POWER|DEMO_ENERGY")}, {"external_account_number", c.pick("EXT-|A-|10|") + c.digits(9)},
		{"account_type", c.pick("DOMESTIC|DOMESTIC|DOMESTIC|BUSINESS")}, {"currency", "GBP"},
		{"billing_name", given + " " + family}, {"billing_email", mail},
		{"billing_address1", street}, {"billing_address2", town}, {"billing_address3", c.pick(counties)}, {"billing_postcode", code},
		{"communication_preference", c.pick("ONLINE|ONLINE|PRINT")},
	}
	o = append(o, c.maybe(4, member{"billing_address", object{{"country", "GB"}, {"street_address", street}, {"locality", town}, {"postal_code", code}}})...)
	o = append(o, c.maybe(5, member{"language_preference", "en-GB"}, member{"document_accessibility", c.pick("LARGE_PRINT|BRAILLE|SPOKEN")})...)
	o = append(o, c.maybe(2, member{"sales_channel", c.pick("DIRECT|PRICE_COMPARISON|BROKER|FIELD_SALES")}, member{"sales_subchannel", c.pick("web|telephone|")})...)
	o = append(o, object{
		{"date_of_sale", c.day(2018, 8)}, {"last_billed_to_date", c.day(2026, 1)},
		{"last_statement_closing_date", c.day(2026, 1)}, {"last_statement_issue_date", c.day(2026, 1)}, {"next_bill_due_date", c.day(2026, 1)},
		{"last_statement_balance", c.money()}, {"transfer_balance", c.money()},
	}...)
	o = append(o, c.maybe(2, member{"account_billing_options", object{{"period_length", c.pick("MONTHLY|QUARTERLY|ANNUAL")}, {"period_length_multiplier", 1}, {"period_start_day", 1 + c.IntN(28)}}})...)
	customers := []object{c.customer(given, family, mail)}
	if c.IntN(2) == 0 {
		other := c.pick(givenNames)
		customers = append(customers, c.customer(other, family, strings.ToLower(other+"."+family+"@"+c.pick(mailHosts))))
	}
	o = append(o, member{"customers", customers}, member{"supply_addresses", []object{{
		{"supply_address1", street}, {"supply_address2", town}, {"supply_postcode", code}, {"supply_points", c.points()},
	}}})
	return append(o, c.books()...)
}

func (c *generator) customer(given, family, mail string) object {
	o := object{
		{"given_name", given}, {"family_name", family}, {"title", c.pick("Ms|Mr|Mrs|Dr|Miss")}, {"email", mail},
		{"mobile", "+447" + c.digits(9)}, {"landline", "020 7" + c.digits(3) + " " + c.digits(4)}, {"date_of_birth", c.day(1940, 65)},
	}
	return append(o, c.maybe(2, member{"customer_preferences", object{
		{"opted_into_sms", c.IntN(2) == 0}, {"opted_into_offers", c.IntN(2) == 0}, {"opted_into_recommended", c.IntN(2) == 0},
		{"opted_into_updates", c.IntN(2) == 0}, {"opted_into_third_parties", c.IntN(2) == 0},
	}}, member{"consents", []object{{{"type", "TERMS_AND_CONDITIONS"}, {"value", c.pick("ACCEPTED|REJECTED|PENDING")}, {"signed_at", c.day(2018, 8) + "T10:00:00Z"}}}})...)
}

func (c *generator) points() []object {
	kinds := []string{"ELECTRICITY", "GAS", "WATER"}[:1+c.IntN(3)]
	points := make([]object, len(kinds))
	for i, kind := range kinds {
		start := c.day(2018, 8)
		register := object{{"register_id", c.pick("01|02|1|R1")}, {"number_of_digits", 5 + c.IntN(3)}, {"transfer_readings", []object{
			{{"reading_date", c.day(2026, 1)}, {"reading_type", c.pick("CUSTOMER|ESTIMATE|ROUTINE|SMART|REGULAR")}, {"reading_value", c.digits(5)}},
		}}}
		points[i] = object{
			{"identifier", c.digits(13)}, {"supply_type", kind}, {"supply_start_date", start},
			{"agreements", []object{{{"product_code", c.pick("FIXED-12M|FLEX-1|SVT|ECO7|FIXED-24M")}, {"effective_from", start}, {"effective_to", c.day(2025, 1)}}, {{"product_code", "FLEX-1"}, {"effective_from", c.day(2025, 1)}, {"agreed_at", c.day(2025, 1) + "T09:30:00Z"}}}},
			{"meters", []object{{{"serial_number", c.pick("E|G4A|S|Z") + c.digits(9)}, {"installed_on", c.day(2010, 14)}, {"registers", []object{register}}}}},
		}
	}
	return points
}

// books returns the charges, statements, notes and payments of an account.
func (c *generator) books() []member {
	payment := object{
		{"transaction_id", "P-" + c.digits(6)}, {"transaction_date", c.day(2026, 1)}, {"amount", float64(c.IntN(20000)) / 100}, {"type", "PAYMENT"},
		{"payment_type", c.pick("DD_REGULAR_COLLECTION|DIRECT_CREDIT|DEBIT_CARD")}, {"reason", "ACCOUNT_CHARGE_PAYMENT"}, {"reference", "DD-" + c.digits(5)},
	}
	charge := object{
		{"transaction_id", "C-" + c.digits(6)}, {"transaction_date", c.day(2026, 1)}, {"amount", float64(c.IntN(20000)) / 100},
		{"type", c.pick("CHARGE|CREDIT|REPAYMENT")}, {"reason", c.pick("IMPORTED_CHARGE|IMPORTED_CREDIT|GENERAL_CREDIT|FULL_CREDIT_REFUND")},
		{"display_note", "Your energy"}, {"note", "imported"},
	}
	supply := object{
		{"transaction_id", "S-" + c.digits(6)}, {"transaction_date", c.day(2026, 1)}, {"amount", float64(c.IntN(20000)) / 100},
		{"type", "SUPPLY_CHARGE"}, {"product_code", "FLEX-1"},
		{"line_items", []object{{{"rate_band", "CONSUMPTION_STANDARD"}, {"start_date", c.day(2026, 1)}, {"end_date", c.day(2026, 1)}, {"number_of_units", c.IntN(500)}, {"net_amount", float64(c.IntN(9000)) / 100}, {"price_per_unit", 0.24}}}},
		{"tax_items", []object{{{"amount", 1.5}, {"tax_type", "VAT"}, {"value_taxed", 30}, {"rate", 0.05}, {"unit_type", "PROPORTION"}}}},
	}
	var o []member
	o = append(o, c.maybe(3, member{"historical_statement_transactions", []object{charge, supply}})...)
	o = append(o, c.maybe(3, member{"statements", []object{{{"bill_period_from_date", c.day(2026, 1)}, {"bill_period_to_date", c.day(2026, 1)}, {"statement_id", "ST-" + c.digits(6)}, {"issued_date", c.day(2026, 1)}, {"number", c.digits(7)}, {"gross_amount", 88.2}, {"statement_path", "bills/" + c.digits(8) + ".pdf"}}}})...)
	o = append(o, c.maybe(3, member{"notes", []object{{{"body", "Customer called about the bill."}, {"created_at", c.day(2026, 1) + "T12:00:00Z"}, {"is_pinned", c.IntN(2) == 0}, {"document_paths", []object{{{"document_path", "letters/" + c.digits(6) + ".pdf"}}}}}}})...)
	o = append(o, c.maybe(4, member{"payment_instructions", []object{{{"vendor", "STRIPE"}, {"reference", "pm_" + c.digits(14)}, {"type", c.pick("CARD|DIRECT_DEBIT")}, {"valid_from", c.day(2026, 1)}, {"use_for_scheduled_payments", true}}}})...)
	o = append(o, c.maybe(4, member{"payment_schedules", []object{{{"start_date", c.day(2026, 1)}, {"trigger", c.pick("REGULAR|BILL|BALANCE")}, {"amount", c.money()}, {"frequency", "MONTHLY"}, {"day_of_month", 1 + c.IntN(28)}}}})...)
	o = append(o, c.maybe(4, member{"references", []object{{{"namespace", "legacy"}, {"value", c.digits(8)}}}}, member{"metadata", []object{{{"key", "segment"}, {"value", c.pick("A|B|C")}}}})...)
	return append(o, member{"current_statement_transactions", []object{payment}})
}

// The values to draw from. None belongs to a real person.
const (
	givenNames  = "Ada|Charles|Grace|Alan|Mary|John|Sarah|David|Emma|James|Olivia|Thomas|Aisha|Mohammed|Priya|Wei|Chloe|Liam|Sophie|Daniel"
	familyNames = "Lovelace|Babbage|Hopper|Turing|Smith|Jones|Taylor|Brown|Williams|Wilson|Johnson|Davies|Patel|Wright|Walker|Khan|Evans|Green|Hall|Wood"
	mailHosts   = "mail.co.uk|example.com|example.org|post.example.net|home.example.co.uk"
	streets     = "High Street|Station Road|St James's Square|Church Lane|Victoria Road|Mill Lane|Park Avenue|The Green|Queens Road|Albert Street"
	towns       = "London|Manchester|Leeds|Bristol|Edinburgh|Cardiff|Birmingham|Newcastle upon Tyne|Liverpool|Glasgow"
	counties    = "Westminster|Greater Manchester|West Yorkshire|Avon|Midlothian|South Glamorgan|West Midlands|Tyne and Wear|Merseyside|Lanarkshire"
)
