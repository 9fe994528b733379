package convert

import "encoding/binary"

// pendingRow is a row of a table that others belong to, while it waits for them.
type pendingRow struct {
	place  byte
	bad    bool     // it is reported already; rows that belong to it are left out
	counts []int    // of the rows inside its object, by table.below
	keys   [][]byte // by which it meets the next tables, and its own place at last
	text   []byte   // the members, with marks where something is still to come
}

// append writes what is known of a row besides its text, in the form in which
// it is sorted and put on disk.
func (l *pendingRow) append(dst []byte) []byte {
	flags := byte(0)
	if l.bad {
		flags = 1
	}
	dst = append(dst, l.place, flags)
	dst = appendCounts(dst, l.counts)
	dst = binary.AppendUvarint(dst, uint64(len(l.keys)))
	for _, key := range l.keys {
		dst = append(binary.AppendUvarint(dst, uint64(len(key))), key...)
	}
	return append(dst, l.text...)
}

// read takes a load apart; its parts stay where they are.
func (l *pendingRow) read(text []byte, below int) {
	l.place, l.bad = text[0], text[1] == 1
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

// appendCounts writes how many rows of each table below are in a row.
func appendCounts(dst []byte, counts []int) []byte {
	for _, count := range counts {
		dst = binary.AppendUvarint(dst, uint64(count))
	}
	return dst
}

// readCounts reads them again.
func (l *pendingRow) readCounts(text []byte, below int) []byte {
	l.counts = l.counts[:0]
	for range below {
		count, n := binary.Uvarint(text)
		l.counts = append(l.counts, int(count))
		text = text[n:]
	}
	return text
}

// Once a row has everything that belongs to it, its load is only counts and
// members; for a root it says first which table it is of.

// begin writes what stands in front of the rows of a place: where several
// tables make accounts, which of them it was.
func (p *place) begin(dst []byte) []byte {
	if p.mode == asRoot {
		return binary.AppendUvarint(dst, uint64(p.table.number))
	}
	return dst
}
