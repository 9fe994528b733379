package generate

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"landfall"
)

// The imaginary old system exports eight tables in windows-1252 with semicolons, decimal commas,
// 31.12.1999, cents, and its own codes. They contain everything in a book, so converting them gives
// the same book.

// oldTables are its tables and columns, in the order of writing.
var oldTables = []struct {
	name    string
	columns string
}{
	{"ACCOUNT", "ACCT_NO KIND BUSINESS REG_NO NOBODY CURR NAME EMAIL STREET TOWN POSTCODE COMM FORMAT LANG CHANNEL SOLD SINCE CLOSED ISSUED " +
		"BILLED_TO LAST_BAL BALANCE PERIOD BILL_DAY SCHED_FROM SCHED_AMOUNT SCHED_DAY OLD_NO DD_REF"},
	{"CUSTOMER", "ACCT_NO TITLE FORENAME SURNAME EMAIL MOBILE PHONE BORN ROLE SMS OFFERS"},
	{"POINT", "POINT_ID ACCT_NO MPXN FUEL BEGUN BILLED_TO METER INSTALLED REGISTER DIGITS READ_ON READ_HOW READING"},
	{"CONTRACT", "POINT_ID PRODUCT BEGUN ENDED"},
	{"LEDGER", "TRANS_NO ACCT_NO STATE DAY KIND AMOUNT REASON REF PAID_BY PRODUCT"},
	{"ITEM", "TRANS_NO KIND CODE BEGUN ENDED UNITS PRICE AMOUNT BASE RATE"},
	{"NOTE", "ACCT_NO WRITTEN PINNED REMARK"},
	{"BILL", "BILL_ID ACCT_NO BEGUN ENDED ISSUED NUMBER GROSS DOCUMENT"},
}

// Indexes into oldTables.
const (
	oldAccount = iota
	oldCustomer
	oldPoint
	oldContract
	oldLedger
	oldItem
	oldNote
	oldBill
)

//go:embed oldsystem.yaml
var oldMap string

//go:embed mandate.yaml
var oldMandate string

// MapName is the name of the map next to the tables.
const MapName = "map.yaml"

// Map returns the map that converts the tables into a book.
func (o Options) Map() string {
	text := strings.Replace(oldMap, "supplier: SUPPLIER ", "supplier: "+o.Supplier+" ", 1)
	if o.Vendor != "" {
		text += strings.Replace(oldMandate, "=VENDOR", "="+o.Vendor, 1)
	}
	return text
}

// tables builds the rows of one account.
type tables struct {
	rows [][]byte // by table
	own  string   // the account number in all tables but its own
}

// DrawTables returns the rows of the account at an index.
func (o Options) DrawTables(index int) (rows [][]byte, fault string, figures landfall.Figures) {
	d := newRandom(o.Seed, index)
	h := o.household(d, index)
	fault, figures = o.chooseFault(d, h, index)
	// A wrong number is only in the account's own table. All other rows use the right one.
	t := &tables{rows: make([][]byte, len(oldTables)), own: o.accountNumber(index)}
	if fault == "lost" {
		return t.rows, fault, figures
	}
	whose := t.own
	if fault == "orphan" {
		whose = "Z" + whose
	}
	t.account(&h.account, h)
	t.customers(h.account.Customers)
	for i, point := range h.account.Supplies[0].Points {
		t.point(point, i)
	}
	t.ledger("B", h.account.Historical)
	t.ledger("O", h.account.Current)
	t.ledger("N", h.latePayments)
	for _, remark := range h.notes {
		day, clock, _ := strings.Cut(remark.At, "T")
		t.row(oldNote, whose, oldDay(day)+" "+strings.TrimSuffix(clock, "Z"), yes(remark.Pinned), remark.Body)
	}
	for _, bill := range h.bills {
		t.row(oldBill, bill.ID, t.own, oldDay(bill.From), oldDay(bill.To), oldDay(bill.IssuedOn), bill.Number, formatCents(bill.Gross), bill.Path)
	}
	return t.rows, fault, figures
}

// account adds the row of an account: codes for words, dates with dots, amounts in cents.
func (t *tables) account(a *account, h *household) {
	period, day := "", ""
	if a.Billing != nil {
		period, day = a.Billing.Period[:1], strconv.Itoa(a.Billing.StartDay)
	}
	from, amount, on := "", "", ""
	if len(a.Schedules) > 0 {
		from, amount, on = oldDay(a.Schedules[0].From), formatCents(a.Schedules[0].Amount), strconv.Itoa(a.Schedules[0].Day)
	}
	former := ""
	if len(a.References) > 0 {
		former = a.References[0].Value
	}
	t.row(oldAccount, a.External, lookupCode(a.Type, "DOMESTIC", "P", "BUSINESS", "B"), lookupCode(a.BusinessType, "LIMITED_COMPANY", "1"), a.CompanyNumber,
		yes(a.Unknown), a.Currency, a.BillingName, a.BillingEmail, a.Line1, a.Line2, a.Postcode,
		lookupCode(a.Communication, "ONLINE", "E", "PRINT", "L"), lookupCode(a.Accessibility, "LARGE_PRINT", "1", "BRAILLE", "2", "SPOKEN", "3"),
		a.Language, initial(a.SalesChannel), oldDay(a.SoldOn), oldDay(h.since.String()), oldDay(a.ClosedOn), oldDay(a.IssuedOn), oldDay(a.BilledTo),
		formatOwed(a.LastBalance), formatOwed(a.Balance), period, day, from, amount, on, former, h.debit)
}

// customers adds a row per customer, linked by the account number.
func (t *tables) customers(list []customer) {
	for _, c := range list {
		sms, offers := "", ""
		if c.Preferences != nil {
			sms, offers = yesNo(c.Preferences.SMS), yesNo(c.Preferences.Offers)
		}
		t.row(oldCustomer, t.own, c.Title, c.Given, c.Family, c.Email, c.Mobile, c.Landline, oldDay(c.Born),
			lookupCode(c.Role, "ACCOUNT_HOLDER", "H"), sms, offers)
	}
}

// point adds a supply point and its meter in one wide row.
func (t *tables) point(p supplyPoint, number int) {
	id := fmt.Sprintf("%s/%d", t.own, number+1)
	firstMeter := p.Meters[0]
	firstRegister := firstMeter.Registers[0]
	firstReading := firstRegister.Readings[0]
	t.row(oldPoint, id, t.own, p.Identifier, initial(p.Type), oldDay(p.StartedOn), oldDay(p.BilledTo), firstMeter.Serial, oldDay(firstMeter.InstalledOn),
		firstRegister.ID, strconv.Itoa(firstRegister.Digits), oldDay(firstReading.On), initial(firstReading.Type), decimalComma(firstReading.Value))
	for _, a := range p.Agreements {
		t.row(oldContract, id, a.Product, oldDay(a.From), oldDay(a.To))
	}
}

// ledger adds the transactions, and their items in a table of their own.
func (t *tables) ledger(state string, list []transaction) {
	for _, x := range list {
		t.row(oldLedger, x.ID, t.own, state, oldDay(x.On), lookupCode(x.Type, "SUPPLY_CHARGE", "S", "PAYMENT", "P", "CREDIT", "C", "CHARGE", "D"),
			formatCents(x.Amount), initial(x.Reason), x.Reference, initial(x.PaymentType), x.Product)
		for _, item := range x.Lines {
			t.row(oldItem, x.ID, "L", item.Band, oldDay(item.From), oldDay(item.To), decimalComma(item.Units), decimalComma(item.Price), formatCents(item.Net), "", "")
		}
		for _, tax := range x.Taxes {
			t.row(oldItem, x.ID, "T", tax.Type, "", "", "", "", formatCents(tax.Amount), formatCents(tax.Taxed), decimalComma(tax.Rate))
		}
	}
}

// row adds a row in windows-1252.
func (t *tables) row(table int, cells ...string) {
	text := t.rows[table]
	for i, cell := range cells {
		if i > 0 {
			text = append(text, ';')
		}
		quoted := strings.ContainsAny(cell, ";\"\n\r")
		if quoted {
			cell = strings.ReplaceAll(cell, `"`, `""`)
			text = append(text, '"')
		}
		for _, r := range cell {
			// Windows-1252 differs from Latin-1 only in 0x80 to 0x9f, which no drawn text uses.
			if r > 0xff || r >= 0x80 && r < 0xa0 {
				panic(fmt.Sprintf("generate: %q cannot be written in windows-1252 this way", r))
			}
			text = append(text, byte(r))
		}
		if quoted {
			text = append(text, '"')
		}
	}
	t.rows[table] = append(text, '\r', '\n')
}

// Formats of the old system.

// oldDay formats a date as 31.12.2025.
func oldDay(day string) string {
	if day == "" {
		return ""
	}
	return day[8:10] + "." + day[5:7] + "." + day[:4]
}

func formatCents(amount string) string {
	text := strings.TrimLeft(strings.Replace(strings.TrimPrefix(amount, "-"), ".", "", 1), "0")
	switch {
	case text == "":
		return "0"
	case strings.HasPrefix(amount, "-"):
		return "-" + text
	}
	return text
}

// formatOwed formats a balance of the old system, where positive means owed.
func formatOwed(amount string) string {
	text := formatCents(amount)
	if rest, negative := strings.CutPrefix(text, "-"); negative || text == "0" || text == "" {
		return rest
	}
	return "-" + text
}

// decimalComma uses a decimal comma.
func decimalComma(number string) string { return strings.Replace(number, ".", ",", 1) }

// yes is Y or empty.
func yes(is bool) string {
	if is {
		return "Y"
	}
	return ""
}

// yesNo is Y or N.
func yesNo(is bool) string {
	if is {
		return "Y"
	}
	return "N"
}

// initial is the first letter, used as a code.
func initial(word string) string { return word[:min(1, len(word))] }

func lookupCode(word string, pairs ...string) string {
	if at := slices.Index(pairs, word); at >= 0 {
		return pairs[at+1]
	}
	return ""
}
