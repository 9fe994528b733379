package rules

// directory finds the place of a field in its table with one look: every name of
// the table has a slot of its own. A map would take three times as long, and an
// account is asked for its fields some hundreds of times.
type directory struct {
	factor uint32
	slots  [256]uint8 // the field's place counted from 1, 0 where none is
}

// newDirectory looks for a factor that gives every name a slot of its own. There
// is none when two names cannot be told apart by what is looked at.
func newDirectory(names []string) *directory {
	d := new(directory)
	for range mostTries {
		d.factor += 2654435769 | 1 // spreads the factors over all there are
		if d.fill(names) {
			return d
		}
	}
	return nil
}

// mostTries is far above what a table of 64 names needs, some thousands.
const mostTries = 1 << 18

func (d *directory) fill(names []string) bool {
	d.slots = [256]uint8{}
	for i, name := range names {
		slot := d.slot(name)
		if d.slots[slot] != 0 {
			return false
		}
		d.slots[slot] = uint8(i + 1)
	}
	return true
}

// slot looks at the length of a name and three of its letters.
func (d *directory) slot(name string) uint8 {
	length := len(name)
	if length == 0 {
		return 0
	}
	seen := uint32(length) | uint32(name[0])<<8 | uint32(name[length/2])<<16 | uint32(name[length-1])<<24 //nolint:gosec // however long
	return uint8(seen * d.factor >> 24)
}
