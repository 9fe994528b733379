package convert

import (
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"
)

// batch is a few thousand entries in memory. They are written where they stay:
// open begins one, what is appended to text is its load, and close ends it.
type batch struct {
	text  []byte
	slots []slot
	begun int // where the open one begins
	payload  int // where its load does

	last, lastLoad int // the same of the one before

	disordered bool // some entry should stand before the one it was written behind
	common     int  // how many bytes all keys begin with
}

// slot is where an entry is, with the beginning of its key as a number: most
// comparisons need no more.
type slot struct {
	head uint64
	from uint32
}

// open begins an entry whose load is written behind it; close fills in how
// long it became.
func (b *batch) open(at uint64, key []byte) {
	b.begun = len(b.text)
	b.text = appendHead(b.text, at, key, 0)
	b.payload = len(b.text)
}

// close looks at once whether the entry is in its place: later it would have to
// be fetched into the cache again for that.
func (b *batch) close() {
	binary.LittleEndian.PutUint32(b.text[b.begun+4:], uint32(len(b.text)-b.payload))
	b.slots = append(b.slots, slot{from: uint32(b.begun)})
	key := b.text[b.begun+entryHead : b.payload]
	if len(b.slots) == 1 {
		b.disordered, b.common = false, len(key)
	} else {
		// Looking at neighbours is enough: if each is behind the one before it, all
		// are in order.
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

// commonLength is how many bytes two keys begin with alike, eight at a time.
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

// drop takes the open entry back.
func (b *batch) drop() { b.text = b.text[:b.begun] }

// entry gives one of the entries.
func (b *batch) entry(i int) (e sortEntry) {
	e.read(b.text[b.slots[i].from:])
	return e
}

// size is what the rows take. What they might is not touched and costs nothing.
func (b *batch) size() int64 { return int64(len(b.text) + 16*len(b.slots)) }

// sort brings the entries into order, unless they are.
func (b *batch) sort() {
	if len(b.slots) < 2 || !b.disordered {
		return
	}
	// What all keys begin with tells nothing.
	for i := range b.slots {
		key := b.entry(i).key
		var head [8]byte
		head[0] = byte(min(len(key), 255))
		// Of longer keys a byte cannot tell the lengths, which count first.
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

// reserve makes room for all that is to come, judged by what the first part of
// it became: growing bit by bit copies everything each time.
func (b *batch) reserve(part, whole int) {
	// A block is never quite like its beginning. Some room is added, but not
	// everything is moved for the want of it.
	missing := func(length, room int) (all int, much bool) {
		all = int(int64(length) * int64(whole) / int64(part))
		return all + all/8, all+all/64 > room
	}
	// New memory is made by hand: what append makes is cleared first.
	if text, much := missing(len(b.text), cap(b.text)); much {
		b.text = append(make([]byte, 0, text), b.text...)
	}
	if rows, much := missing(len(b.slots), cap(b.slots)); much {
		b.slots = append(make([]slot, 0, rows), b.slots...)
	}
}
