package pack

import "encoding/binary"

// unpress gives back a document that was pressed.
func (p *pattern) unpress(pressed []byte) ([]byte, error) {
	length, width := binary.Uvarint(pressed)
	if width <= 0 || length > longestPressed {
		return nil, errDamaged
	}
	d := p.desks.Get().(*desk) //nolint:forcetypeassert // the pool makes nothing else
	defer p.desks.Put(d)
	in := reader{from: pressed[width:]}
	at, end := patternLength, patternLength+int(length)
	for at < end && !in.short {
		token := in.symbol(p.tokens)
		letters := in.length(letterCounts, token>>letterShift)
		if letters > end-at {
			return nil, errDamaged
		}
		for range letters {
			d.text[at] = in.symbol(p.letters)
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
		for size > 0 { // what is copied may reach into the copy itself
			n := copy(d.text[at:at+size], d.text[from:at])
			at += n
			size -= n
		}
	}
	if in.short {
		return nil, errDamaged
	}
	return append(make([]byte, 0, length), d.text[patternLength:end]...), nil
}

// place tells where a copy is from.
func (r *reader) place(p *pattern, source uint8, at int) int {
	if source == popular {
		return int(p.named[r.symbol(p.favourites)])
	}
	place := int(r.read(sourceBits[source])) //nolint:gosec // 16 bits at most
	switch source {
	case near:
		return at - place
	case within:
		return patternLength + place
	}
	return place
}
