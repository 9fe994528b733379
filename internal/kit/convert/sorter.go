package convert

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"sync/atomic"
)

// Rows are joined by sorting: linked rows have the same key, and two sorted streams are joined in
// one pass. Keys are sorted by length and then by bytes, an order that most exports already have.

// sortEntry is a row with its sort key.
type sortEntry struct {
	key     []byte
	at      uint64 // file and line, which keep the order of rows with equal keys
	payload []byte
}

// compareKeys compares lengths first.
func compareKeys(a, b []byte) int {
	if len(a) != len(b) {
		return cmp.Compare(len(a), len(b))
	}
	return bytes.Compare(a, b)
}

// compare keeps rows with equal keys in the order of their table.
func (e *sortEntry) compare(other *sortEntry) int {
	if order := compareKeys(e.key, other.key); order != 0 {
		return order
	}
	return cmp.Compare(e.at, other.at)
}

// An entry is encoded as the lengths of its key and payload, the position of its row, and both.
const entryHead = 16

// read decodes an entry in place.
func (e *sortEntry) read(text []byte) {
	key := int(binary.LittleEndian.Uint32(text))
	load := int(binary.LittleEndian.Uint32(text[4:]))
	e.at = binary.LittleEndian.Uint64(text[8:])
	e.key = text[entryHead : entryHead+key : entryHead+key]
	e.payload = text[entryHead+key : entryHead+key+load : entryHead+key+load]
}

// append encodes an entry.
func (e *sortEntry) append(dst []byte) []byte {
	dst = appendHead(dst, e.at, e.key, len(e.payload))
	return append(dst, e.payload...)
}

// appendHead encodes everything before the payload.
func appendHead(dst []byte, at uint64, key []byte, load int) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(key)))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(load))
	dst = binary.LittleEndian.AppendUint64(dst, at)
	return append(dst, key...)
}

// sorter takes sorted batches and returns all entries in order. It keeps what fits into the shared
// memory and writes the rest to disk.
type sorter struct {
	workspace *workspace
	batches   []*batch
	held      int64
	runs      []*sortedRun
	frozen    bool
	usual     atomic.Int64 // size of the last batch
	rows      atomic.Int64 // rows of the last batch
}

// batch returns an empty batch of about the expected size.
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

// spill writes everything in memory to disk. The workspace is locked.
func (s *sorter) spill() error {
	if len(s.batches) == 0 {
		return nil
	}
	out, err := s.workspace.createRun()
	if err != nil {
		return err
	}
	// The held size is adjusted below in one step, so the batches go to the pool directly.
	m := newMerge(s.memory(func(b *batch) { s.workspace.pool.put(b) }))
	if err := out.writeAll(m); err != nil {
		return err
	}
	s.runs = append(s.runs, out)
	s.batches = nil
	s.workspace.held -= s.held
	s.held = 0
	return nil
}

// stream ends adding and returns the entries in order. Each is valid until the next.
func (s *sorter) stream() (*merge, error) {
	// From now on the rows are being read and must not be moved to disk.
	s.workspace.mutex.Lock()
	s.frozen = true
	s.workspace.mutex.Unlock()
	for len(s.runs) > maxOpenRuns {
		if err := s.fold(); err != nil {
			return nil, err
		}
	}
	sources, err := openRuns(s.runs)
	if err != nil {
		return nil, err
	}
	m := newMerge(append(sources, s.memory(s.leave)...))
	// The merge releases each batch after reading it.
	s.batches = nil
	return m, m.err()
}

// leave releases a batch that was read.
func (s *sorter) leave(b *batch) {
	s.workspace.mutex.Lock()
	s.held -= b.size()
	s.workspace.held -= b.size()
	s.workspace.mutex.Unlock()
	s.workspace.pool.put(b)
}

// maxOpenRuns is how many files are read at once.
const maxOpenRuns = 48

// fold merges the first runs into one and removes them at once, to save disk space.
func (s *sorter) fold() error {
	folded := s.runs[:maxOpenRuns]
	sources, err := openRuns(folded)
	if err != nil {
		return err
	}
	out, err := s.workspace.createRun()
	if err != nil {
		return err
	}
	if err := out.writeAll(newMerge(sources)); err != nil {
		return err
	}
	s.runs = append(s.runs[maxOpenRuns:], out)
	return removeAll(folded)
}

// openRuns opens runs for reading.
func openRuns(runs []*sortedRun) (sources []entrySource, err error) {
	for _, one := range runs {
		reader, err := one.open()
		if err != nil {
			return nil, err
		}
		sources = append(sources, reader)
	}
	return sources, nil
}

// removeAll deletes runs that are no longer needed.
func removeAll(runs []*sortedRun) error {
	for _, one := range runs {
		if err := one.remove(); err != nil {
			return err
		}
	}
	return nil
}

// release frees the memory and the files.
func (s *sorter) release() error {
	s.workspace.mutex.Lock()
	defer s.workspace.mutex.Unlock()
	s.workspace.held -= s.held
	s.held, s.batches = 0, nil
	runs := s.runs
	s.runs = nil
	return removeAll(runs)
}
