package importer

import (
	"bufio"
	"encoding/json"
	"io"
	"os"

	"landfall"
)

// failure is a line, or an account of the run, that did not get through.
type failure struct {
	Kind     string           `json:"kind"`           // stem of the file
	File     int              `json:"file"`           // among the files of its kind
	Line     int              `json:"line,omitempty"` // 0: it failed in the run, and its line is looked for
	Supplier string           `json:"supplier,omitempty"`
	External string           `json:"external,omitempty"`
	Failure  landfall.Failure `json:"failure"`
}

// failures keeps them in a file: a book can fail whole, and memory must not
// grow with it.
type failures struct {
	file *os.File
	out  *bufio.Writer
	size int64
}

// openFailures keeps what the last checkpoint knew of. What was added behind it is
// found again when that work is done again.
func openFailures(path string, length int64) (*failures, error) {
	file, err := openAt(path, length)
	if err != nil {
		return nil, err
	}
	return &failures{file: file, out: bufio.NewWriter(file), size: length}, nil
}

// add keeps one more.
func (f *failures) add(one failure) error {
	line, err := json.Marshal(one) //nolint:musttag // the violations of a failure are named like their fields, in a file only we read
	if err != nil {
		return err
	}
	f.size += int64(len(line)) + 1
	if _, err := f.out.Write(append(line, '\n')); err != nil {
		return err
	}
	return nil
}

// rewind forgets those that were added behind a place.
func (f *failures) rewind(size int64) error {
	if f.size == size {
		return nil
	}
	// What waits in the buffer would be written behind the cut otherwise.
	if err := f.out.Flush(); err != nil {
		return err
	}
	if err := f.file.Truncate(size); err != nil {
		return err
	}
	_, err := f.file.Seek(size, io.SeekStart)
	f.size = size
	return err
}

// sync makes those added so far durable and says how long the file is.
func (f *failures) sync() (int64, error) {
	if err := f.out.Flush(); err != nil {
		return 0, err
	}
	return f.size, f.file.Sync()
}

// each reads those behind a place, in the order they were added, with the place
// of each.
func (f *failures) each(from int64, see func(one failure, offset int64) error) error {
	if err := f.out.Flush(); err != nil {
		return err
	}
	// Read by a place of its own: the file's is where the next one is appended.
	lines := bufio.NewReader(io.NewSectionReader(f.file, from, f.size-from))
	for offset := from; offset < f.size; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return err
		}
		var one failure
		if err := json.Unmarshal(line, &one); err != nil { //nolint:musttag // likewise
			return err
		}
		if err := see(one, offset); err != nil {
			return err
		}
		offset += int64(len(line))
	}
	return nil
}

// at reads the one at a place.
func (f *failures) at(offset int64) (one failure, err error) {
	line, err := bufio.NewReader(io.NewSectionReader(f.file, offset, f.size-offset)).ReadBytes('\n')
	if err != nil {
		return one, err
	}
	return one, json.Unmarshal(line, &one) //nolint:musttag // likewise
}

// close does not flush: what was not synced is in no checkpoint either.
func (f *failures) close() error { return f.file.Close() }
