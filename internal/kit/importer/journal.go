package importer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// importJournal records the progress of an import: a line per checkpoint, durable before anything
// relies on it, and the failures so far. What came after the last checkpoint is repeated, which is
// safe.
type importJournal struct {
	folder   string
	lock     *os.File
	file     *os.File
	failures *failures
	state    state
	saved    time.Time
}

// state is the content of a checkpoint.
type state struct {
	Book     []fingerprint        `json:"book"`
	Mode     options              `json:"mode"`
	Phases   map[Phase]phaseState `json:"phases"`
	Runs     []string             `json:"runs"`      // IDs, in the order of Supplier
	Counted  int                  `json:"gathered"`  // how many of the runs are counted
	Supplier []string             `json:"suppliers"` // codes named by the accounts
	Failures int64                `json:"failures"`  // size of the failures file
	Finished bool                 `json:"finished"`
}

// options are the options that must be the same to continue.
type options struct {
	Supplier   string `json:"supplier"`
	Team       string `json:"team"`
	DryRun     bool   `json:"dry_run"`
	Sample     int    `json:"sample"`
	OnlyFailed bool   `json:"only_failed"`
	StageOnly  bool   `json:"stage_only"`
}

// phaseState is the progress of a phase.
type phaseState struct {
	File  int   `json:"file"` // index among the files of its kind
	Line  int   `json:"line"` // the last settled line
	Tally Tally `json:"tally"`
	Over  bool  `json:"over"`
}

// fingerprint detects a changed file.
type fingerprint struct {
	Name     string `json:"name"`
	Size     int64  `json:"size"`
	Modified int64  `json:"modified"` // nanoseconds
}

// journalName is a hidden folder in the book.
const journalName = ".landfall"

// ErrBusy means that another process is importing this book.
var ErrBusy = errors.New("another import of this book is running")

// ChangedError means that the book or the options differ from those of an interrupted import.
type ChangedError struct{ What string }

// Error says how to continue.
func (e *ChangedError) Error() string {
	return "an import of this book was interrupted, and " + e.What + " since; start over with --restart"
}

// openJournal continues the journal of a book, or starts one. A finished journal is replaced.
func openJournal(order Options) (*importJournal, error) {
	folder := filepath.Join(order.Folder, journalName)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	j := &importJournal{folder: folder}
	var err error
	if j.lock, err = lockFile(filepath.Join(folder, "lock")); err != nil {
		return nil, err
	}
	if err := j.open(order); err != nil {
		return nil, errors.Join(err, j.close())
	}
	return j, nil
}

// open compares the options with the journal before truncating anything, so that a refused import
// leaves the journal unchanged.
func (j *importJournal) open(order Options) error {
	wanted := state{Phases: map[Phase]phaseState{}, Mode: options{
		order.Supplier, order.Team, order.DryRun, order.Sample, order.OnlyFailed, order.StageOnly,
	}}
	paths := make([]string, 0, len(order.Book.Files)+1)
	for _, file := range order.Book.Files {
		paths = append(paths, file.Path)
	}
	if order.Book.Totals != "" {
		paths = append(paths, order.Book.Totals)
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		wanted.Book = append(wanted.Book, fingerprint{filepath.Base(path), info.Size(), info.ModTime().UnixNano()})
	}
	path := filepath.Join(j.folder, "journal.ndjson")
	found, length, err := lastState(path)
	if err != nil {
		return err
	}
	j.state = wanted
	if found != nil && !found.Finished && !order.Restart {
		if !found.begun() {
			found.Mode = wanted.Mode
		}
		if err := found.matches(wanted); err != nil {
			return err
		}
		j.state = *found
	} else {
		length = 0
	}
	if j.file, err = openAt(path, length); err != nil {
		return err
	}
	if j.failures, err = openFailures(filepath.Join(j.folder, "failures.ndjson"), j.state.Failures); err != nil {
		return err
	}
	// Saved at once, to detect a read-only folder before anything is sent.
	return j.save()
}

// begun reports whether an import achieved anything. Otherwise its options do not matter.
func (s *state) begun() bool {
	for _, progress := range s.Phases {
		if progress.Over || progress.Tally.Lines > 0 {
			return true
		}
	}
	return len(s.Runs) > 0
}

// matches requires the book and the options to be the same.
func (s *state) matches(wanted state) error {
	switch {
	case len(s.Book) != len(wanted.Book):
		return &ChangedError{"files were added or removed"}
	case s.Mode != wanted.Mode:
		return &ChangedError{"the options have changed"}
	}
	for i, file := range wanted.Book {
		if s.Book[i] != file {
			return &ChangedError{file.Name + " has changed"}
		}
	}
	return nil
}

// lastState reads the last complete checkpoint and its end. An incomplete line is ignored.
func lastState(path string) (last *state, length int64, err error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = file.Close() }() // only read
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		// A last line without line feed is incomplete, even if it can be parsed.
		if errors.Is(err, io.EOF) {
			return last, length, nil
		}
		if err != nil {
			return nil, 0, err
		}
		var found state
		if json.Unmarshal(bytes.TrimSpace(line), &found) != nil {
			return last, length, nil
		}
		last, length = &found, length+int64(len(line))
	}
}

// openAt opens a file for appending after its first bytes and truncates the rest.
func openAt(path string, length int64) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && info.Size() < length {
		err = fmt.Errorf("%s is shorter than the journal says; start over with --restart", path)
	}
	if err == nil {
		err = file.Truncate(length)
	}
	if err == nil {
		_, err = file.Seek(length, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// save writes a checkpoint. Its failures are made durable first.
func (j *importJournal) save() error {
	length, err := j.failures.sync()
	if err != nil {
		return fmt.Errorf("cannot write the journal: %w", err)
	}
	j.state.Failures = length
	line, err := json.Marshal(j.state)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("cannot write the journal: %w", err)
	}
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("cannot write the journal: %w", err)
	}
	j.saved = time.Now()
	return nil
}

// checkpointInterval is how much work a crash may cost.
const checkpointInterval = time.Second

// update records the progress of a phase and saves it now and then.
func (j *importJournal) update(name Phase, progress phaseState) error {
	j.state.Phases[name] = progress
	if time.Since(j.saved) < checkpointInterval {
		return nil
	}
	return j.save()
}

// finish records that a phase is over.
func (j *importJournal) finish(name Phase, progress phaseState) error {
	progress.Over = true
	j.state.Phases[name] = progress
	return j.save()
}

// addSupplier records the supplier of a line.
func (j *importJournal) addSupplier(supplier string) {
	if supplier != "" && !slices.Contains(j.state.Supplier, supplier) && len(j.state.Supplier) < maxSuppliers {
		j.state.Supplier = append(j.state.Supplier, supplier)
	}
}

// maxSuppliers is more than any real book has.
const maxSuppliers = 100

// close closes everything, the lock last.
func (j *importJournal) close() error {
	var err error
	if j.failures != nil {
		err = errors.Join(err, j.failures.close())
	}
	if j.file != nil {
		err = errors.Join(err, j.file.Close())
	}
	return errors.Join(err, j.lock.Close())
}
