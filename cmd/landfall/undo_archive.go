package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"sync"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/api/rules"
	"landfall/internal/kit/book"
	"landfall/internal/kit/importer"
)

// undoArchive saves postings in a folder, in files that can be imported again. The files of a part
// have its number in their names. While a part is not settled, a hidden file lists its accounts.
type undoArchive struct {
	folder string

	mutex sync.Mutex // an abandoned read may still add to a part that has ended
	part  int        // the last one
	files map[book.Kind]*book.Writer
}

// archiveKinds says which files of a book postings are in.
var archiveKinds = map[landfall.PostingKind]book.Kind{
	landfall.PostingNotes: book.Notes, landfall.PostingTransactions: book.Transactions,
	landfall.PostingStatements: book.Statements, landfall.PostingInstruction: book.Instructions,
}

// archivedName matches the files of an archive, complete or not.
var archivedName = regexp.MustCompile(`^[a-z-]+-undone-([0-9]{6})\.ndjson(\.part)?$`)

// openUndoArchive opens a folder for postings, and creates it if necessary. It may contain what an
// earlier undo saved, but nothing else, and must not have been imported since.
func openUndoArchive(folder string) (*undoArchive, error) {
	if err := book.MakeFolder(folder); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	// Checked first, so that nothing is done to a folder that is used for something else.
	for _, entry := range entries {
		switch name := entry.Name(); {
		case importer.IsTrace(name):
			return nil, fmt.Errorf("%s was imported: it contains %s. What is added to it now would not be imported with the rest; name a new folder", folder, name)
		case name[0] != '.' && !archivedName.MatchString(name):
			return nil, fmt.Errorf("%s contains %s, which is not from an undo; name an empty or a new folder", folder, name)
		}
	}
	a := &undoArchive{folder: folder}
	for _, entry := range entries {
		name := entry.Name()
		found := archivedName.FindStringSubmatch(name)
		if found == nil {
			continue
		}
		if found[2] != "" { // an interrupted undo left it; it saves the same again
			if err := os.Remove(filepath.Join(folder, name)); err != nil {
				return nil, err
			}
			continue
		}
		number, _ := strconv.Atoi(found[1]) // six digits
		a.part = max(a.part, number)
	}
	// The part that was not settled may have no files yet.
	for {
		if _, err := os.Stat(a.list(a.part + 1)); err != nil {
			return a, nil //nolint:nilerr // there are no more parts
		}
		a.part++
	}
}

// path returns the file of a kind in the last part, and list the file with the accounts of a part.
func (a *undoArchive) path(kind book.Kind) string {
	return filepath.Join(a.folder, fmt.Sprintf("%s-undone-%06d.ndjson", kind.Stem, a.part))
}

func (a *undoArchive) list(part int) string {
	return filepath.Join(a.folder, fmt.Sprintf(".undone-%06d.json", part))
}

// Begin implements operate.PostingArchive.
func (a *undoArchive) Begin() error {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	var err error
	for _, file := range a.files {
		err = errors.Join(err, file.Abandon())
	}
	if a.files == nil {
		a.part++
	}
	a.files = map[book.Kind]*book.Writer{}
	return err
}

// Add implements operate.PostingArchive.
func (a *undoArchive) Add(key landfall.Key, item landfall.PostedItem) error {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if a.files == nil {
		return errors.New("the part has ended")
	}
	kind := archiveKinds[item.Kind]
	file := a.files[kind]
	if file == nil {
		var err error
		if file, err = book.CreateNamed(a.path(kind)); err != nil {
			return err
		}
		a.files[kind] = file
	}
	_, err := file.Write(contract.AppendPostingLine(nil, key, item))
	return err
}

// archivedAccount is an account in the list of a part.
type archivedAccount struct {
	Supplier  string    `json:"import_supplier"`
	External  string    `json:"external_account_number"`
	CreatedAt time.Time `json:"created_at"`
}

// Commit implements operate.PostingArchive. The list comes first, so that no file exists that it
// does not explain.
func (a *undoArchive) Commit(accounts []landfall.PostedAccount) error {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	files := a.files
	a.files = nil
	if len(files) == 0 {
		a.part--
		return nil
	}
	list := []archivedAccount{}
	for _, account := range accounts {
		if account.Postings > 0 {
			list = append(list, archivedAccount{account.Key.Supplier, account.Key.External, account.CreatedAt})
		}
	}
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	if err := book.WriteNamed(a.list(a.part), text); err != nil {
		return err
	}
	for _, file := range files {
		err = errors.Join(err, file.Close())
	}
	return errors.Join(err, a.sync())
}

// sync makes the names of the files durable, as far as the system can.
func (a *undoArchive) sync() error {
	if runtime.GOOS == "windows" {
		return nil // it cannot sync a folder
	}
	folder, err := os.Open(a.folder)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// Unsettled implements operate.PostingArchive.
func (a *undoArchive) Unsettled() ([]landfall.PostedAccount, error) {
	text, err := os.ReadFile(a.list(a.part))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []archivedAccount
	if err == nil {
		err = json.Unmarshal(text, &list)
	}
	accounts := make([]landfall.PostedAccount, len(list))
	for i, one := range list {
		accounts[i] = landfall.PostedAccount{Key: landfall.Key{Supplier: one.Supplier, External: one.External}, CreatedAt: one.CreatedAt}
	}
	return accounts, err
}

// Settle implements operate.PostingArchive.
func (a *undoArchive) Settle(kept map[landfall.Key]bool) error {
	for _, kind := range archiveKinds {
		if err := a.settleFile(kind, kept); err != nil {
			return err
		}
	}
	return os.Remove(a.list(a.part))
}

// settleFile writes a file again without the lines of kept accounts. Until it is complete, the old
// file exists under a hidden name.
func (a *undoArchive) settleFile(kind book.Kind, kept map[landfall.Key]bool) error {
	path := a.path(kind)
	old := filepath.Join(a.folder, "."+filepath.Base(path))
	if _, err := os.Stat(old); err == nil {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	} else {
		if _, err := os.Stat(path); len(kept) == 0 || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err := os.Rename(path, old); err != nil {
			return err
		}
	}
	from, err := os.Open(old)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // only read
	to, err := book.CreateNamed(path)
	if err != nil {
		return err
	}
	if err := copyLines(to, from, kept); err != nil {
		return errors.Join(err, to.Abandon())
	}
	finish := to.Close
	if to.Lines == 0 {
		finish = to.Abandon
	}
	if err := finish(); err != nil {
		return err
	}
	return os.Remove(old)
}

// copyLines copies the lines of accounts that are not kept.
func copyLines(to *book.Writer, from io.Reader, kept map[landfall.Key]bool) error {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			supplier, external, _ := rules.Peek(line, "import_supplier", "external_account_number")
			if !kept[landfall.Key{Supplier: supplier, External: external}] {
				if _, err := to.Write(line); err != nil {
					return err
				}
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
