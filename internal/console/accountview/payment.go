package accountview

import "landfall"

// Statement is a bill the old supplier issued.
type Statement struct {
	ID       string `json:"statement_id"`
	From     Maybe  `json:"bill_period_from_date"`
	To       Maybe  `json:"bill_period_to_date"`
	IssuedOn Maybe  `json:"issued_date"`
	Number   string `json:"number,omitempty"`
	Gross    Maybe  `json:"gross_amount"`
	Document string `json:"document,omitempty"`
}

// Instruction is a payment instruction with what its vendor said about it. The
// vendor tells no more of a card or bank account than may be shown.
type Instruction struct {
	Vendor       string `json:"vendor"`
	Reference    string `json:"reference"`
	Type         string `json:"type"`
	ValidFrom    Maybe  `json:"valid_from"`
	ForSchedules bool   `json:"use_for_scheduled_payments"`
	Status       string `json:"vendor_status"`
	Scheme       string `json:"scheme,omitempty"`
	LastDigits   string `json:"last_digits,omitempty"`
	Expiry       string `json:"expiry,omitempty"`
}

// Schedule says when money is collected.
type Schedule struct {
	From       Maybe  `json:"start_date"`
	To         Maybe  `json:"end_date"`
	Trigger    string `json:"trigger,omitempty"`
	Amount     Maybe  `json:"amount"`
	Frequency  string `json:"frequency,omitempty"`
	DayOfMonth int    `json:"day_of_month,omitempty"`
	Threshold  Maybe  `json:"threshold"`
}

// statement shows where its document lies, for the operator who is asked for it.
func statement(s landfall.Statement, options Options) Statement {
	return Statement{s.ID, day(s.FromOn), day(s.ToOn), day(s.IssuedOn), s.Number, amount(s.GrossAmount), options.locate(s.Path)}
}

// instruction has the last digits alone; we are never given more.
func instruction(i landfall.Instruction) Instruction {
	return Instruction{i.Vendor, i.Reference, i.Type, day(i.ValidFromOn), i.ForSchedules,
		i.Details.Status, i.Details.Scheme, i.Details.LastDigits, i.Details.Expiry}
}

// schedule leaves an amount that is not there empty: zero would be a promise.
func schedule(s landfall.PaymentSchedule) Schedule {
	return Schedule{day(s.StartOn), day(s.EndOn), s.Trigger, amount(s.Amount), s.Frequency, s.DayOfMonth, amount(s.Threshold)}
}
