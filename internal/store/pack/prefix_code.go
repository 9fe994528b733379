package pack

import (
	"encoding/binary"
	"math/bits"
)

// bitBuffer has room for the longest document that is pressed, were it pressed to
// thrice its length.
type bitBuffer [1<<15 + 8]byte

// writer puts bits into bytes, the lowest first.
type writer struct {
	to    *bitBuffer
	at    uint
	bits  uint64
	count uint8 // of bits that are not in a whole byte, less than 8
}

// write takes up to 56 bits. It writes eight bytes and goes on behind those that
// are whole, which is quicker than to ask how many there are.
func (w *writer) write(value uint64, count uint8) {
	w.bits |= value << (w.count & 63)
	w.count += count
	binary.LittleEndian.PutUint64(w.to[w.at&(1<<15-1):], w.bits)
	w.at += uint(w.count >> 3)
	w.bits >>= w.count & 0x38
	w.count &= 7
}

// end gives all that was written. Of the last byte the bits that are left stay 0.
func (w *writer) end() []byte { return w.to[:w.at+uint(w.count+7)/8] }

// reader takes bits out of bytes. It never stops: behind the end it reads on in
// whatever the sheet holds there, and whoever reads asks now and then whether it
// has gone too far.
type reader struct {
	from *bitBuffer
	at   uint // in bits
	end  uint
}

// newReader reads what was written, from a sheet. What does not fit there is
// longer than anything that was pressed.
func newReader(on *bitBuffer, pressed []byte) reader {
	length := copy(on[:], pressed)
	return reader{from: on, end: 8 * uint(length)}
}

// over tells whether more was asked for than there is.
func (r *reader) over() bool { return r.at > r.end }

// bits gives those that come next, at least 57.
func (r *reader) bits() uint64 {
	return binary.LittleEndian.Uint64(r.from[r.at>>3&(1<<15-1):]) >> (r.at & 7)
}

func (r *reader) read(count uint8) uint64 {
	value := r.bits() & (1<<(count&63) - 1)
	r.at += uint(count)
	return value
}

func (r *reader) symbol(c *prefixCodes) uint8 {
	found := c.found[r.bits()&(1<<longestCode-1)]
	r.at += uint(found.width)
	return found.symbol
}

// four reads four symbols at once, which take 48 bits at most.
func (r *reader) four(c *prefixCodes) (symbols [4]byte) {
	bits, taken := r.bits(), uint(0)
	for i := range symbols {
		found := c.found[bits&(1<<longestCode-1)]
		symbols[i] = found.symbol
		bits >>= found.width & 63
		taken += uint(found.width)
	}
	r.at += taken
	return symbols
}

func (r *reader) length(s *scale, class uint8) int {
	return s.bases[class] + int(r.read(s.extra[class])) //nolint:gosec // 13 bits at most
}

// scale codes a length: which of a few classes it is in, and how far into it.
type scale struct {
	bases []int
	extra []uint8
	class []uint8 // of the lengths below its own
}

// newScale makes a scale from the least length of every class; the last class
// holds what so many bits do.
func newScale(bases []int, last uint8) *scale {
	s := &scale{bases: bases, class: make([]uint8, bases[len(bases)-1])}
	for i, base := range bases[:len(bases)-1] {
		s.extra = append(s.extra, uint8(bits.Len(uint(bases[i+1]-base-1)))) //nolint:gosec // at most 64
		for length := base; length < bases[i+1]; length++ {
			s.class[length] = uint8(i)
		}
	}
	s.extra = append(s.extra, last)
	return s
}

func (s *scale) of(length int) (class uint8) {
	if length < len(s.class) {
		return s.class[length]
	}
	return uint8(len(s.bases) - 1) //nolint:gosec // at most 16
}

// longestCode is how many bits a code has at most.
const longestCode = 12

type prefixCode struct {
	value uint16
	width uint8
}

// prefixCodes is a prefix code over bytes.
type prefixCodes struct {
	of    [symbolCount]prefixCode
	found [1 << longestCode]struct{ symbol, width uint8 } // by the bits that come
}

// newCodes makes the canonical code with the given widths: short before long,
// and of one width in the order of the symbols.
func newCodes(widths []byte) *prefixCodes {
	c := &prefixCodes{}
	next := uint16(0)
	for width := uint8(1); width <= longestCode; width++ {
		next <<= 1
		for symbol, own := range widths {
			if own != width {
				continue
			}
			value := reversed(next, width)
			c.of[symbol] = prefixCode{value, width}
			for rest := int(value); rest < len(c.found); rest += 1 << width {
				c.found[rest].symbol, c.found[rest].width = uint8(symbol), width
			}
			next++
		}
	}
	return c
}

// reversed turns a code round, since bits are read from the lowest on.
func reversed(code uint16, width uint8) (turned uint16) {
	for range width {
		turned = turned<<1 | code&1
		code >>= 1
	}
	return turned
}

func (c *prefixCodes) code(symbol uint8) (uint64, uint8) {
	return uint64(c.of[symbol].value), c.of[symbol].width
}
