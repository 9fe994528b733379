package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"landfall/internal/api/contract"
	"landfall/internal/kit/book"
)

// HashFile identifies a file by its content.
func HashFile(path string) (contract.CustodyFile, error) {
	file, err := os.Open(path)
	if err != nil {
		return contract.CustodyFile{}, err
	}
	defer func() { _ = file.Close() }() // only read
	hash := sha256.New()
	size, err := io.Copy(hash, file)
	return contract.CustodyFile{Name: filepath.Base(path), Bytes: size, SHA256: hex.EncodeToString(hash.Sum(nil))}, err
}

// WriteOrigin writes into a book where it comes from.
func WriteOrigin(folder string, origin contract.Origin) error {
	text, err := json.MarshalIndent(origin, "", "  ")
	if err != nil {
		return err
	}
	return book.WriteNamed(filepath.Join(folder, book.OriginName), append(text, '\n'))
}

// profileName is the file of a converted book that describes the tables it was made from.
const profileName = "conversion/profile.json"

// WriteProfile writes the profile of its tables into a converted book.
func WriteProfile(folder string, tables []Table) error {
	text, err := json.Marshal(tables) //nolint:musttag // only AddProfile reads it
	if err != nil {
		return err
	}
	return book.WriteNamed(filepath.Join(folder, filepath.FromSlash(profileName)), append(text, '\n'))
}

// AddProfile adds the profile of the tables that a book was converted from, if it has one.
// A report does not fail because of it.
func (s *Summary) AddProfile(folder string) {
	var tables []Table
	known, err := readSmall(filepath.Join(folder, filepath.FromSlash(profileName)), &tables)
	switch {
	case err != nil:
		s.Tables = append(s.Tables, Table{Title: "Profile of the tables", Remark: err.Error()})
	case known && len(tables) > 0:
		tables[0].Remark = "Profile of the tables that the book was converted from. " + tables[0].Remark
		s.Tables = append(s.Tables, tables...)
	}
}

// maxOrigin limits what is read of a file that describes a book.
const maxOrigin = 8 << 20

// readSmall reads a JSON file that a program of ours wrote, and reports whether it is there.
func readSmall(path string, into any) (bool, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil && info.Size() > maxOrigin {
		err = fmt.Errorf("%s is too long", path)
	}
	if err != nil {
		return false, err
	}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", path, err)
	}
	return true, nil
}

// Custody describes a book for the chain of custody: its files, where they come from, and the
// reports of its imports.
func Custody(folder string) (contract.BookCustody, error) {
	path, err := filepath.Abs(folder)
	if err != nil {
		return contract.BookCustody{}, err
	}
	custody := contract.BookCustody{Name: filepath.Base(path), Imports: []contract.ImportCustody{}}
	found, err := book.Open(folder)
	if err != nil {
		return custody, err
	}
	paths := []string{}
	for _, file := range found.Files {
		paths = append(paths, file.Path)
	}
	if found.Totals != "" {
		paths = append(paths, found.Totals)
	}
	for _, path := range paths {
		file, err := HashFile(path)
		if err != nil {
			return custody, err
		}
		custody.Files = append(custody.Files, file)
	}
	var origin contract.Origin
	switch known, err := readSmall(filepath.Join(folder, book.OriginName), &origin); {
	case err != nil:
		return custody, err
	case known:
		custody.Origin = &origin
	}
	reports, err := filepath.Glob(filepath.Join(folder, "import-*", "report.json"))
	if err != nil {
		return custody, err
	}
	for _, path := range reports {
		one := contract.ImportCustody{}
		if _, err := readSmall(path, &one); err != nil {
			return custody, err
		}
		if one.Report, err = HashFile(path); err != nil {
			return custody, err
		}
		one.Report.Name = filepath.Join(filepath.Base(filepath.Dir(path)), one.Report.Name)
		custody.Imports = append(custody.Imports, one)
	}
	return custody, nil
}
