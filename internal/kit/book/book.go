// Package book reads and writes the files of a book: an old supplier's accounts in a folder, one
// JSON body per line.
//
//	accounts.ndjson               required
//	notes.ndjson                  and the others: added afterwards
//	transactions.ndjson
//	statements.ndjson
//	payment-instructions.ndjson
//	control-totals.json           the totals of the source
//	origin.json                   where the book comes from
//
// Every kind can have several files (accounts-001.ndjson), each compressed (.gz, .zst) or not.
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

// Kind is the kind of a file.
type Kind struct {
	Stem string // prefix of its file names
	Tail string // end of the path of the call whose body a line is
	Noun string // for messages, as in 12 notes
}

// The kinds, in the order of an import.
var (
	Accounts     = Kind{"accounts", "account-import-process/create-or-update", "accounts"}
	Notes        = Kind{"notes", "notes/create", "notes"}
	Transactions = Kind{"transactions", "transactions/create", "transactions"}
	Statements   = Kind{"statements", "historical-statements/create", "statements"}
	Instructions = Kind{"payment-instructions", "payment-instruction/create", "payment instructions"}
)

// Kinds returns all kinds, accounts first.
func Kinds() []Kind { return []Kind{Accounts, Notes, Transactions, Statements, Instructions} }

// TotalsName is the file with the control totals.
const TotalsName = "control-totals.json"

// ManifestName is the file that describes how a book was exported. It is no part of the book.
const ManifestName = "export.json"

// OriginName is the file that says where a book comes from. It is no part of the book.
const OriginName = "origin.json"

// File is one file of a book.
type File struct {
	Path string
	Kind Kind
}

// Book is the files found, sorted by kind and name.
type Book struct {
	Files  []File
	Totals string   // path of the control totals, or ""
	Others []string // other files of a folder
}

// Of returns the files of one kind.
func (b *Book) Of(kind Kind) []File {
	var list []File
	for _, file := range b.Files {
		if file.Kind == kind {
			list = append(list, file)
		}
	}
	return list
}

// IsPath reports whether a word names a file or folder and not, for example, a
// supplier.
func IsPath(word string) bool {
	_, err := os.Stat(word)
	return err == nil || strings.ContainsRune(word, os.PathSeparator)
}

// Open finds the files of a book in folders or among the named files. A named file with another
// name is an error; in a folder it is listed in Others, to reveal a mistyped name.
func Open(paths ...string) (*Book, error) {
	found := &Book{}
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("%s: no such file or folder", path)
		case err != nil:
			return nil, err
		case info.IsDir():
			if err := found.folder(path); err != nil {
				return nil, err
			}
		default:
			if !found.add(path) {
				return nil, fmt.Errorf("%s: unknown kind of file; the name must start with %s and end with .ndjson, .ndjson.gz or .ndjson.zst",
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

// folder adds the files of a folder. Subfolders are ignored: an import writes its reports there.
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
		info, err := os.Stat(filepath.Join(path, name)) // follows links
		if err != nil {
			return err
		}
		if info.Mode().IsRegular() && !b.add(filepath.Join(path, name)) {
			b.Others = append(b.Others, filepath.Join(path, name))
		}
	}
	return nil
}

// add adds a file if its name tells its kind.
func (b *Book) add(path string) bool {
	name := filepath.Base(path)
	if name == TotalsName {
		b.Totals = path
		return true
	}
	if name == ManifestName || name == OriginName {
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
		// The stem must be a whole word: accountsold.ndjson is not taken for accounts.
		rest, ours := strings.CutPrefix(stem, kind.Stem)
		if ours && (rest == "" || rest[0] == '-' || rest[0] == '_' || rest[0] == '.') {
			b.Files = append(b.Files, File{Path: path, Kind: kind})
			return true
		}
	}
	return false
}

// compression returns the compression of a file by its name, and the name without it.
func compression(name string) (stem, how string) {
	if stem, is := strings.CutSuffix(name, ".gz"); is {
		return stem, pack.Gzip
	}
	if stem, is := strings.CutSuffix(name, ".zst"); is {
		return stem, pack.Zstd
	}
	return name, ""
}

// checkDuplicates refuses a file that exists both compressed and uncompressed or was named twice.
func (b *Book) checkDuplicates() error {
	known := map[string]string{}
	for _, file := range b.Files {
		path, err := filepath.Abs(file.Path)
		if err != nil {
			return err
		}
		stem, _ := compression(path)
		if other, is := known[stem]; is {
			return fmt.Errorf("%s and %s are the same file; leave one out", other, file.Path)
		}
		known[stem] = file.Path
	}
	return nil
}

// At formats a position as compilers do.
func (f File) At(line int) string { return fmt.Sprintf("%s:%d", f.Path, line) }

// UnusedName is the name of a file in the folder conversion of a book: the columns of the old system's
// accounts that no attr is filled from.
const UnusedName = "unused.csv"
