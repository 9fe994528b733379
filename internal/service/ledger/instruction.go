package ledger

import "landfall"

// PostInstructions decides which of the posted payment instructions are new. One
// that is there already in the same words changes nothing. The index of the
// first one that says something else than the one that is there is the second
// result, with the fields in which they differ; -1 when there is none.
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
		if differences := differentWords(other, instruction); len(differences) > 0 {
			return nil, i, differences
		}
	}
	return fresh, -1, nil
}

// differentWords names the fields of an instruction that were sent otherwise.
// What the vendor said is not among them: he is asked anew each time.
func differentWords(a, b landfall.Instruction) (fields []string) {
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
