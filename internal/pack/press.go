package pack

import (
	"encoding/binary"
	"math/bits"
)

// The press makes short documents small in a few microseconds. A general
// compressor spends most of its time on such a document getting ready for it:
// it copies the tables of its dictionary and works out codes for the letters at
// hand. Accounts are so much alike that both can be made once, for all of them.
//
// A document becomes a row of steps, each a token, some letters that stand for
// themselves, and a copy of something that came before: in the document, or in
// the pattern that every document is thought to follow. Tokens, letters and the
// places of the pattern that are copied most are written with codes that never
// change.

const (
	patternLength = 56 << 10
	// longestPressed is the length of the longest document that is pressed:
	// every place in the pattern and in it takes 16 bits.
	longestPressed = 1<<16 - 1 - patternLength
	shortestCopy   = 4
)

// A token holds the class of the number of its letters, where the copy is from,
// and the class of its length.
const (
	letterShift = 6
	sourceShift = 4
	sourceMask  = 1<<2 - 1
	copyMask    = 1<<4 - 1
)

// Where a copy may be from.
const (
	popular = iota // one of the places that have a code
	distant        // a place of the pattern
	near           // not far before, in the document
	within         // anywhere in the document
)

// sourceBits is how many bits tell the place.
var sourceBits = [...]uint8{popular: 0, distant: 16, near: 8, within: 13}

var (
	letterCounts = newScale([]int{0, 1, 3, 7}, 13)
	copyLengths  = newScale([]int{4, 5, 6, 7, 8, 9, 10, 11, 12, 16, 24, 32, 48, 80, 144, 400}, 13)
)

const (
	patternBits  = 15
	documentBits = 12
)

// desk is what pressing one document needs. The pattern stands at the beginning
// of the text for good; documents come behind it.
type desk struct {
	text  [1<<16 + 8]byte // eight bytes can be read at every place
	seen  [1 << documentBits]uint32
	round uint32 // what is in seen of another one is of another document
}

func load(text []byte, at int) uint64 { return binary.LittleEndian.Uint64(text[at:]) }

// hash spreads five bytes.
func hash(word uint64, width uint) uint64 { return (word << 24) * 889523592379 >> (64 - width) }

// press appends the pressed form of a document to dst.
func (p *pattern) press(dst, document []byte) []byte {
	d := p.desks.Get().(*desk) //nolint:forcetypeassert // the pool makes nothing else
	defer p.desks.Put(d)
	end := patternLength + copy(d.text[patternLength:], document)
	if d.round++; d.round == 1<<16 {
		d.seen, d.round = [1 << documentBits]uint32{}, 1
	}
	text := d.text[:]
	out := writer{dst: binary.AppendUvarint(dst, uint64(len(document)))}
	at, written := patternLength, patternLength
	for at < end-shortestCopy {
		from := p.look(d, at, end)
		if from < 0 {
			at += 1 + (at-written)>>5
			continue
		}
		// What begins a letter later may be longer.
		if at+1 < end-shortestCopy {
			if other := p.look(d, at+1, end); other >= 0 &&
				same(text[at+1:end], text[other:]) > same(text[at:end], text[from:])+1 {
				at, from = at+1, other
			}
		}
		for at > written && from > 0 && text[at-1] == text[from-1] {
			at--
			from--
		}
		length := shortestCopy + same(text[at+shortestCopy:end], text[from+shortestCopy:])
		out.step(p, text[written:at], at, from, length)
		at += length
		written = at
		if at < end-shortestCopy {
			d.note(load(text, at-2), at-2)
		}
	}
	if written < end {
		out.step(p, text[written:end], end, end-1, shortestCopy)
	}
	return out.end()
}

// look finds a place that reads like the one at hand, -1 when it knows none.
// Of two the longer counts, unless it is hardly longer: the pattern's is cheaper.
func (p *pattern) look(d *desk, at, end int) int {
	word := load(d.text[:], at)
	slot := &d.seen[hash(word, documentBits)]
	noted := *slot
	*slot = d.round<<16 | uint32(at) //nolint:gosec // a place takes 16 bits
	found := -1
	if from := int(p.places[hash(word, patternBits)]); uint32(load(d.text[:], from)) == uint32(word) { //nolint:gosec // four bytes are compared
		found = from
	}
	if noted>>16 == d.round {
		from := int(noted & 0xffff)
		if uint32(load(d.text[:], from)) == uint32(word) && //nolint:gosec // likewise
			(found < 0 || same(d.text[at:end], d.text[from:]) > same(d.text[at:end], d.text[found:])+2) {
			found = from
		}
	}
	return found
}

func (d *desk) note(word uint64, at int) {
	d.seen[hash(word, documentBits)] = d.round<<16 | uint32(at) //nolint:gosec // a place takes 16 bits
}

// same counts how many bytes two texts begin with alike.
func same(a, b []byte) int {
	n := 0
	for len(a)-n >= 8 {
		if differ := load(a, n) ^ load(b, n); differ != 0 {
			return n + bits.TrailingZeros64(differ)/8
		}
		n += 8
	}
	for n < len(a) && a[n] == b[n] {
		n++
	}
	return n
}

// step writes letters and the copy behind them.
func (w *writer) step(p *pattern, letters []byte, at, from, length int) {
	before, behind := letterCounts.of(len(letters)), copyLengths.of(length)
	source, place := p.source(at, from)
	w.write(p.tokens.code(before<<letterShift | source<<sourceShift | behind))
	w.write(uint64(len(letters)-letterCounts.bases[before]), letterCounts.extra[before]) //nolint:gosec // not negative
	for _, letter := range letters {
		w.write(p.letters.code(letter))
	}
	w.write(uint64(length-copyLengths.bases[behind]), copyLengths.extra[behind]) //nolint:gosec // not negative
	if source == popular {
		w.write(p.favourites.code(uint8(place))) //nolint:gosec // one of 256
	} else {
		w.write(uint64(place), sourceBits[source]) //nolint:gosec // not negative
	}
}

// source tells how to say where a copy is from.
func (p *pattern) source(at, from int) (source uint8, place int) {
	switch {
	case from >= patternLength && at-from < 1<<sourceBits[near]:
		return near, at - from
	case from >= patternLength:
		return within, from - patternLength
	case p.favourite[from] > 0:
		return popular, int(p.favourite[from]) - 1
	}
	return distant, from
}
