package pack

import (
	"bytes"
	"encoding/binary"
)

// decode returns the document that encode encoded.
func (p *pattern) decode(pressed []byte) ([]byte, error) {
	length, width := binary.Uvarint(pressed)
	if width <= 0 || length > maxShort {
		return nil, errDamaged
	}
	d := p.workspaces.Get().(*workspace) //nolint:forcetypeassert // the pool makes nothing else
	defer p.workspaces.Put(d)
	in := newReader(&d.out, pressed[width:])
	at, end := patternLength, patternLength+int(length)
	for at < end && !in.over() {
		token := in.symbol(p.tokens)
		literals := in.length(literalCounts, token>>literalShift)
		if literals > end-at {
			return nil, errDamaged
		}
		for ; literals >= 4; literals -= 4 {
			four := in.four(p.literals)
			at += copy(d.text[at:], four[:])
		}
		for range literals {
			d.text[at] = in.symbol(p.literals)
			at++
		}
		if at == end {
			break
		}
		size := in.length(copyLengths, token&copyMask)
		from := in.place(p, token>>sourceShift&sourceMask, at)
		if from >= at || from < 0 || size > end-at {
			return nil, errDamaged
		}
		d.text.repeat(at, from, size)
		at += size
	}
	if in.over() {
		return nil, errDamaged
	}
	return bytes.Clone(d.text[patternLength:end]), nil
}

// repeat copies text from one position to a later one. Source and copy may
// overlap. Most copies are so short that it is faster to write a few bytes too
// many; the text that follows overwrites them.
func (p *textBuffer) repeat(at, from, size int) {
	if at-from >= 8 && size <= shortRepeat {
		for n := 0; n < size; n += 8 {
			binary.LittleEndian.PutUint64(p[uint16(at+n):], p.load(from+n)) //nolint:gosec // a place takes 16 bits
		}
		return
	}
	for size > 0 {
		n := copy(p[at:at+size], p[from:at])
		at += n
		size -= n
	}
}

// shortRepeat is the length up to which copying in words is faster than copy.
const shortRepeat = 48

// place reads the position that a copy starts from.
func (r *reader) place(p *pattern, source uint8, at int) int {
	if source == sourcePopular {
		return int(p.named[r.symbol(p.favourites)])
	}
	place := int(r.read(sourceBits[source])) //nolint:gosec // 16 bits at most
	switch source {
	case sourceNear:
		return at - place
	case sourceDocument:
		return patternLength + place
	}
	return place
}
