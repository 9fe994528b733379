package convert

import "encoding/binary"

// pendingRow is a row that waits for the rows of other tables.
type pendingRow struct {
	place  byte
	bad    bool     // already reported; its child rows are left out
	passed bool     // bad, but only because no place wants it; its child rows are passed over
	counts []int    // rows inside its object, by table.below
	keys   [][]byte // the keys of the following joins and, last, of its own place
	text   []byte   // the members, with placeholders
}

// append encodes everything, as it is sorted and written to disk.
func (l *pendingRow) append(dst []byte) []byte {
	flags := byte(0)
	if l.bad {
		flags = 1
	}
	if l.passed {
		flags |= 2
	}
	dst = append(dst, l.place, flags)
	dst = appendCounts(dst, l.counts)
	dst = binary.AppendUvarint(dst, uint64(len(l.keys)))
	for _, key := range l.keys {
		dst = append(binary.AppendUvarint(dst, uint64(len(key))), key...)
	}
	return append(dst, l.text...)
}

// read decodes a row. Its parts point into text.
func (l *pendingRow) read(text []byte, below int) {
	l.place, l.bad = text[0], text[1]&1 != 0
	l.passed = text[1]&2 != 0
	text = l.readCounts(text[2:], below)
	count, n := binary.Uvarint(text)
	text = text[n:]
	l.keys = l.keys[:0]
	for range count {
		length, n := binary.Uvarint(text)
		l.keys = append(l.keys, text[n:n+int(length)])
		text = text[n+int(length):]
	}
	l.text = text
}

// appendCounts encodes the numbers of rows per table.
func appendCounts(dst []byte, counts []int) []byte {
	for _, count := range counts {
		dst = binary.AppendUvarint(dst, uint64(count))
	}
	return dst
}

// readCounts decodes them.
func (l *pendingRow) readCounts(text []byte, below int) []byte {
	l.counts = l.counts[:0]
	for range below {
		count, n := binary.Uvarint(text)
		l.counts = append(l.counts, int(count))
		text = text[n:]
	}
	return text
}

// After all joins, the payload of a row consists of counts and members. Rows of a root start with
// their table.

// begin writes what comes before the rows of a place: the table number for a root, because several
// tables can share a file.
func (p *place) begin(dst []byte) []byte {
	if p.mode == asRoot {
		return binary.AppendUvarint(dst, uint64(p.table.number))
	}
	return dst
}
