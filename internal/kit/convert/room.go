package convert

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// room is the memory and the disk that all sorters of a conversion share.
type room struct {
	mutex   sync.Mutex // of held, sorters and what they hold
	budget  int64      // bytes that may be held in memory
	held    int64
	folder  string // for what does not fit
	sorters []*sorter
	files   atomic.Int64
	spilled atomic.Int64 // bytes put on disk so far
	spare   spares       // batches that were read
	blocks  sync.Pool    // and blocks
}

// newSorter makes a sorter that shares the room's memory with the others.
func (r *room) newSorter() *sorter {
	s := &sorter{room: r}
	// A guess for the first batch, with rows of 256 bytes. Each one after it is
	// made about as long as the one before it became.
	s.usual.Store(blockSize)
	s.rows.Store(blockSize / 256)
	r.sorters = append(r.sorters, s)
	return s
}

// makeWay puts the largest sorters on disk until the rest fits. Sorters that
// are being read stay where they are; so that many of them do not leave the
// others writing crumbs, a sorter may always hold a sixteenth.
func (r *room) makeWay() error {
	for r.held > r.budget {
		var largest *sorter
		for _, s := range r.sorters {
			if !s.frozen && (largest == nil || s.held > largest.held) {
				largest = s
			}
		}
		if largest == nil || largest.held < r.budget/16 {
			return nil
		}
		if err := largest.spill(); err != nil {
			return err
		}
	}
	return nil
}

// run is a sorted file of entries.
type run struct {
	path string
	file *os.File
	out  *bufio.Writer
	room *room
	text []byte
}

// createRun makes a file for rows that do not fit into memory.
func (r *room) createRun() (*run, error) {
	path := filepath.Join(r.folder, fmt.Sprintf("run-%d", r.files.Add(1)))
	// Customers' data: nobody else on the machine needs to read it.
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &run{path: path, file: file, out: bufio.NewWriterSize(file, 256<<10), room: r}, nil
}

// write adds a row. They come sorted.
func (r *run) write(e *entry) error {
	r.text = e.append(r.text[:0])
	r.room.spilled.Add(int64(len(r.text)))
	_, err := r.out.Write(r.text)
	return err
}

// finish ends the writing. The memory of the buffer goes: there may be
// hundreds of runs.
func (r *run) finish() error {
	err := errors.Join(r.out.Flush(), r.file.Close())
	r.out, r.file, r.text = nil, nil, nil
	return err
}

// remove takes the file away as soon as it was read; the disk may have just
// enough room.
func (r *run) remove() error { return os.Remove(r.path) }

// runReader reads a run from its beginning.
type runReader struct {
	file   *os.File
	source *bufio.Reader
	now    entry
	text   []byte
	wrong  error
}

// open begins to read it.
func (r *run) open() (*runReader, error) {
	file, err := os.Open(r.path)
	if err != nil {
		return nil, err
	}
	return &runReader{file: file, source: bufio.NewReaderSize(file, 256<<10)}, nil
}

// next reads an entry; false at the end, or when something is wrong.
func (r *runReader) next() bool {
	head, err := r.source.Peek(entryHead)
	if err != nil {
		// A part of a head means that the file was cut off. Behind the last entry
		// there is nothing.
		if len(head) > 0 {
			err = io.ErrUnexpectedEOF
		}
		r.end(err)
		return false
	}
	whole := entryHead + int(binary.LittleEndian.Uint32(head)) + int(binary.LittleEndian.Uint32(head[4:]))
	// Twice as much, so that rows that become longer bit by bit do not ask for
	// memory each time.
	if cap(r.text) < whole {
		r.text = make([]byte, 2*whole)
	}
	r.text = r.text[:whole]
	if _, err := io.ReadFull(r.source, r.text); err != nil {
		r.end(err)
		return false
	}
	r.now.read(r.text)
	return true
}

// end notes why there are no more rows: all were read, or something is wrong.
func (r *runReader) end(err error) {
	if !errors.Is(err, io.EOF) {
		r.wrong = err
	}
	_ = r.file.Close() // it was only read
}

func (r *runReader) entry() *entry { return &r.now }
func (r *runReader) err() error    { return r.wrong }
