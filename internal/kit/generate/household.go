package generate

import (
	"cmp"
	"fmt"
	"strings"

	"landfall/internal/lib/calendar"
)

// household is an account before it becomes lines: everything drawn, and what its parts must agree
// on.
type household struct {
	account      account
	notes        []note
	latePayments []transaction // booked after the export
	bills        []statement
	debit        string // reference of the direct debit at the vendor, or ""

	since  calendar.Day // customer since
	closed calendar.Day // end of the last bill
	next   int          // number of the next transaction
	index  int          // of the account in the book
}

// accountNumber returns the number of the account at an index of the book.
func (o Options) accountNumber(index int) string {
	return fmt.Sprintf("%s%07d", cmp.Or(o.Prefix, "A-"), 1_000_001+index)
}

// household draws a valid account.
func (o Options) household(d *random, index int) *household {
	h := &household{index: index}
	// Every draw changes all later ones: inserting one changes the books of all seeds.
	h.closed = o.AsOf.AddDays(-d.between(3, 33))
	h.since = h.closed.AddDays(-d.between(200, 3_000))
	at := newHome(d)
	h.account = account{
		Supplier: o.Supplier, External: o.accountNumber(index), Type: "DOMESTIC", Currency: "GBP",
		Line1: at.line, Line2: at.town, Postcode: at.postcode, Communication: "ONLINE",
		SoldOn: h.since.AddDays(-d.between(5, 40)).String(),
	}
	o.people(d, h)
	a := &h.account
	if d.chance(30) {
		a.Communication = "PRINT"
	}
	if d.chance(4) {
		a.Accessibility = pick(d, strings.Fields("LARGE_PRINT BRAILLE SPOKEN"))
	}
	if d.chance(10) {
		a.Language = pick(d, strings.Fields("en-GB cy en"))
	}
	if d.chance(70) {
		a.SalesChannel = pick(d, channels)
	}
	if d.chance(60) {
		a.Billing = &billing{pick(d, strings.Fields("MONTHLY MONTHLY QUARTERLY")), 1, d.between(1, 28)}
	}
	if d.chance(25) {
		a.References = []reference{{"former_account", d.digits(8)}}
	}
	o.supplies(d, h, at)
	o.ledger(d, h)
	o.extras(d, h)
	return h
}

// people draws the customers: a household, a business, or nobody known.
func (o Options) people(d *random, h *household) {
	a := &h.account
	family := pick(d, familyNames)
	switch kind := d.below(100); {
	case kind < 2:
		a.Unknown, a.BillingName = true, "The Occupier"
		a.Customers = []customer{}
		return
	case kind < 10:
		a.Type, a.BusinessType, a.CompanyNumber = "BUSINESS", "LIMITED_COMPANY", d.digits(8)
		a.BillingName = family + " " + pick(d, trades) + " " + pick(d, endings)
	}
	size := 1
	if d.chance(30) {
		size = 2
	}
	for i := range size {
		p := o.person(d, family)
		c := customer{
			Given: p.given, Family: p.family, Title: p.title, Email: p.email, Mobile: p.mobile, Landline: p.landline, Born: p.born,
		}
		if d.chance(50) {
			c.Preferences = &preferences{d.chance(50), d.chance(20)}
		}
		if i == 0 {
			c.Role = "ACCOUNT_HOLDER"
			a.BillingEmail = p.email
			if a.BillingName == "" {
				a.BillingName = p.title + " " + p.given + " " + p.family
			}
		}
		a.Customers = append(a.Customers, c)
	}
}
