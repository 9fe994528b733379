// Package book knows the files of a book: what an old supplier's accounts look
// like in a folder, one JSON body a line.
//
//	accounts.ndjson               needed
//	notes.ndjson                  and the other files: what comes after
//	transactions.ndjson
//	statements.ndjson
//	payment-instructions.ndjson
//	control-totals.json           what the source says it has
//
// Every kind may come in several files (accounts-001.ndjson), each packed
// (.gz, .zst) or not.
package book

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"landfall/internal/store/pack"
)

// Kind is what the lines of a file are.
type Kind struct {
	Stem string // how names of its files begin
	Tail string // of the path of the call whose body a line is
	Noun string // for people, as in 12 notes
}

// The kinds, in the order in which a book is moved.
var (
	Accounts     = Kind{"accounts", "account-import-process/create-or-update", "accounts"}
	Notes        = Kind{"notes", "notes/create", "notes"}
	Transactions = Kind{"transactions", "transactions/create", "transactions"}
	Statements   = Kind{"statements", "historical-statements/create", "statements"}
	Instructions = Kind{"payment-instructions", "payment-instruction/create", "payment instructions"}
)

// Kinds gives all of them, accounts first: nothing else can be added before.
func Kinds() []Kind { return []Kind{Accounts, Notes, Transactions, Statements, Instructions} }

// TotalsName is the file with what the source says it has.
const TotalsName = "control-totals.json"

// File is one file of a book.
type File struct {
	Path string
	Kind Kind
}

// Book is the files that were found, by kind and name.
type Book struct {
	Files  []File
	Totals string   // path of the control totals, or ""
	Others []string // files of a folder that are none of ours
}

// Of gives the files of one kind.
func (b *Book) Of(kind Kind) []File {
	var list []File
	for _, file := range b.Files {
		if file.Kind == kind {
			list = append(list, file)
		}
	}
	return list
}

// Open finds the files of a book: those of folders by their names, and files
// that are named themselves. A named file that is none of ours is an error;
// one in a folder is told in Others, so that a mistyped name is seen.
func Open(paths ...string) (*Book, error) {
	found := &Book{}
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("%s: there is no such file or folder", path)
		case err != nil:
			return nil, err
		case info.IsDir():
			if err := found.folder(path); err != nil {
				return nil, err
			}
		default:
			if !found.add(path) {
				return nil, fmt.Errorf("%s: the name does not say what is in it; it should begin with %s and end with .ndjson, .ndjson.gz or .ndjson.zst",
					path, strings.Join(stems(), ", "))
			}
		}
	}
	slices.SortStableFunc(found.Files, func(a, b File) int {
		return strings.Compare(rank(a.Kind)+a.Path, rank(b.Kind)+b.Path)
	})
	if len(found.Files) == 0 {
		return nil, fmt.Errorf("%s: no file of a book; accounts.ndjson was expected", strings.Join(paths, ", "))
	}
	return found, found.checkDuplicates()
}

func rank(kind Kind) string { return string(rune('0' + slices.Index(Kinds(), kind))) } //nolint:gosec // there are five kinds

func stems() (list []string) {
	for _, kind := range Kinds() {
		list = append(list, kind.Stem)
	}
	return list
}

// folder takes what lies in a folder itself; folders below it are left alone:
// an import keeps its failures and reports in some.
func (b *Book) folder(path string) error {
	entries, err := os.ReadDir(path)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() || strings.HasPrefix(name, ".") {
			continue
		}
		info, err := os.Stat(filepath.Join(path, name)) // of what a link points at
		if err != nil {
			return err
		}
		if info.Mode().IsRegular() && !b.add(filepath.Join(path, name)) {
			b.Others = append(b.Others, filepath.Join(path, name))
		}
	}
	return nil
}

// add takes a file if its name says what is in it.
func (b *Book) add(path string) bool {
	name := filepath.Base(path)
	if name == TotalsName {
		b.Totals = path
		return true
	}
	stem, _ := compression(name)
	stem, ndjson := strings.CutSuffix(stem, ".ndjson")
	if !ndjson {
		if stem, ndjson = strings.CutSuffix(stem, ".jsonl"); !ndjson {
			return false
		}
	}
	for _, kind := range Kinds() {
		// A stem must end where a word does: what is called accountsold.ndjson is not
		// taken for accounts in silence.
		rest, ours := strings.CutPrefix(stem, kind.Stem)
		if ours && (rest == "" || rest[0] == '-' || rest[0] == '_' || rest[0] == '.') {
			b.Files = append(b.Files, File{Path: path, Kind: kind})
			return true
		}
	}
	return false
}

// compression says how a file is packed, by its name, and gives the name without.
func compression(name string) (stem, how string) {
	if stem, is := strings.CutSuffix(name, ".gz"); is {
		return stem, pack.Gzip
	}
	if stem, is := strings.CutSuffix(name, ".zst"); is {
		return stem, pack.Zstd
	}
	return name, ""
}

// checkDuplicates refuses a file that is there packed and unpacked, or was named
// twice: its accounts would all be moved twice.
func (b *Book) checkDuplicates() error {
	known := map[string]string{}
	for _, file := range b.Files {
		path, err := filepath.Abs(file.Path)
		if err != nil {
			return err
		}
		stem, _ := compression(path)
		if other, is := known[stem]; is {
			return fmt.Errorf("%s and %s are the same file twice; leave one of them out", other, file.Path)
		}
		known[stem] = file.Path
	}
	return nil
}

// At names a line of the file for people, as compilers do.
func (f File) At(line int) string { return fmt.Sprintf("%s:%d", f.Path, line) }
