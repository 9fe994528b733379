package convert

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
)

// batch holds a few thousand entries in memory. open begins an entry, its payload is appended to
// text, and close ends it.
type batch struct {
	text    []byte
	slots   []slot
	begun   int // where the open entry starts
	payload int // where its payload starts

	last, lastLoad int // the same for the previous entry

	disordered bool // an entry is out of order
	common     int  // length of the common prefix of all keys
}

// slot is the position of an entry, with the start of its key as a number, which decides most
// comparisons.
type slot struct {
	head uint64
	from uint32
}

// open begins an entry. close fills in the length of its payload.
func (b *batch) open(at uint64, key []byte) {
	b.begun = len(b.text)
	b.text = appendHead(b.text, at, key, 0)
	b.payload = len(b.text)
}

// close also checks the order of the entry, while it is still in the CPU cache.
func (b *batch) close() {
	binary.LittleEndian.PutUint32(b.text[b.begun+4:], uint32(len(b.text)-b.payload))
	b.slots = append(b.slots, slot{from: uint32(b.begun)})
	key := b.text[b.begun+entryHead : b.payload]
	if len(b.slots) == 1 {
		b.disordered, b.common = false, len(key)
	} else {
		// Comparing neighbours is enough.
		before := b.text[b.last+entryHead : b.lastLoad]
		same := commonLength(before, key)
		b.common = min(b.common, same)
		switch {
		case b.disordered:
		case len(before) != len(key):
			b.disordered = len(before) > len(key)
		case same < len(key):
			b.disordered = before[same] > key[same]
		default:
			b.disordered = binary.LittleEndian.Uint64(b.text[b.last+8:]) > binary.LittleEndian.Uint64(b.text[b.begun+8:])
		}
	}
	b.last, b.lastLoad = b.begun, b.payload
}

// commonLength returns the length of the common prefix of two keys, comparing eight bytes at a
// time.
func commonLength(a, b []byte) (same int) {
	shorter := min(len(a), len(b))
	for ; same+8 <= shorter; same += 8 {
		if differ := binary.LittleEndian.Uint64(a[same:]) ^ binary.LittleEndian.Uint64(b[same:]); differ != 0 {
			return same + bits.TrailingZeros64(differ)/8
		}
	}
	for same < shorter && a[same] == b[same] {
		same++
	}
	return same
}

// drop removes the open entry.
func (b *batch) drop() { b.text = b.text[:b.begun] }

// entry returns the entry at an index.
func (b *batch) entry(i int) (e sortEntry) {
	e.read(b.text[b.slots[i].from:])
	return e
}

// size is the memory used by the rows. Unused capacity was never touched and does not count.
func (b *batch) size() int64 { return int64(len(b.text) + 16*len(b.slots)) }

// sort sorts the entries unless they are in order.
func (b *batch) sort() {
	if len(b.slots) < 2 || !b.disordered {
		return
	}
	// The common prefix does not help to compare.
	for i := range b.slots {
		key := b.entry(i).key
		var head [8]byte
		head[0] = byte(min(len(key), 255))
		// One byte cannot hold the length of longer keys, which is compared first.
		if len(key) < 255 {
			copy(head[1:], key[b.common:])
		}
		b.slots[i].head = binary.BigEndian.Uint64(head[:])
	}
	slices.SortFunc(b.slots, func(x, y slot) int {
		if x.head != y.head {
			return cmp.Compare(x.head, y.head)
		}
		var one, other sortEntry
		one.read(b.text[x.from:])
		other.read(b.text[y.from:])
		return one.compare(&other)
	})
}

// reserve grows the batch to the expected size of the whole block, based on its first part. Growing
// step by step would copy everything each time.
func (b *batch) reserve(part, whole int) {
	// Blocks are not uniform, so some space is added. Being slightly short is not a reason to move
	// everything.
	missing := func(length, room int) (all int, much bool) {
		all = int(int64(length) * int64(whole) / int64(part))
		return all + all/8, all+all/64 > room
	}
	// Allocated with make, because append would clear the memory first.
	if text, much := missing(len(b.text), cap(b.text)); much {
		b.text = append(make([]byte, 0, text), b.text...)
	}
	if rows, much := missing(len(b.slots), cap(b.slots)); much {
		b.slots = append(make([]slot, 0, rows), b.slots...)
	}
}
