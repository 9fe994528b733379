package importer

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"

	"landfall"
)

// failure is a line, or an account of the run, that failed, or an account that exists and differs.
type failure struct {
	Kind     string           `json:"kind"`           // stem of the file
	File     int              `json:"file"`           // index among the files of its kind
	Line     int              `json:"line,omitempty"` // 0: it failed in the run, and its line has to be found
	Supplier string           `json:"supplier,omitempty"`
	External string           `json:"external,omitempty"`
	Failure  landfall.Failure `json:"failure"`
	Differs  bool             `json:"differs,omitempty"` // not failed: the violations are the attrs that differ
}

// failures stores failures in a file, because all lines of a book may fail.
type failures struct {
	file *os.File
	out  *bufio.Writer
	size int64
}

// openFailures keeps what the last checkpoint knew. Later failures are found again when that work
// is repeated.
func openFailures(folder *os.Root, length int64) (*failures, error) {
	file, err := openOwn(folder, "failures.ndjson")
	if err != nil {
		return nil, err
	}
	if err := truncateAt(file, length); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &failures{file: file, out: bufio.NewWriter(file), size: length}, nil
}

func (f *failures) add(one failure) error {
	line, err := json.Marshal(one) //nolint:musttag // violations have the names of their fields, in a file only this package reads
	if err != nil {
		return err
	}
	f.size += int64(len(line)) + 1
	if _, err := f.out.Write(append(line, '\n')); err != nil {
		return err
	}
	return nil
}

// rewind drops the failures after an offset.
func (f *failures) rewind(size int64) error {
	if f.size == size {
		return nil
	}
	// Otherwise the buffer would be written after the cut.
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

// sync makes the failures durable and returns the size of the file.
func (f *failures) sync() (int64, error) {
	if err := f.out.Flush(); err != nil {
		return 0, err
	}
	return f.size, f.file.Sync()
}

// each calls see for the failures after an offset, in order.
func (f *failures) each(from int64, see func(one failure, offset int64) error) error {
	if err := f.out.Flush(); err != nil {
		return err
	}
	// A section reader leaves the file's own offset at its end.
	lines := bufio.NewReader(io.NewSectionReader(f.file, from, f.size-from))
	for offset := from; offset < f.size; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return err
		}
		var one failure
		if err := json.Unmarshal(line, &one); err != nil { //nolint:musttag // see add
			return err
		}
		if err := see(one, offset); err != nil {
			return err
		}
		offset += int64(len(line))
	}
	return nil
}

func (f *failures) at(offset int64) (one failure, err error) {
	line, err := bufio.NewReader(io.NewSectionReader(f.file, offset, f.size-offset)).ReadBytes('\n')
	if err != nil {
		return one, err
	}
	return one, json.Unmarshal(line, &one) //nolint:musttag // see add
}

// close does not flush: what was not synced is in no checkpoint either.
func (f *failures) close() error { return f.file.Close() }
