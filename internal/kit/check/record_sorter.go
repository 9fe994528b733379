package check

import (
	"bufio"
	"bytes"
	"container/heap"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"slices"
)

// recordOverhead is what a record costs beside its bytes.
const recordOverhead = 24

// recordSorter sorts records by a key, so that equal keys follow each other. It needs a fixed
// amount of memory.
type recordSorter[T any] struct {
	limit   int
	size    int
	records [][]byte
	files   []*os.File
}

// sortKey is what records are sorted by.
type sortKey [16]byte

func (s *recordSorter[T]) add(key sortKey, record T) error {
	text, err := json.Marshal(record)
	if err != nil {
		return err
	}
	line := slices.Concat(key[:], text)
	s.records = append(s.records, line)
	if s.size += len(line) + recordOverhead; s.size < s.limit {
		return nil
	}
	return s.spill()
}

// spill writes what is in memory to a temporary file.
func (s *recordSorter[T]) spill() error {
	slices.SortFunc(s.records, bytes.Compare)
	file, err := os.CreateTemp("", "landfall-identifiers-")
	if err != nil {
		return err
	}
	s.files = append(s.files, file)
	// The file disappears with the process, also if that is killed. Where an open file
	// cannot be removed, close removes it.
	_ = os.Remove(file.Name())
	out := bufio.NewWriter(file)
	for _, record := range s.records {
		if _, err := out.Write(binary.AppendUvarint(nil, uint64(len(record)))); err != nil {
			return err
		}
		if _, err := out.Write(record); err != nil {
			return err
		}
	}
	s.records, s.size = nil, 0
	return out.Flush()
}

// close removes the temporary files.
func (s *recordSorter[T]) close() {
	for _, file := range s.files {
		_ = file.Close()
		_ = os.Remove(file.Name())
	}
}

// recordSource is a sorted sequence of records.
type recordSource struct {
	next []byte
	read func() ([]byte, error)
}

// recordHeap returns the least record of several sources.
type recordHeap []*recordSource //nolint:recvcheck // only Push and Pop change the slice itself

func (h recordHeap) Len() int           { return len(h) }
func (h recordHeap) Less(i, j int) bool { return bytes.Compare(h[i].next, h[j].next) < 0 }
func (h recordHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *recordHeap) Push(x any)        { *h = append(*h, x.(*recordSource)) } //nolint:forcetypeassert // the heap has nothing else
func (h *recordHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// merge calls each with all records in order.
func (s *recordSorter[T]) merge(each func(key sortKey, record T) error) error {
	slices.SortFunc(s.records, bytes.Compare)
	left := s.records
	var sources recordHeap
	push := func(read func() ([]byte, error)) error {
		next, err := read()
		if next != nil {
			heap.Push(&sources, &recordSource{next, read})
		}
		return err
	}
	if err := push(func() ([]byte, error) {
		if len(left) == 0 {
			return nil, nil
		}
		next := left[0]
		left = left[1:]
		return next, nil
	}); err != nil {
		return err
	}
	for _, file := range s.files {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		in := bufio.NewReader(file)
		if err := push(func() ([]byte, error) {
			length, err := binary.ReadUvarint(in)
			if err == io.EOF { //nolint:errorlint // ReadUvarint returns it as it is
				return nil, nil
			}
			if err != nil {
				return nil, err
			}
			record := make([]byte, length)
			_, err = io.ReadFull(in, record)
			return record, err
		}); err != nil {
			return err
		}
	}
	for len(sources) > 0 {
		source := sources[0]
		var record T
		if err := json.Unmarshal(source.next[16:], &record); err != nil {
			return err
		}
		if err := each(sortKey(source.next), record); err != nil {
			return err
		}
		next, err := source.read()
		if err != nil {
			return err
		}
		if source.next = next; next == nil {
			heap.Pop(&sources)
		} else {
			heap.Fix(&sources, 0)
		}
	}
	return nil
}
