package ledger

import "landfall"

// PostInstructions decides which of the posted payment instructions are new. A
// repeat of an existing instruction changes nothing. The second result is the
// index of the first instruction that contradicts an existing one, or -1, and
// the third result names the fields that differ.
func PostInstructions(existing, posted []landfall.Instruction) (fresh []landfall.Instruction, conflict int, differences []string) {
	type name struct{ vendor, reference string }
	known := make(map[name]landfall.Instruction, len(existing)+len(posted))
	for _, instruction := range existing {
		known[name{instruction.Vendor, instruction.Reference}] = instruction
	}
	for i, instruction := range posted {
		own := name{instruction.Vendor, instruction.Reference}
		other, there := known[own]
		if !there {
			known[own] = instruction
			fresh = append(fresh, instruction)
			continue
		}
		if differences := differs(other, instruction); len(differences) > 0 {
			return nil, i, differences
		}
	}
	return fresh, -1, nil
}

// differs returns the names of the fields that differ. What the vendor
// said is not compared, because the vendor is asked again each time.
func differs(a, b landfall.Instruction) (fields []string) {
	if a.Type != b.Type {
		fields = append(fields, "type")
	}
	if a.ValidFromOn != b.ValidFromOn {
		fields = append(fields, "valid_from")
	}
	if a.ForSchedules != b.ForSchedules {
		fields = append(fields, "use_for_scheduled_payments")
	}
	return fields
}
