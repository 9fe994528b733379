package export

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"landfall"
	"landfall/internal/kit/book"
	"landfall/internal/lib/filelock"
)

const (
	// journalName is a hidden folder beside the files.
	journalName = ".landfall"
	stateName   = "export.json"
	// partEnding is the ending of a file that is not complete.
	partEnding = ".part"
)

// Errors of a folder that cannot be exported into. The user has to decide.
var (
	ErrBusy    = errors.New("another export into this folder is running")
	ErrChanged = errors.New("an export into this folder was interrupted, and its options were others; use the same options, or start over with --restart")
)

// progress is the progress of an export. It is durable after the files it describes.
type progress struct {
	Options  string                       `json:"options"` // digest
	After    string                       `json:"after"`   // where the next page starts
	Read     bool                         `json:"read"`    // all pages are read
	Accounts int                          `json:"accounts"`
	LeftOut  int                          `json:"left_out"`
	Cursor   string                       `json:"cursor"`
	Part     int                          `json:"part"`  // number of the last complete part
	Files    map[string]fileState         `json:"files"` // by name, without the ending
	Totals   map[string]*landfall.Figures `json:"totals,omitempty"`
	Finished bool                         `json:"finished"` // all files are complete; they only need their names
}

// fileState is what belongs to a file.
type fileState struct {
	Size int64 `json:"size"`
	Rows int   `json:"rows"`
}

// journal writes the files of an export and records its progress.
type journal struct {
	path   string // of the files
	format Format
	order  Options
	folder *os.Root // of the journal
	lock   *os.File
	state  progress
	files  map[string]*growingFile
}

// openJournal locks a folder and continues its export, or starts one.
func openJournal(order Options) (_ *journal, err error) {
	if err := os.MkdirAll(order.Folder, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(order.Folder, journalName)
	_, missing := os.Lstat(path)
	if errors.Is(missing, fs.ErrNotExist) {
		// Files of others would be mixed with those of the export.
		if entries, err := os.ReadDir(order.Folder); err != nil || len(entries) > 0 {
			return nil, errors.Join(err, fmt.Errorf("%s is not empty; name an empty or new folder", order.Folder))
		}
	}
	if err := book.MakeFolder(path); err != nil {
		return nil, err
	}
	j := &journal{path: order.Folder, format: order.Format, order: order, files: map[string]*growingFile{}}
	if j.folder, err = os.OpenRoot(path); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, j.close())
		}
	}()
	if j.lock, err = j.folder.OpenFile("lock", os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, err
	}
	if taken, err := filelock.TryLock(j.lock); taken || err != nil {
		return nil, errors.Join(err, ErrBusy)
	}
	return j, j.load()
}

// load reads the state of an interrupted export, or starts a new one.
func (j *journal) load() error {
	j.removePages()
	text, err := j.folder.ReadFile(stateName)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil {
		if err := json.Unmarshal(text, &j.state); err != nil { //nolint:musttag // only this package reads the file
			return fmt.Errorf("%s: %w; start over with --restart", filepath.Join(j.folder.Name(), stateName), err)
		}
		if _, err := os.Lstat(filepath.Join(j.path, book.ManifestName)); err == nil && !j.order.Restart {
			return fmt.Errorf("%s has a complete export; name another folder, or start over with --restart", j.path)
		}
	}
	digest := j.order.digest()
	switch {
	case j.order.Restart || err != nil:
		if err := j.removeFiles(); err != nil {
			return err
		}
		j.state = progress{Options: digest, Files: map[string]fileState{}, Totals: map[string]*landfall.Figures{}}
		return j.save() // at once, to detect a folder that cannot be written to
	case j.state.Options != digest:
		return ErrChanged
	}
	return j.removeUnknown()
}

// digest identifies the options that must be the same to continue. It does not reveal the key.
func (o *Options) digest() string {
	digest := hmac.New(sha256.New, append([]byte("landfall export"), o.Key...))
	fmt.Fprintf(digest, "%q %q %q %q %t", o.Supplier, o.Format, o.ChangedSince, o.Schema.Packs(), o.Key != nil)
	return hex.EncodeToString(digest.Sum(nil))
}

// removePages removes what an interrupted export kept of pages.
func (j *journal) removePages() {
	left, _ := filepath.Glob(filepath.Join(j.folder.Name(), "page-*"))
	for _, path := range left {
		_ = os.Remove(path) // it is only in the way
	}
}

// removeFiles removes the files of an earlier export, and no others.
func (j *journal) removeFiles() error {
	names := []string{book.ManifestName, descriptionName, book.TotalsName}
	for name := range j.state.Files {
		names = append(names, name, name+partEnding)
	}
	for _, name := range names {
		if err := os.Remove(filepath.Join(j.path, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return j.removeUnknown()
}

// removeUnknown removes incomplete files that the state does not know: they were begun after it was
// saved.
func (j *journal) removeUnknown() error {
	entries, err := os.ReadDir(j.path)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name, part := strings.CutSuffix(entry.Name(), partEnding)
		if _, known := j.state.Files[name]; part && !known {
			if err := os.Remove(filepath.Join(j.path, entry.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// save makes the state durable. The files it describes must be durable already.
func (j *journal) save() error {
	for name, file := range j.files {
		j.state.Files[name] = fileState{file.size, file.rows}
	}
	text, err := json.Marshal(j.state) //nolint:musttag // likewise
	if err != nil {
		return err
	}
	return writeDurably(j.folder.Name(), stateName, text)
}

// writeDurably replaces a file, so that it has either the old or the new content after a power
// failure.
func writeDurably(folder, name string, text []byte) error {
	path := filepath.Join(folder, name)
	file, err := os.OpenFile(path+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	return syncFolder(folder)
}

// syncFolder makes the names in a folder durable, where the system can.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	_ = folder.Sync() // Windows cannot, and need not
	return folder.Close()
}

// file returns a file to append to. A file of an interrupted export is cut off where the state says.
func (j *journal) file(name string) (*growingFile, error) {
	if open := j.files[name]; open != nil {
		return open, nil
	}
	path := filepath.Join(j.path, name+partEnding)
	known := j.state.Files[name]
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && info.Size() < known.Size {
		err = fmt.Errorf("%s is shorter than the export has written; start over with --restart", path)
	}
	if err == nil {
		err = file.Truncate(known.Size)
	}
	if err == nil {
		_, err = file.Seek(known.Size, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	j.files[name] = &growingFile{file: file, size: known.Size, rows: known.Rows}
	return j.files[name], nil
}

// sync makes all open files durable.
func (j *journal) sync() error {
	for _, file := range j.files {
		if err := file.sync(); err != nil {
			return err
		}
	}
	return nil
}

// finish gives the files their names and describes the export. It can be repeated after a crash.
func (j *journal) finish() (Result, error) {
	if err := j.sync(); err != nil {
		return Result{}, err
	}
	j.state.Finished = true
	if err := j.save(); err != nil {
		return Result{}, err
	}
	result := Result{Accounts: j.state.Accounts, LeftOut: j.state.LeftOut, Cursor: j.state.Cursor, Files: []File{}}
	for _, name := range slices.Sorted(maps.Keys(j.state.Files)) {
		path := filepath.Join(j.path, name)
		err := os.Rename(path+partEnding, path)
		if _, there := os.Lstat(path); err != nil && there != nil {
			return Result{}, err
		}
		of := j.state.Files[name]
		result.Files = append(result.Files, File{Name: name, Rows: of.Rows, Bytes: of.Size})
	}
	text, err := json.MarshalIndent(manifest{
		Supplier: j.order.Supplier, Format: j.format, ChangedSince: j.order.ChangedSince, Pseudonymised: j.order.Key != nil,
		Packs: j.order.Schema.Packs(), Result: result,
	}, "", "  ")
	if err != nil {
		return Result{}, err
	}
	// Written last: without it an export is not complete.
	return result, writeDurably(j.path, book.ManifestName, append(text, '\n'))
}

// manifest describes a complete export.
type manifest struct {
	Supplier      string   `json:"import_supplier"`
	Format        Format   `json:"format"`
	ChangedSince  string   `json:"changed_since,omitempty"`
	Pseudonymised bool     `json:"pseudonymised"`
	Packs         []string `json:"packs"`
	Result
}

func (j *journal) close() error {
	var err error
	for _, file := range j.files {
		err = errors.Join(err, file.file.Close())
	}
	if j.lock != nil {
		err = errors.Join(err, j.lock.Close())
	}
	return errors.Join(err, j.folder.Close())
}

// growingFile is a file that is appended to.
type growingFile struct {
	file   *os.File
	buffer []byte
	size   int64 // with the buffer
	rows   int
	synced int64
}

// fileBuffer is how much is written at once.
const fileBuffer = 256 << 10

// Write appends. An error is returned by this or a later call.
func (f *growingFile) Write(text []byte) (int, error) {
	f.size += int64(len(text))
	if len(text) >= fileBuffer {
		if err := f.flush(); err != nil {
			return 0, err
		}
		return f.file.Write(text)
	}
	if f.buffer = append(f.buffer, text...); len(f.buffer) >= fileBuffer {
		return len(text), f.flush()
	}
	return len(text), nil
}

func (f *growingFile) flush() error {
	_, err := f.file.Write(f.buffer)
	f.buffer = f.buffer[:0]
	return err
}

// sync makes the file durable, unless nothing was added.
func (f *growingFile) sync() error {
	if err := f.flush(); err != nil || f.synced == f.size {
		return err
	}
	f.synced = f.size
	return f.file.Sync()
}

// complete makes a file durable and closes it.
func (j *journal) complete(name string) error {
	file := j.files[name]
	if err := file.sync(); err != nil {
		return err
	}
	j.state.Files[name] = fileState{file.size, file.rows}
	delete(j.files, name)
	return file.file.Close()
}

// hasPart reports whether a table has a complete file.
func (j *journal) hasPart(table string) bool {
	for name := range j.state.Files {
		if strings.HasPrefix(name, table+"-") {
			return true
		}
	}
	return false
}
