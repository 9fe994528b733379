package rules

import "math/bits"

// nameIndex finds the place of a field in its table with one look: every name of
// the table has a slot of its own. A map would take three times as long, and an
// account is asked for its fields some hundreds of times.
type nameIndex struct {
	factor uint64
	slots  [256]uint8 // the field's place counted from 1, 0 where none is
}

// newNameIndex looks for a factor that gives every name a slot of its own. There
// is none when two names cannot be told apart by what is looked at.
func newNameIndex(names []string) *nameIndex {
	d := new(nameIndex)
	for try := range uint64(maxTries) {
		d.factor = goldenRatio * (2*try + 1)
		if d.fill(names) {
			return d
		}
	}
	return nil
}

const (
	// maxTries is far above what a table of 64 names needs, some thousands.
	maxTries = 1 << 18
	// goldenRatio spreads what differs little over all the numbers there are.
	goldenRatio = 0x9e3779b97f4a7c15
)

func (d *nameIndex) fill(names []string) bool {
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

// slot looks at the length of a name, its first eight letters and its last
// eight, which are all that most names have.
func (d *nameIndex) slot(name string) uint8 {
	length := len(name)
	var first, last uint64
	switch {
	case length >= 8:
		first, last = word(name, 0), word(name, length-8)
	case length >= 4:
		first, last = half(name, 0), half(name, length-4)
	case length > 0:
		first, last = uint64(name[0])|uint64(name[length/2])<<8, uint64(name[length-1])
	}
	both := first*goldenRatio ^ bits.RotateLeft64(last, length)
	return uint8((both ^ both>>29) * d.factor >> 56)
}
