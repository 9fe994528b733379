package convert

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
)

// Rows are brought to what they belong to by sorting: what is linked stands
// under the same key, and two sorted streams meet in one pass. Keys are sorted
// by their length first and their bytes then, in which order most exports are
// already, numbers without zeros in front included.

// entry is something on its way to where it belongs.
type entry struct {
	key  []byte
	at   uint64 // file and line, by which rows of one key keep their order
	load []byte
}

func compareKeys(a, b []byte) int {
	if len(a) != len(b) {
		return cmp.Compare(len(a), len(b))
	}
	return bytes.Compare(a, b)
}

func (e *entry) compare(other *entry) int {
	if order := compareKeys(e.key, other.key); order != 0 {
		return order
	}
	return cmp.Compare(e.at, other.at)
}

// appendEntry writes an entry as it stands in memory and on disk.
func appendEntry(dst []byte, key []byte, at uint64, load []byte) []byte {
	dst = append(binary.AppendUvarint(dst, uint64(len(key))), key...)
	dst = binary.LittleEndian.AppendUint64(dst, at)
	return append(binary.AppendUvarint(dst, uint64(len(load))), load...)
}

// readEntry reads one back, and gives what follows it.
func readEntry(text []byte) (e entry, rest []byte) {
	length, n := binary.Uvarint(text)
	text = text[n:]
	e.key, text = text[:length], text[length:]
	e.at, text = binary.LittleEndian.Uint64(text), text[8:]
	length, n = binary.Uvarint(text)
	text = text[n:]
	e.load = text[:length:length]
	return e, text[length:]
}

// batch is a few thousand entries in memory.
type batch struct {
	text  []byte
	slots []slot
}

// slot is where an entry is, with the beginning of its key as a number: most
// comparisons need no more.
type slot struct {
	head uint64
	from uint32
}

func (b *batch) add(key []byte, at uint64, load []byte) {
	b.slots = append(b.slots, slot{from: uint32(len(b.text))})
	b.text = appendEntry(b.text, key, at, load)
}

func (b *batch) entry(i int) entry {
	e, _ := readEntry(b.text[b.slots[i].from:])
	return e
}

func (b *batch) size() int64 { return int64(cap(b.text) + 16*cap(b.slots)) }

// sort brings the entries into order, unless they are.
func (b *batch) sort() {
	if len(b.slots) < 2 {
		return
	}
	last := b.entry(0)
	common, sorted := len(last.key), true
	for i := 1; i < len(b.slots); i++ {
		next := b.entry(i)
		sorted = sorted && last.compare(&next) <= 0
		same := 0
		for same < min(common, len(next.key)) && next.key[same] == last.key[same] {
			same++
		}
		common, last = same, next
	}
	if sorted {
		return
	}
	// What all keys begin with tells nothing.
	for i := range b.slots {
		key := b.entry(i).key
		var head [8]byte
		copy(head[1:], key[common:])
		head[0] = byte(min(len(key), 255))
		b.slots[i].head = binary.BigEndian.Uint64(head[:])
	}
	slices.SortFunc(b.slots, func(x, y slot) int {
		if x.head != y.head {
			return cmp.Compare(x.head, y.head)
		}
		one, _ := readEntry(b.text[x.from:])
		other, _ := readEntry(b.text[y.from:])
		return one.compare(&other)
	})
}

// sorter takes batches, each in order, and gives all their entries in order. It
// holds what fits into the memory it shares with the others, and puts the rest
// on disk.
type sorter struct {
	room    *room
	batches []*batch
	held    int64
	runs    []*run
	frozen  bool
}

// add takes a sorted batch.
func (s *sorter) add(b *batch) error {
	if len(b.slots) == 0 {
		return nil
	}
	s.batches = append(s.batches, b)
	s.held += b.size()
	s.room.held += b.size()
	return s.room.makeWay()
}

// spill puts what is in memory on disk.
func (s *sorter) spill() error {
	if len(s.batches) == 0 {
		return nil
	}
	out, err := s.room.createRun()
	if err != nil {
		return err
	}
	m := newMerge(memorySources(s.batches))
	for e := m.next(); e != nil; e = m.next() {
		if err := out.write(e); err != nil {
			return err
		}
	}
	if err := out.finish(); err != nil {
		return err
	}
	s.runs = append(s.runs, out)
	s.batches = nil
	s.room.held -= s.held
	s.held = 0
	return nil
}

// stream ends the adding and gives the entries in order. Each is valid until
// the next.
func (s *sorter) stream() (*merge, error) {
	s.frozen = true
	for len(s.runs) > mostRuns {
		if err := s.fold(); err != nil {
			return nil, err
		}
	}
	var sources []source
	for _, run := range s.runs {
		reader, err := run.open()
		if err != nil {
			return nil, err
		}
		sources = append(sources, reader)
	}
	m := newMerge(append(sources, memorySources(s.batches)...))
	return m, m.err()
}

// mostRuns is how many files are read at once.
const mostRuns = 48

// fold makes one run of the first ones.
func (s *sorter) fold() error {
	var sources []source
	for _, run := range s.runs[:mostRuns] {
		reader, err := run.open()
		if err != nil {
			return err
		}
		sources = append(sources, reader)
	}
	out, err := s.room.createRun()
	if err != nil {
		return err
	}
	m := newMerge(sources)
	for e := m.next(); e != nil; e = m.next() {
		if err := out.write(e); err != nil {
			return err
		}
	}
	if err := m.err(); err != nil {
		return err
	}
	s.runs = append(s.runs[mostRuns:], out)
	return out.finish()
}

// release gives the memory and the files back.
func (s *sorter) release() error {
	s.room.held -= s.held
	s.held, s.batches = 0, nil
	for _, run := range s.runs {
		if err := run.remove(); err != nil {
			return err
		}
	}
	s.runs = nil
	return nil
}
