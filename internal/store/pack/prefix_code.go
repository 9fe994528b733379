package pack

import (
	"encoding/binary"
	"math/bits"
)

// bitBuffer has room for the longest document of the short format, even if
// encoding tripled its length.
type bitBuffer [1<<15 + 8]byte

// writer writes bits into bytes, the lowest bit first.
type writer struct {
	to    *bitBuffer
	at    uint
	bits  uint64
	count uint8 // number of bits in the last, incomplete byte; less than 8
}

// write writes up to 56 bits. It always stores eight bytes and advances by the
// complete ones, which is faster than storing only those.
func (w *writer) write(value uint64, count uint8) {
	w.bits |= value << (w.count & 63)
	w.count += count
	binary.LittleEndian.PutUint64(w.to[w.at&(1<<15-1):], w.bits)
	w.at += uint(w.count >> 3)
	w.bits >>= w.count & 0x38
	w.count &= 7
}

// end returns everything written. The unused bits of the last byte are 0.
func (w *writer) end() []byte { return w.to[:w.at+uint(w.count+7)/8] }

// reader reads bits from bytes. It does not stop at the end, but reads on in
// whatever the buffer contains there; the caller must call over from time to
// time.
type reader struct {
	from *bitBuffer
	at   uint // in bits
	end  uint
}

// newReader returns a reader of an encoded document, which it copies into a
// buffer. Bytes that do not fit are ignored: no encoded document is that long.
func newReader(on *bitBuffer, pressed []byte) reader {
	length := copy(on[:], pressed)
	return reader{from: on, end: 8 * uint(length)}
}

// over reports whether the reader is past the end.
func (r *reader) over() bool { return r.at > r.end }

// bits returns the next bits, at least 57.
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

// four reads four symbols at once, which take at most 48 bits.
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

// scale encodes a length as one of a few classes and an offset within the class.
type scale struct {
	bases []int
	extra []uint8
	class []uint8 // by length, for all lengths below the last class
}

// newScale returns a scale with the given smallest length of each class. An
// offset in the last class takes last bits, where last is the argument.
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

// longestCode is the maximum number of bits of a code.
const longestCode = 12

type prefixCode struct {
	value uint16
	width uint8
}

// prefixCodes is a prefix code over bytes.
type prefixCodes struct {
	of    [symbolCount]prefixCode
	found [1 << longestCode]struct{ symbol, width uint8 } // by the next longestCode bits
}

// newCodes returns the canonical code with the given widths: shorter codes come
// first, and codes of one width are in the order of their symbols.
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

// reversed reverses the bits of a code, since bits are read from the lowest on.
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
