package landfall

import (
	"landfall/internal/lib/calendar"
	"landfall/internal/lib/money"
)

// Statement is a bill the other supplier issued, kept for reference.
type Statement struct {
	ID          string
	FromOn      calendar.Day
	ToOn        calendar.Day
	IssuedOn    calendar.Day
	Number      string
	GrossAmount *money.Amount
	Path        string // of the PDF under the supplier's document root; "" when none
}
