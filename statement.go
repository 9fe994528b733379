package landfall

import (
	"landfall/internal/lib/calendar"
	"landfall/internal/lib/money"
)

// Statement is a bill that the other supplier issued, stored for reference.
type Statement struct {
	ID          string
	FromOn      calendar.Day
	ToOn        calendar.Day
	IssuedOn    calendar.Day
	Number      string
	GrossAmount *money.Amount
	SentAmount  *money.Amount // GrossAmount as it was sent, if that was in minor units
	Path        string        // of the PDF under the supplier's document root; "" when none
	Extra       string        // JSON object of the fields that packs add; "" when none
}
