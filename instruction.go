package landfall

import "landfall/internal/lib/calendar"

// Instruction is a payment instruction at a payment vendor.
type Instruction struct {
	Vendor       string
	Reference    string
	Type         string
	ValidFromOn  calendar.Day
	ForSchedules bool
	Details      InstructionDetails // as reported by the vendor
}

// Same reports whether two instructions are the same one at the vendor, whatever
// their other fields say.
func (i Instruction) Same(other Instruction) bool {
	return i.Vendor == other.Vendor && i.Reference == other.Reference
}
