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

// importJournal keeps how far an import is: a line for each checkpoint, durable
// before anything relies on it, and beside it the failures found so far. What
// came after the last checkpoint is done again, which does no harm.
type importJournal struct {
	folder   string
	lock     *os.File
	file     *os.File
	failures *failures
	state    state
	saved    time.Time
}

// state is everything that a checkpoint knows.
type state struct {
	Book     []fingerprint        `json:"book"`
	Mode     options              `json:"mode"`
	Phases   map[Phase]phaseState `json:"phases"`
	Runs     []string             `json:"runs"`      // ids, in the order of Suppliers
	Counted  int                  `json:"gathered"`  // how many of the runs are counted
	Supplier []string             `json:"suppliers"` // codes the accounts' lines name
	Failures int64                `json:"failures"`  // bytes of the failures' file
	Finished bool                 `json:"finished"`
}

// options is what of an order must be the same to go on with it.
type options struct {
	Supplier   string `json:"supplier"`
	Team       string `json:"team"`
	DryRun     bool   `json:"dry_run"`
	Sample     int    `json:"sample"`
	OnlyFailed bool   `json:"only_failed"`
	StageOnly  bool   `json:"stage_only"`
}

// phaseState is how far one step is.
type phaseState struct {
	File  int   `json:"file"` // among the files of its kind
	Line  int   `json:"line"` // the last one that is settled
	Tally Tally `json:"tally"`
	Over  bool  `json:"over"`
}

// fingerprint tells whether a file is still the one that was begun with.
type fingerprint struct {
	Name     string `json:"name"`
	Size     int64  `json:"size"`
	Modified int64  `json:"modified"` // nanoseconds
}

// journalName is a folder of its own, hidden from whoever lists the book.
const journalName = ".landfall"

// ErrBusy is a book that somebody else is importing at this moment.
var ErrBusy = errors.New("another import of this book is under way")

// ChangedError is a book, or a wish, that is not the one an import was begun with.
type ChangedError struct{ What string }

// Error says how to go on.
func (e *ChangedError) Error() string {
	return "an import of this book was cut off, and " + e.What + " since; begin anew with --restart"
}

// openJournal goes on with the journal of a book, or begins one. A journal that
// came to its end is of the past.
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

// open holds what is wanted against what was begun before it cuts anything off, so
// that a refused order leaves the journal as it was.
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
	// Saved at once: a folder that cannot be written to is noticed before anything
	// is sent.
	return j.save()
}

// begun reports whether anything came of an import. One that only met a closed
// door binds nobody to its options.
func (s *state) begun() bool {
	for _, phase := range s.Phases {
		if phase.Over || phase.Tally.Lines > 0 {
			return true
		}
	}
	return len(s.Runs) > 0
}

// matches wants the book and the order to be those the journal is about.
func (s *state) matches(wanted state) error {
	switch {
	case len(s.Book) != len(wanted.Book):
		return &ChangedError{"files were added or removed"}
	case s.Mode != wanted.Mode:
		return &ChangedError{"other options were given than then"}
	}
	for i, file := range wanted.Book {
		if s.Book[i] != file {
			return &ChangedError{file.Name + " has changed"}
		}
	}
	return nil
}

// lastState reads the last whole checkpoint and where it ends. A line that was
// torn by a crash is as if it had never been written.
func lastState(path string) (last *state, length int64, err error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = file.Close() }() // it was only read
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		// A last line without its end was torn, even if it could be read.
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

// openAt opens a file for appending behind its first bytes; the others are
// taken away.
func openAt(path string, length int64) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && info.Size() < length {
		err = fmt.Errorf("%s is shorter than the journal says; begin anew with --restart", path)
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

// save writes a checkpoint. The failures it counts are durable before it is.
func (j *importJournal) save() error {
	length, err := j.failures.sync()
	if err != nil {
		return fmt.Errorf("the journal cannot be kept: %w", err)
	}
	j.state.Failures = length
	line, err := json.Marshal(j.state)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("the journal cannot be kept: %w", err)
	}
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("the journal cannot be kept: %w", err)
	}
	j.saved = time.Now()
	return nil
}

// checkpointInterval is how much work a crash may cost at most.
const checkpointInterval = time.Second

// update takes how far a phase is, and saves it now and then.
func (j *importJournal) update(name Phase, progress phaseState) error {
	j.state.Phases[name] = progress
	if time.Since(j.saved) < checkpointInterval {
		return nil
	}
	return j.save()
}

// finish saves that a phase is over.
func (j *importJournal) finish(name Phase, progress phaseState) error {
	progress.Over = true
	j.state.Phases[name] = progress
	return j.save()
}

// addSupplier notes which supplier a line is of.
func (j *importJournal) addSupplier(supplier string) {
	if supplier != "" && !slices.Contains(j.state.Supplier, supplier) && len(j.state.Supplier) < maxSuppliers {
		j.state.Supplier = append(j.state.Supplier, supplier)
	}
}

// maxSuppliers is more than any book has; a broken one may name anything.
const maxSuppliers = 100

// close gives everything back. The lock goes last.
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
