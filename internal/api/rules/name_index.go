package rules

import "math/bits"

// nameIndex is a perfect hash of the field names of a table: one lookup finds
// the index of a field. A map takes three times as long, and reading an account
// looks up hundreds of fields.
type nameIndex struct {
	factor uint64
	slots  [256]uint8 // index of the field plus 1, or 0
}

// newNameIndex searches for a multiplier that gives each name its own slot. It
// returns nil if two names differ only in characters that slot does not look at.
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
	// maxTries is far more than a table of 64 names needs, which is a few thousand.
	maxTries = 1 << 18
	// goldenRatio is the usual multiplier of Fibonacci hashing.
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

// slot hashes the length of a name and its first and last eight bytes, which are
// all bytes of most names.
func (d *nameIndex) slot(name string) uint8 {
	length := len(name)
	var first, last uint64
	switch {
	case length >= 8:
		first, last = loadWord(name, 0), loadWord(name, length-8)
	case length >= 4:
		first, last = half(name, 0), half(name, length-4)
	case length > 0:
		first, last = uint64(name[0])|uint64(name[length/2])<<8, uint64(name[length-1])
	}
	both := first*goldenRatio ^ bits.RotateLeft64(last, length)
	return uint8((both ^ both>>29) * d.factor >> 56)
}
