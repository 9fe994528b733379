package accountview

import "landfall"

// Statement is a bill of the old supplier.
type Statement struct {
	ID       string     `json:"statement_id"`
	From     NullString `json:"bill_period_from_date"`
	To       NullString `json:"bill_period_to_date"`
	IssuedOn NullString `json:"issued_date"`
	Number   string     `json:"number,omitempty"`
	Gross    NullString `json:"gross_amount"`
	Document string     `json:"document,omitempty"`

	PackFields Extra `json:"pack_fields,omitempty"` // personal
}

// Instruction is a payment instruction with the details from its vendor.
type Instruction struct {
	Vendor       string     `json:"vendor"`
	Reference    string     `json:"reference"`
	Type         string     `json:"type"`
	ValidFrom    NullString `json:"valid_from"`
	ForSchedules bool       `json:"use_for_scheduled_payments"`
	Status       string     `json:"vendor_status"`
	Scheme       string     `json:"scheme,omitempty"`
	LastDigits   string     `json:"last_digits,omitempty"`
	Expiry       string     `json:"expiry,omitempty"`
}

// Schedule is a payment schedule.
type Schedule struct {
	From       NullString `json:"start_date"`
	To         NullString `json:"end_date"`
	Trigger    string     `json:"trigger,omitempty"`
	Amount     NullString `json:"amount"`
	Frequency  string     `json:"frequency,omitempty"`
	DayOfMonth int        `json:"day_of_month,omitempty"`
	Threshold  NullString `json:"threshold"`
}

func newStatement(s landfall.Statement, options Options) Statement {
	return Statement{s.ID, formatDay(s.FromOn), formatDay(s.ToOn), formatDay(s.IssuedOn), s.Number, formatAmount(s.GrossAmount), options.locate(s.Path), options.extra(s.Extra)}
}

func newInstruction(i landfall.Instruction, options Options) Instruction {
	all := options.mask(MaskAll)
	return Instruction{i.Vendor, options.number(i.Reference), i.Type, formatDay(i.ValidFromOn), i.ForSchedules,
		i.Details.Status, i.Details.Scheme, all(i.Details.LastDigits), all(i.Details.Expiry)}
}

// newSchedule leaves missing amounts empty.
func newSchedule(s landfall.PaymentSchedule) Schedule {
	return Schedule{formatDay(s.StartOn), formatDay(s.EndOn), s.Trigger, formatAmount(s.Amount), s.Frequency, s.DayOfMonth, formatAmount(s.Threshold)}
}
