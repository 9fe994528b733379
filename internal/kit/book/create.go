package book

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"landfall/internal/store/pack"
)

// Writer writes one file of a book. The file gets its name only when it is complete, so an
// interrupted one is never taken for a book.
type Writer struct {
	Lines int

	path   string
	file   *os.File
	packed io.WriteCloser // or nil
	out    *bufio.Writer
}

// Create creates a file. The ending selects the compression: "", ".gz" or ".zst". An existing file
// is an error.
func Create(folder string, kind Kind, ending string) (*Writer, error) {
	return CreateNamed(filepath.Join(folder, kind.Stem+".ndjson"+ending))
}

// CreateNamed creates a file of any name, compressed according to its ending.
func CreateNamed(path string) (*Writer, error) {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = fmt.Errorf("%s already exists; remove it or name another folder", path)
		}
		return nil, err
	}
	file, err := createFresh(path + ".part")
	if err != nil {
		return nil, err
	}
	w := &Writer{path: path, file: file}
	target := io.Writer(file)
	if _, how := compression(path); how != "" {
		if w.packed, err = pack.NewWriter(how, file); err != nil {
			return nil, errors.Join(err, file.Close())
		}
		target = w.packed
	}
	w.out = bufio.NewWriterSize(target, blockSize)
	return w, nil
}

// createFresh creates a file in place of a leftover. A link is removed and never followed: the
// folder may come from another company, and its links may point anywhere.
func createFresh(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	// It contains customer data.
	return os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
}

// MakeFolder creates a folder for files of ours in a folder that may come from another company. It
// accepts an existing folder, but not a link to one.
func MakeFolder(path string) error {
	err := os.Mkdir(path, 0o700)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(path)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is a link or a file, where a folder is expected; remove it", path)
	}
	return err
}

// WriteNamed writes a small file by the same rules.
func WriteNamed(path string, text []byte) error {
	file, err := CreateNamed(path)
	if err != nil {
		return err
	}
	if _, err := file.Write(text); err != nil {
		return errors.Join(err, file.Abandon())
	}
	return file.Close()
}

// Write adds whole lines.
func (w *Writer) Write(lines []byte) (int, error) {
	w.Lines += bytes.Count(lines, []byte("\n"))
	return w.out.Write(lines)
}

// Sync makes everything written so far durable. It can be called concurrently with Write, so that
// Close is fast.
func (w *Writer) Sync() error { return w.file.Sync() }

// Close makes the file durable and renames it to its final name.
func (w *Writer) Close() error {
	err := w.out.Flush()
	if w.packed != nil {
		err = errors.Join(err, w.packed.Close())
	}
	if err == nil {
		err = w.file.Sync()
	}
	if err = errors.Join(err, w.file.Close()); err != nil {
		return err
	}
	return os.Rename(w.path+".part", w.path)
}

// Abandon deletes an incomplete file.
func (w *Writer) Abandon() error {
	return errors.Join(w.file.Close(), os.Remove(w.path+".part"))
}
