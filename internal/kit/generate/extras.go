package generate

import (
	"fmt"
	"strings"
	"time"

	"landfall/internal/lib/calendar"
)

// noteTexts are typical notes of support staff.
var noteTexts = []string{
	"Called about the last bill; explained the standing charge.",
	"Moved the payment date to after payday.",
	"Prefers to be rung in the afternoon.",
	"Meter is behind the side gate, ring the bell first.",
	"Vulnerable customer: medical equipment in the home, do not disconnect.",
	"Payment plan agreed, six instalments.",
	"Smart meter refused for now; ask again next year.",
	"Neighbour reads the meter while the customer is abroad.",
	"Complaint about an estimated bill, resolved with a customer's reading.",
}

// extras draws what is added after the account exists.
func (o Options) extras(d *random, h *household) {
	if d.chance(35) {
		for range d.between(1, 3) {
			// No note is later than the export.
			on := h.since.AddDays(d.between(1, int(h.closed.Number()-h.since.Number())))
			text := pick(d, noteTexts)
			h.notes = append(h.notes, note{text, timeOfDay(d, on), strings.HasPrefix(text, "Vulnerable")})
		}
	}
	if d.chance(60) {
		o.bills(d, h)
	}
	// Booked between the export and the import.
	if d.chance(30) {
		for range d.between(1, 2) {
			h.latePayments = append(h.latePayments, h.payment(o.AsOf.AddDays(-d.below(2)), pence(d.between(500, 12_000))))
		}
	}
	// An instruction only makes sense with a payment schedule.
	if o.Vendor != "" && len(h.account.Schedules) > 0 && d.chance(80) {
		h.debit = "MD" + d.digits(12)
	}
}

// bills draws the monthly statements before the export.
func (o Options) bills(d *random, h *household) {
	to := h.closed
	for i := range d.between(2, 8) {
		from := to.AddDays(-29)
		// There are no bills from before moving in.
		if from.Before(h.since) {
			return
		}
		id := fmt.Sprintf("%s-S%02d", h.account.External, i+1)
		h.bills = append(h.bills, statement{
			ID: id, From: from.String(), To: to.String(), IssuedOn: to.AddDays(2).String(), Number: d.digits(9),
			Gross: pence(d.between(2_000, 28_000)).String(), Path: "statements/" + to.String()[:4] + "/" + id + ".pdf",
		})
		to = from.AddDays(-1)
	}
}

// timeOfDay adds a time within working hours to a date.
func timeOfDay(d *random, on calendar.Day) string {
	at := time.Duration(d.between(8*3600, 18*3600)) * time.Second
	return fmt.Sprintf("%sT%02d:%02d:%02dZ", on, int(at.Hours()), int(at.Minutes())%60, int(at.Seconds())%60)
}
