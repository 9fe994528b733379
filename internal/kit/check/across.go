package check

import (
	"bufio"
	"bytes"
	"container/heap"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"io"
	"os"
	"slices"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/kit/book"
)

const (
	// sortMemory is how many bytes of identifiers are sorted in memory. More are
	// written to temporary files and merged.
	sortMemory = 64 << 20
	// maxSharers is how many accounts with the same identifier are compared with each
	// other, as in the service.
	maxSharers = 1000
	// recordOverhead is what a record costs beside its bytes.
	recordOverhead = 24
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

// identifierSorter sorts identifiers, so that equal ones follow each other. It needs a
// fixed amount of memory.
type identifierSorter struct {
	limit   int
	size    int
	records [][]byte
	files   []*os.File
}

// add adds an identifier of a line.
func (s *identifierSorter) add(one *landfall.Identifier, record sharedRecord) error {
	name := sha256.Sum256([]byte(string(one.Kind) + "\x00" + one.Text()))
	record.Kind, record.Attr = one.Kind, one.Attr
	if !one.FromOn.IsZero() {
		record.From = one.FromOn.String()
	}
	if !one.ToOn.IsZero() {
		record.To = one.ToOn.String()
	}
	text, err := json.Marshal(record)
	if err != nil {
		return err
	}
	line := append(name[:16:16], text...)
	s.records = append(s.records, line)
	if s.size += len(line) + recordOverhead; s.size < s.limit {
		return nil
	}
	return s.spill()
}

// spill writes what is in memory to a temporary file.
func (s *identifierSorter) spill() error {
	slices.SortFunc(s.records, bytes.Compare)
	file, err := os.CreateTemp("", "landfall-identifiers-")
	if err != nil {
		return err
	}
	s.files = append(s.files, file)
	// The file disappears with the process, also if that is killed. Where an open file
	// cannot be removed, close removes it.
	_ = os.Remove(file.Name())
	out := bufio.NewWriter(file)
	for _, record := range s.records {
		if _, err := out.Write(binary.AppendUvarint(nil, uint64(len(record)))); err != nil {
			return err
		}
		if _, err := out.Write(record); err != nil {
			return err
		}
	}
	s.records, s.size = nil, 0
	return out.Flush()
}

// close removes the temporary files.
func (s *identifierSorter) close() {
	for _, file := range s.files {
		_ = file.Close()
		_ = os.Remove(file.Name())
	}
}

// recordSource is a sorted sequence of records.
type recordSource struct {
	next []byte
	read func() ([]byte, error)
}

// recordHeap returns the least record of several sources.
type recordHeap []*recordSource

func (h recordHeap) Len() int           { return len(h) }
func (h recordHeap) Less(i, j int) bool { return bytes.Compare(h[i].next, h[j].next) < 0 }
func (h recordHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *recordHeap) Push(x any)        { *h = append(*h, x.(*recordSource)) } //nolint:forcetypeassert // the heap has nothing else
func (h *recordHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// merge calls each with all records in order.
func (s *identifierSorter) merge(each func(name [16]byte, record sharedRecord) error) error {
	slices.SortFunc(s.records, bytes.Compare)
	left := s.records
	var sources recordHeap
	push := func(read func() ([]byte, error)) error {
		next, err := read()
		if next != nil {
			heap.Push(&sources, &recordSource{next, read})
		}
		return err
	}
	if err := push(func() ([]byte, error) {
		if len(left) == 0 {
			return nil, nil
		}
		next := left[0]
		left = left[1:]
		return next, nil
	}); err != nil {
		return err
	}
	for _, file := range s.files {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		in := bufio.NewReader(file)
		if err := push(func() ([]byte, error) {
			length, err := binary.ReadUvarint(in)
			if err == io.EOF { //nolint:errorlint // ReadUvarint returns it as it is
				return nil, nil
			}
			if err != nil {
				return nil, err
			}
			record := make([]byte, length)
			_, err = io.ReadFull(in, record)
			return record, err
		}); err != nil {
			return err
		}
	}
	for len(sources) > 0 {
		source := sources[0]
		var record sharedRecord
		if err := json.Unmarshal(source.next[16:], &record); err != nil {
			return err
		}
		if err := each([16]byte(source.next), record); err != nil {
			return err
		}
		next, err := source.read()
		if err != nil {
			return err
		}
		if source.next = next; next == nil {
			heap.Pop(&sources)
		} else {
			heap.Fix(&sources, 0)
		}
	}
	return nil
}

// overlaps reports whether two accounts have an identifier at the same time.
func (r *sharedRecord) overlaps(other *sharedRecord) bool {
	before := func(to, from string) bool { return to != "" && from != "" && to < from }
	if r.Supplier == other.Supplier && (r.External == other.External || r.Kind == landfall.IdentifierExternalNumber) {
		return false
	}
	return !before(r.To, other.From) && !before(other.To, r.From)
}

// checkAcross reports the accounts of the book that share an identifier, each with
// the other one. Both accounts of a pair are named.
func (r *Checker) checkAcross(of *book.Book) error {
	var name [16]byte
	var group []sharedRecord
	told := map[int]bool{} // of the group
	report := func(one, other *sharedRecord) error { return r.addShared(of, one, other) }
	return r.identifiers.merge(func(next [16]byte, record sharedRecord) error {
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
}

// addShared counts and reports a line that shares an identifier with another line. The
// text of the line is not in memory any more, so it is only listed in the table.
func (r *Checker) addShared(of *book.Book, one, other *sharedRecord) error {
	code, severity := contract.AcrossRule(one.Kind, &r.Settings)
	violations := []landfall.Violation{{
		Attr: one.Attr, Code: code,
		Detail: contract.Meaning(code) + " It is account " + other.External + " at " + of.Files[other.File].At(other.Line) + ".",
	}}
	file := of.Files[one.File]
	mistake := Mistake{File: file, Line: book.Line{Number: one.Line, TooLong: true}, External: one.External, Warnings: violations}
	count := r.result.Counts[file.Kind]
	first := !r.shared[[2]int{one.File, one.Line}]
	r.shared[[2]int{one.File, one.Line}] = true
	if severity == landfall.SeverityError {
		mistake.Warnings = nil
		mistake.Failure = landfall.Failure{Code: landfall.CodeAccountFailedValidation, Detail: "The account data is not valid.", Violations: violations}
		if first {
			count.Wrong++
		}
		r.wrong.Add(mistake.Failure)
	} else {
		if first && !one.Warned {
			count.Warned++
		}
		r.warnings.Add(landfall.Failure{Violations: violations})
	}
	r.result.Counts[file.Kind] = count
	return r.Mistake(mistake)
}

// collectIdentifiers keeps the identifiers of a valid line. Payment instructions may be
// in a file of their own.
func (r *Checker) collectIdentifiers(number int, read checkedLine) error {
	for i := range read.identifiers {
		one := &read.identifiers[i]
		if _, severity := contract.AcrossRule(one.Kind, &r.Settings); severity == landfall.SeverityOff {
			continue
		}
		if err := r.identifiers.add(one, sharedRecord{
			File: number, Line: read.line.Number, Supplier: read.key.Supplier, External: read.key.External, Warned: len(read.warnings) > 0,
		}); err != nil {
			return err
		}
	}
	return nil
}
