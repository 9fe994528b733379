package check

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/kit/book"
)

const (
	// sortMemory is how many bytes of identifiers are sorted in memory. More are
	// written to temporary files and merged.
	sortMemory = 32 << 20
	// maxSharers is how many accounts with the same identifier are compared with each
	// other, as in the service.
	maxSharers = 1000
)

// sharedRecord is an identifier of a line.
type sharedRecord struct {
	File, Line int
	Supplier   string
	External   string
	Kind       landfall.IdentifierKind
	Attr       string
	From, To   string // days; "" is without a limit
	Warned     bool   // the line has a warning already
}

// overlaps reports whether two accounts have an identifier at the same time.
func (r *sharedRecord) overlaps(other *sharedRecord) bool {
	before := func(to, from string) bool { return to != "" && from != "" && to < from }
	if r.Supplier == other.Supplier && (r.External == other.External || r.Kind == landfall.IdentifierExternalNumber) {
		return false
	}
	return !before(r.To, other.From) && !before(other.To, r.From)
}

// checkAcross finds the accounts of the book that share an identifier, each with the other one.
// Both accounts of a pair are named.
func (r *Checker) checkAcross(ctx context.Context, of *book.Book) error {
	var name sortKey
	var group []sharedRecord
	told := map[int]bool{} // of the group
	found := recordSorter[sharedMistake]{limit: r.identifiers.limit}
	defer found.close()
	report := func(one, other *sharedRecord) error {
		var key sortKey
		binary.BigEndian.PutUint64(key[:8], uint64(one.File)) //nolint:gosec // a number of files
		binary.BigEndian.PutUint64(key[8:], uint64(one.Line)) //nolint:gosec // a number of lines
		return found.add(key, r.newShared(of, one, other))
	}
	err := r.identifiers.merge(func(next sortKey, record sharedRecord) error {
		if next != name {
			name, group = next, group[:0]
			clear(told)
		}
		for i := range group {
			if !record.overlaps(&group[i]) {
				continue
			}
			if !told[i] {
				told[i] = true
				if err := report(&group[i], &record); err != nil {
					return err
				}
			}
			told[len(group)] = len(group) < maxSharers
			if err := report(&record, &group[i]); err != nil {
				return err
			}
			break
		}
		if len(group) < maxSharers {
			group = append(group, record)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.reportShared(ctx, of, &found)
}

// sharedMistake is what is wrong with a line that shares an identifier with another line.
type sharedMistake struct {
	File, Line int
	External   string
	Warned     bool // the line has a warning already
	Error      bool
	Violation  landfall.Violation
}

func (r *Checker) newShared(of *book.Book, one, other *sharedRecord) sharedMistake {
	code, severity := contract.AcrossRule(one.Kind, &r.Settings)
	return sharedMistake{one.File, one.Line, one.External, one.Warned, severity == landfall.SeverityError, landfall.Violation{
		Attr: one.Attr, Code: code,
		Detail: contract.Meaning(code) + " It is account " + other.External + " at " + of.Files[other.File].At(other.Line) + ".",
	}}
}

// reportShared reports the lines that share an identifier, in the order of the book. The texts of
// the lines are not in memory any more, so files with lines that are refused are read again.
func (r *Checker) reportShared(ctx context.Context, of *book.Book, found *recordSorter[sharedMistake]) error {
	var line []sharedMistake // all mistakes of one line
	texts := &lineFinder{book: of}
	defer texts.close()
	flush := func() error {
		if len(line) == 0 {
			return nil
		}
		defer func() { line = line[:0] }()
		return r.addShared(ctx, of.Files[line[0].File], line, texts)
	}
	err := found.merge(func(_ sortKey, one sharedMistake) error {
		if len(line) > 0 && (line[0].File != one.File || line[0].Line != one.Line) {
			if err := flush(); err != nil {
				return err
			}
		}
		line = append(line, one)
		return ctx.Err()
	})
	return errors.Join(err, flush())
}

func (r *Checker) addShared(ctx context.Context, file book.File, found []sharedMistake, texts *lineFinder) error {
	mistake := Mistake{File: file, Line: book.Line{Number: found[0].Line}, External: found[0].External}
	for _, one := range found {
		if one.Error {
			mistake.Failure.Violations = append(mistake.Failure.Violations, one.Violation)
		} else {
			mistake.Warnings = append(mistake.Warnings, one.Violation)
		}
	}
	count := r.result.Counts[file.Kind]
	if len(mistake.Failure.Violations) > 0 {
		mistake.Failure.Code, mistake.Failure.Detail = landfall.CodeAccountFailedValidation, "The account data is not valid."
		var err error
		if mistake.Line, err = texts.find(found[0].File, found[0].Line); err != nil {
			return err
		}
		r.refuseFigures(r.checkLine(ctx, file.Kind, mistake.Line))
		count.Wrong++
		r.wrong.Add(mistake.Failure)
	}
	if len(mistake.Warnings) > 0 {
		if !found[0].Warned {
			count.Warned++
		}
		r.warnings.Add(landfall.Failure{Violations: mistake.Warnings})
	}
	r.result.Counts[file.Kind] = count
	return r.Mistake(mistake)
}

// lineFinder returns lines of a book in its order.
type lineFinder struct {
	book *book.Book
	file int
	next func() (book.Line, error, bool)
	stop func()
}

func (f *lineFinder) find(file, number int) (book.Line, error) {
	if f.next == nil || f.file != file {
		f.close()
		f.file = file
		f.next, f.stop = iter.Pull2(f.book.Files[file].Lines())
	}
	for {
		line, err, more := f.next()
		switch {
		case err != nil:
			return line, err
		case !more:
			return line, fmt.Errorf("%s has become shorter while it was read", f.book.Files[file].Path)
		case line.Number == number:
			return line, nil
		}
	}
}

func (f *lineFinder) close() {
	if f.stop != nil {
		f.stop()
	}
}

// collectIdentifiers keeps the identifiers of a valid line. Payment instructions may be
// in a file of their own.
func (r *Checker) collectIdentifiers(number int, read checkedLine) error {
	for i := range read.identifiers {
		one := &read.identifiers[i]
		if _, severity := contract.AcrossRule(one.Kind, &r.Settings); severity == landfall.SeverityOff {
			continue
		}
		record := sharedRecord{
			File: number, Line: read.line.Number, Supplier: read.key.Supplier, External: read.key.External, Kind: one.Kind, Attr: one.Attr, Warned: len(read.warnings) > 0,
		}
		if !one.FromOn.IsZero() {
			record.From = one.FromOn.String()
		}
		if !one.ToOn.IsZero() {
			record.To = one.ToOn.String()
		}
		name := sha256.Sum256([]byte(string(one.Kind) + "\x00" + one.Text()))
		if err := r.identifiers.add(sortKey(name[:16]), record); err != nil {
			return err
		}
	}
	return nil
}
