package importer

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"landfall/internal/kit/book"
)

// importJournal records the progress of an import: a line per checkpoint, durable before anything
// relies on it, and the failures so far. What came after the last checkpoint is repeated, which is
// safe.
type importJournal struct {
	folder   *os.Root
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
	Supplier []string             `json:"suppliers"` // codes of the accounts that were staged or exist
	Staged   map[string]int       `json:"staged"`    // how many accounts were staged, by supplier
	Delivery string               `json:"delivery"`  // id of the book on the server
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
	AllStaged  bool   `json:"all_staged"`
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

// Begun reports whether an import of a folder has begun and was not finished.
func Begun(folder string) bool {
	text, err := os.ReadFile(filepath.Join(folder, journalName, "journal.ndjson"))
	return err == nil && len(text) > 0 && !bytes.Contains(text, []byte(`"finished":true`))
}

// reportPrefix begins the names of the folders with reports.
const reportPrefix = "import-"

// IsTrace reports whether an entry of a folder was left by an import of that folder: its journal or
// a report.
func IsTrace(name string) bool {
	return name == journalName || strings.HasPrefix(name, reportPrefix)
}

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
	path := filepath.Join(order.Folder, journalName)
	if err := book.MakeFolder(path); err != nil {
		return nil, err
	}
	folder, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	j := &importJournal{folder: folder}
	if j.lock, err = lockFile(folder); err != nil {
		return nil, errors.Join(err, folder.Close())
	}
	if err := j.open(order); err != nil {
		return nil, errors.Join(err, j.close())
	}
	return j, nil
}

// open compares the options with the journal before truncating anything, so that a refused import
// leaves the journal unchanged.
func (j *importJournal) open(order Options) error {
	wanted := state{Phases: map[Phase]phaseState{}, Staged: map[string]int{}, Mode: options{
		order.Supplier, order.Team, order.DryRun, order.Sample, order.OnlyFailed, order.StageOnly, order.AllStaged,
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
	var err error
	if wanted.Delivery, err = deliveryOf(wanted.Book); err != nil {
		return err
	}
	if j.file, err = openOwn(j.folder, "journal.ndjson"); err != nil {
		return err
	}
	found, length, err := lastState(j.file)
	if err != nil {
		return err
	}
	j.state = wanted
	if found != nil && !found.Finished && !order.Restart && found.begun() {
		if err := found.matches(wanted); err != nil {
			return err
		}
		j.state = *found
	} else {
		length = 0
	}
	if err := truncateAt(j.file, length); err != nil {
		return err
	}
	if j.failures, err = openFailures(j.folder, j.state.Failures); err != nil {
		return err
	}
	// Saved at once, to detect a read-only folder before anything is sent.
	return j.save()
}

// deliveryOf returns the id of a book on the server. It is the same whenever the same files are
// imported, so that a second import finds the accounts of the first.
func deliveryOf(files []fingerprint) (string, error) {
	text, err := json.Marshal(files)
	sum := sha256.Sum256(text)
	return "book-" + hex.EncodeToString(sum[:10]), err
}

// begun reports whether an import achieved anything. Otherwise its book and its options do not
// matter.
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
func lastState(file *os.File) (last *state, length int64, err error) {
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
			return last, length, nil //nolint:nilerr // the last line was not written completely
		}
		last, length = &found, length+int64(len(line))
	}
}

// openOwn opens a file of the journal. Links are refused: a book may come from another company, and
// a link could make the import overwrite any file of the user.
func openOwn(folder *os.Root, name string) (*os.File, error) {
	info, err := folder.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is a link or not a file, and was not made by an import; remove it", filepath.Join(folder.Name(), name))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return folder.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
}

// truncateAt keeps the first bytes of a file and appends after them.
func truncateAt(file *os.File, length int64) error {
	info, err := file.Stat()
	if err == nil && info.Size() < length {
		err = fmt.Errorf("%s is shorter than the journal says; start over with --restart", file.Name())
	}
	if err == nil {
		err = file.Truncate(length)
	}
	if err == nil {
		_, err = file.Seek(length, io.SeekStart)
	}
	return err
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

// addSupplier records the supplier of an account that was staged or exists.
func (j *importJournal) addSupplier(supplier string, staged bool) {
	if staged {
		if j.state.Staged == nil {
			j.state.Staged = map[string]int{}
		}
		j.state.Staged[supplier]++
	}
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
	return errors.Join(err, j.lock.Close(), j.folder.Close())
}
