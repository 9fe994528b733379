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

// workspace is the memory and the disk that all sorters of a conversion share.
type workspace struct {
	mutex   sync.Mutex // of held, sorters and what they hold
	budget  int64      // bytes that may be held in memory
	held    int64
	folder  string // for what does not fit
	sorters []*sorter
	files   atomic.Int64
	spilled atomic.Int64 // bytes put on disk so far
	pool    batchPool    // batches that were read
	blocks  sync.Pool    // and blocks
}

// newSorter makes a sorter that shares the room's memory with the others.
func (r *workspace) newSorter() *sorter {
	s := &sorter{workspace: r}
	// A guess for the first batch, with rows of 256 bytes. Each one after it is
	// made about as long as the one before it became.
	s.usual.Store(blockSize)
	s.rows.Store(blockSize / 256)
	r.sorters = append(r.sorters, s)
	return s
}

// makeRoom puts the largest sorters on disk until the rest fits. Sorters that
// are being read stay where they are; so that many of them do not leave the
// others writing crumbs, a sorter may always hold a sixteenth.
func (r *workspace) makeRoom() error {
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

// sortedRun is a sorted file of entries.
type sortedRun struct {
	path      string
	file      *os.File
	out       *bufio.Writer
	workspace *workspace
	text      []byte
}

// createRun makes a file for rows that do not fit into memory.
func (r *workspace) createRun() (*sortedRun, error) {
	path := filepath.Join(r.folder, fmt.Sprintf("run-%d", r.files.Add(1)))
	// Customers' data: nobody else on the machine needs to read it.
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &sortedRun{path: path, file: file, out: bufio.NewWriterSize(file, 256<<10), workspace: r}, nil
}

// write adds a row. They come sorted.
func (r *sortedRun) write(e *sortEntry) error {
	r.text = e.append(r.text[:0])
	r.workspace.spilled.Add(int64(len(r.text)))
	_, err := r.out.Write(r.text)
	return err
}

// finish ends the writing. The memory of the buffer goes: there may be
// hundreds of runs.
func (r *sortedRun) finish() error {
	err := errors.Join(r.out.Flush(), r.file.Close())
	r.out, r.file, r.text = nil, nil, nil
	return err
}

// remove takes the file away as soon as it was read; the disk may have just
// enough room.
func (r *sortedRun) remove() error { return os.Remove(r.path) }

// runReader reads a run from its beginning.
type runReader struct {
	file   *os.File
	source *bufio.Reader
	now    sortEntry
	text   []byte
	wrong  error
}

// open begins to read it.
func (r *sortedRun) open() (*runReader, error) {
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

func (r *runReader) entry() *sortEntry { return &r.now }
func (r *runReader) err() error        { return r.wrong }
