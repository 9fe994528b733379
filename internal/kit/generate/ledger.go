package generate

import (
	"fmt"
	"strconv"

	"landfall/internal/lib/calendar"
)

// pence is an exact amount of money.
type pence int64

// String formats an amount for the API, without floating point.
func (p pence) String() string {
	sign := ""
	if p < 0 {
		sign, p = "-", -p
	}
	return fmt.Sprintf("%s%d.%02d", sign, p/100, p%100)
}

// ledger draws bills and payments before and after the last statement. The balances are their sums.
func (o Options) ledger(d *random, h *household) {
	a := &h.account
	bills := d.between(1, 3)
	from := h.closed.AddDays(-30*bills + 1)
	balance := pence(0)
	for range bills {
		to := from.AddDays(29)
		for _, point := range a.Supplies[0].Points {
			bill, amount := h.bill(d, point, from, to)
			a.Historical = append(a.Historical, bill)
			balance -= amount
		}
		if d.chance(85) {
			amount := pence(d.between(30, 220) * 100)
			a.Historical = append(a.Historical, h.payment(to, amount))
			balance += amount
		}
		from = to.AddDays(1)
	}
	a.ClosedOn, a.BilledTo = h.closed.String(), h.closed.String()
	a.IssuedOn = h.closed.AddDays(d.between(1, 3)).String() // at least three days before the export
	a.LastBalance = balance.String()

	for on := h.closed.AddDays(d.between(1, 9)); !on.After(o.AsOf) && d.chance(60); on = on.AddDays(d.between(3, 12)) {
		amount := pence(d.between(500, 15_000))
		switch {
		case d.chance(80):
			a.Current = append(a.Current, h.payment(on, amount))
			balance += amount
		case d.chance(50):
			a.Current = append(a.Current, h.entry(on, "CREDIT", amount, "GOODWILL"))
			balance += amount
		default:
			a.Current = append(a.Current, h.entry(on, "CHARGE", amount, "LATE_PAYMENT_FEE"))
			balance -= amount
		}
	}
	a.Balance = balance.String()
	if d.chance(55) {
		a.Schedules = []schedule{{
			From: h.since.String(), Trigger: "REGULAR", Amount: pence(d.between(30, 220) * 100).String(), Frequency: "MONTHLY", Day: d.between(1, 28),
		}}
	}
}

// bill draws a monthly bill of one supply point, with five percent tax.
func (h *household) bill(d *random, point supplyPoint, from, to calendar.Day) (transaction, pence) {
	standing, units := 3_000+d.below(3_000), d.between(60, 620) // hundredths of a penny per day, kilowatt hours
	price := d.between(600, 2_900)                              // hundredths of a penny
	if point.Type == "GAS" {
		units, price = units*3, price/4
	}
	x := h.entry(to, "SUPPLY_CHARGE", 0, "")
	x.Product = point.Agreements[len(point.Agreements)-1].Product
	net := pence(0)
	for _, charge := range []struct {
		band         string
		units, price int
	}{{"STANDING_CHARGE", 30, standing}, {"STANDARD", units, price}} {
		// Rounded per line, half a penny up: the bill is the sum of its lines.
		amount := pence((charge.units*charge.price + 50) / 100)
		net += amount
		x.Lines = append(x.Lines, lineItem{
			charge.band, from.String(), to.String(), strconv.Itoa(charge.units), fmt.Sprintf("%d.%04d", charge.price/10_000, charge.price%10_000), amount.String(),
		})
	}
	tax := (net*5 + 50) / 100
	x.Taxes = []taxItem{{tax.String(), "VAT", net.String(), "0.05", "PROPORTION"}}
	x.Amount = (net + tax).String()
	return x, net + tax
}

// payment is a payment of the customer.
func (h *household) payment(on calendar.Day, amount pence) transaction {
	x := h.entry(on, "PAYMENT", amount, "")
	x.PaymentType, x.Reference = "DIRECT_DEBIT", "DD-"+x.ID
	return x
}

// entry creates a transaction with its own number.
func (h *household) entry(on calendar.Day, kind string, amount pence, reason string) transaction {
	h.next++
	return transaction{
		ID: h.account.External + "-" + strconv.Itoa(h.next), On: on.String(), Amount: amount.String(), Type: kind, Reason: reason,
	}
}
