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

// workspace is the memory and disk space shared by all sorters of a conversion.
type workspace struct {
	mutex   sync.Mutex // guards held, sorters and their contents
	budget  int64      // maximum bytes in memory
	held    int64
	folder  string // for what does not fit
	sorters []*sorter
	files   atomic.Int64
	spilled atomic.Int64 // bytes written to disk
	pool    batchPool    // unused batches
	blocks  sync.Pool    // unused blocks
}

// newSorter creates a sorter that shares the workspace.
func (r *workspace) newSorter() *sorter {
	s := &sorter{workspace: r}
	// A guess for the first batch. Later batches are sized like the previous one.
	s.usual.Store(blockSize)
	s.rows.Store(blockSize / 256)
	r.sorters = append(r.sorters, s)
	return s
}

// addSorter creates a sorter while others are in use.
func (r *workspace) addSorter() *sorter {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.newSorter()
}

// makeRoom moves the largest sorters to disk until the rest fits. Sorters being read are not moved.
// A sorter may always hold a sixteenth, so that it does not write tiny runs.
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

// createRun creates a file for rows that do not fit into memory.
func (r *workspace) createRun() (*sortedRun, error) {
	path := filepath.Join(r.folder, fmt.Sprintf("run-%d", r.files.Add(1)))
	// It contains customer data.
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &sortedRun{path: path, file: file, out: bufio.NewWriterSize(file, 256<<10), workspace: r}, nil
}

// write adds a row. Rows must be sorted.
func (r *sortedRun) write(e *sortEntry) error {
	r.text = e.append(r.text[:0])
	r.workspace.spilled.Add(int64(len(r.text)))
	_, err := r.out.Write(r.text)
	return err
}

// writeAll writes all entries of a merge and finishes the run.
func (r *sortedRun) writeAll(m *merge) error {
	for e := m.next(); e != nil; e = m.next() {
		if err := r.write(e); err != nil {
			return err
		}
	}
	if err := m.err(); err != nil {
		return err
	}
	return r.finish()
}

// finish ends writing and frees the buffer, because there may be hundreds of runs.
func (r *sortedRun) finish() error {
	err := errors.Join(r.out.Flush(), r.file.Close())
	r.out, r.file, r.text = nil, nil, nil
	return err
}

// remove deletes the file as soon as it was read, to save disk space.
func (r *sortedRun) remove() error { return os.Remove(r.path) }

// runReader reads a run.
type runReader struct {
	file   *os.File
	source *bufio.Reader
	now    sortEntry
	text   []byte
	wrong  error
}

// open opens the run for reading.
func (r *sortedRun) open() (*runReader, error) {
	file, err := os.Open(r.path)
	if err != nil {
		return nil, err
	}
	return &runReader{file: file, source: bufio.NewReaderSize(file, 256<<10)}, nil
}

// next reads an entry; false at the end or after an error.
func (r *runReader) next() bool {
	head, err := r.source.Peek(entryHead)
	if err != nil {
		// A partial header means that the file is truncated.
		if len(head) > 0 {
			err = io.ErrUnexpectedEOF
		}
		r.end(err)
		return false
	}
	whole := entryHead + int(binary.LittleEndian.Uint32(head)) + int(binary.LittleEndian.Uint32(head[4:]))
	// Twice as much, to avoid reallocating for slowly growing rows.
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

// end records why there are no more rows.
func (r *runReader) end(err error) {
	if !errors.Is(err, io.EOF) {
		r.wrong = err
	}
	_ = r.file.Close() // only read
}

func (r *runReader) entry() *sortEntry { return &r.now }
func (r *runReader) err() error        { return r.wrong }
