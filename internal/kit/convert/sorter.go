package convert

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"sync/atomic"
)

// Rows are brought to what they belong to by sorting: what is linked stands
// under the same key, and two sorted streams meet in one pass. Keys are sorted
// by their length first and their bytes then, in which order most exports are
// already, numbers without zeros in front included.

// sortEntry is something on its way to where it belongs.
type sortEntry struct {
	key     []byte
	at      uint64 // file and line, by which rows of one key keep their order
	payload []byte
}

// compareKeys puts shorter keys first, which is as good an order as any and
// often decided by the lengths alone.
func compareKeys(a, b []byte) int {
	if len(a) != len(b) {
		return cmp.Compare(len(a), len(b))
	}
	return bytes.Compare(a, b)
}

// compare keeps rows of one key in the order in which they stood in their
// table.
func (e *sortEntry) compare(other *sortEntry) int {
	if order := compareKeys(e.key, other.key); order != 0 {
		return order
	}
	return cmp.Compare(e.at, other.at)
}

// An entry stands in memory and on disk as the lengths of its key and its load,
// where its row is, and both.
const entryHead = 16

// read takes an entry apart in place; its parts live as long as the text.
func (e *sortEntry) read(text []byte) {
	key := int(binary.LittleEndian.Uint32(text))
	load := int(binary.LittleEndian.Uint32(text[4:]))
	e.at = binary.LittleEndian.Uint64(text[8:])
	e.key = text[entryHead : entryHead+key : entryHead+key]
	e.payload = text[entryHead+key : entryHead+key+load : entryHead+key+load]
}

// append writes an entry as read reads it.
func (e *sortEntry) append(dst []byte) []byte {
	dst = appendHead(dst, e.at, e.key, len(e.payload))
	return append(dst, e.payload...)
}

// appendHead writes what stands in front of a load.
func appendHead(dst []byte, at uint64, key []byte, load int) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(key)))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(load))
	dst = binary.LittleEndian.AppendUint64(dst, at)
	return append(dst, key...)
}

// sorter takes batches, each in order, and gives all their entries in order. It
// holds what fits into the memory it shares with the others, and puts the rest
// on disk.
type sorter struct {
	workspace *workspace
	batches   []*batch
	held      int64
	runs      []*sortedRun
	frozen    bool
	usual     atomic.Int64 // how long the last batch was
	rows      atomic.Int64 // and of how many rows
}

// batch gives an empty one, about as long as it will be.
func (s *sorter) batch() *batch {
	text, slots := int(s.usual.Load()), int(s.rows.Load())
	b := s.workspace.pool.get(text, slots)
	if b == nil {
		b = &batch{text: make([]byte, 0, text+text/8), slots: make([]slot, 0, slots+slots/8)}
	}
	b.text, b.slots = b.text[:0], b.slots[:0]
	return b
}

// add takes a sorted batch.
func (s *sorter) add(b *batch) error {
	if len(b.slots) == 0 {
		s.workspace.pool.put(b)
		return nil
	}
	s.usual.Store(int64(len(b.text)))
	s.rows.Store(int64(len(b.slots)))
	s.workspace.mutex.Lock()
	defer s.workspace.mutex.Unlock()
	s.batches = append(s.batches, b)
	s.held += b.size()
	s.workspace.held += b.size()
	return s.workspace.makeRoom()
}

// spill puts what is in memory on disk. The room is locked.
func (s *sorter) spill() error {
	if len(s.batches) == 0 {
		return nil
	}
	out, err := s.workspace.createRun()
	if err != nil {
		return err
	}
	// The room is locked, and what was held is taken off in one step below, so that
	// the batches go to the spares directly.
	m := newMerge(s.memory(func(b *batch) { s.workspace.pool.put(b) }))
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
	s.workspace.held -= s.held
	s.held = 0
	return nil
}

// stream ends the adding and gives the entries in order. Each is valid until
// the next.
func (s *sorter) stream() (*merge, error) {
	// The rows are being read from now on: nobody may put them on disk meanwhile to
	// make way.
	s.workspace.mutex.Lock()
	s.frozen = true
	s.workspace.mutex.Unlock()
	for len(s.runs) > maxOpenRuns {
		if err := s.fold(); err != nil {
			return nil, err
		}
	}
	var sources []entrySource
	for _, run := range s.runs {
		reader, err := run.open()
		if err != nil {
			return nil, err
		}
		sources = append(sources, reader)
	}
	m := newMerge(append(sources, s.memory(s.leave)...))
	// The merge has them now, and lets each go when it was read.
	s.batches = nil
	return m, m.err()
}

// leave gives back a batch that was read, so that what is made of it finds room.
func (s *sorter) leave(b *batch) {
	s.workspace.mutex.Lock()
	s.held -= b.size()
	s.workspace.held -= b.size()
	s.workspace.mutex.Unlock()
	s.workspace.pool.put(b)
}

// maxOpenRuns is how many files are read at once.
const maxOpenRuns = 48

// fold makes one run of the first ones, which go at once: what was folded would
// otherwise lie on disk twice, and what was folded again three times.
func (s *sorter) fold() error {
	var sources []entrySource
	folded := s.runs[:maxOpenRuns]
	for _, run := range folded {
		reader, err := run.open()
		if err != nil {
			return err
		}
		sources = append(sources, reader)
	}
	out, err := s.workspace.createRun()
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
	if err := out.finish(); err != nil {
		return err
	}
	s.runs = append(s.runs[maxOpenRuns:], out)
	return removeAll(folded)
}

// removeAll takes away runs that nobody will read any more.
func removeAll(runs []*sortedRun) error {
	for _, run := range runs {
		if err := run.remove(); err != nil {
			return err
		}
	}
	return nil
}

// release gives the memory and the files back.
func (s *sorter) release() error {
	s.workspace.mutex.Lock()
	defer s.workspace.mutex.Unlock()
	s.workspace.held -= s.held
	s.held, s.batches = 0, nil
	runs := s.runs
	s.runs = nil
	return removeAll(runs)
}
