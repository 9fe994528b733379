package convert

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"landfall/internal/lib/spreadsheet"
)

// ProblemKind is the reason why a row is not in the book.
type ProblemKind string

// The kinds.
const (
	Malformed     ProblemKind = "malformed"     // not a row of its table
	Unconvertible ProblemKind = "unconvertible" // a value cannot be converted
	Orphan        ProblemKind = "orphan"        // its parent does not exist
	Missing       ProblemKind = "missing"       // it refers to a missing row
	Duplicate     ProblemKind = "duplicate"     // the account already exists
	Surplus       ProblemKind = "surplus"       // more rows than a list can have
	Repeated      ProblemKind = "repeated"      // the same row comes before it
	Incomplete    ProblemKind = "incomplete"    // a row that is a part of it has a problem
)

// Problem is a row that is not in the book, with the reason.
type Problem struct {
	Table  string      `json:"table"`
	File   string      `json:"file"`
	Line   int         `json:"line"`
	Kind   ProblemKind `json:"kind"`
	Column string      `json:"column,omitempty"`
	Value  string      `json:"value,omitempty"`
	What   string      `json:"what"`
	// Acknowledged is true if the map says that the row is not needed.
	Acknowledged bool `json:"acknowledged,omitempty"`

	where string // what differs between rows with the same problem; it becomes the beginning of What
}

// Tally counts the rows of a table. Read is the sum of all others.
type Tally struct {
	Table       string              `json:"table"`
	Files       []string            `json:"files"`
	Paths       []string            `json:"-"` // of the files
	Read        int                 `json:"read"`
	Used        int                 `json:"used"`
	PassedOver  int                 `json:"passed_over"`  // no condition of the map matches them
	NotReferred int                 `json:"not_referred"` // rows with further members that nothing refers to
	LeftOut     int                 `json:"left_out"`     // belong to a row with a problem
	Problems    map[ProblemKind]int `json:"problems"`

	Acknowledged int      `json:"acknowledged,omitempty"`   // reported, but not needed, as the map says
	Unused       []string `json:"unused_columns,omitempty"` // not used by the map
	Blank        []string `json:"empty_files,omitempty"`    // files without any text
	Sheets       []string `json:"unread_sheets,omitempty"`  // of its workbooks, if no table reads them
}

// Reported counts the rows with a problem of their own.
func (t *Tally) Reported() (sum int) {
	for _, count := range t.Problems {
		sum += count
	}
	return sum
}

// adds reports whether every row is accounted for.
func (t *Tally) adds() bool {
	return t.Read == t.Used+t.PassedOver+t.NotReferred+t.LeftOut+t.Acknowledged+t.Reported()
}

// ProblemCount is a problem, how often it occurs, and its first occurrence.
type ProblemCount struct {
	Count int     `json:"count"`
	First Problem `json:"first"`
}

// maxProblemKinds limits the memory for a table with many different problems; problems.csv has all of
// them.
const maxProblemKinds = 1_000

// tableTally collects the counts and problems of one table. It is used concurrently.
type tableTally struct {
	mutex    sync.Mutex
	tally    Tally
	path     string // of the problems, until they are put together
	file     *os.File
	buffer   *bufio.Writer
	out      *spreadsheet.Writer
	troubles map[Problem]*ProblemCount
}

// newTableTally creates the tally of a table.
func newTableTally(t *sourceTable, folder string) *tableTally {
	return &tableTally{
		tally:    Tally{Table: t.name, Problems: map[ProblemKind]int{}},
		path:     filepath.Join(folder, fmt.Sprintf("problems-%d", t.number)),
		troubles: map[Problem]*ProblemCount{},
	}
}

// read counts rows that were read, and those that no condition matches.
func (a *tableTally) read(rows, passed int) {
	a.mutex.Lock()
	a.tally.Read += rows
	a.tally.PassedOver += passed
	a.mutex.Unlock()
}

// use counts rows that are in the book.
func (a *tableTally) use(rows int) {
	a.mutex.Lock()
	a.tally.Used += rows
	a.mutex.Unlock()
}

// leaveOut counts rows that were left out with their parent.
func (a *tableTally) leaveOut(rows int) {
	a.mutex.Lock()
	a.tally.LeftOut += rows
	a.mutex.Unlock()
}

// notReferred counts a row that nothing refers to.
func (a *tableTally) notReferred() {
	a.mutex.Lock()
	a.tally.NotReferred++
	a.mutex.Unlock()
}

// problem records a problem.
func (a *tableTally) problem(p Problem) error {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	// Most tables have no problems and need no file.
	if a.file == nil {
		file, err := os.OpenFile(a.path, os.O_CREATE|os.O_RDWR|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		a.file, a.buffer = file, bufio.NewWriterSize(file, 64<<10)
		a.out = spreadsheet.NewWriter(a.buffer)
	}
	p.Table = a.tally.Table
	if p.Acknowledged {
		a.tally.Acknowledged++
	} else {
		a.tally.Problems[p.Kind]++
	}
	// Without file, line and value, rows with the same mistake are grouped.
	usual := Problem{Table: p.Table, Kind: p.Kind, Column: p.Column, What: p.What, Acknowledged: p.Acknowledged}
	p.What, p.where = p.where+p.What, ""
	if trouble := a.troubles[usual]; trouble != nil {
		trouble.Count++
	} else if len(a.troubles) < maxProblemKinds {
		a.troubles[usual] = &ProblemCount{1, p}
	}
	return a.out.Write(p.Table, p.File, strconv.Itoa(p.Line), string(p.Kind), p.Column, p.Value, p.What)
}

// writeProblems writes the problems of all tables into one file, if there are any.
func writeProblems(path string, accounts []*tableTally) (err error) {
	if !slices.ContainsFunc(accounts, func(a *tableTally) bool { return a.file != nil }) {
		return nil
	}
	out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if _, err := out.WriteString("table,file,line,kind,column,value,what\n"); err != nil {
		return err
	}
	for _, a := range accounts {
		if a.file == nil {
			continue
		}
		if err := errors.Join(a.out.Flush(), a.buffer.Flush()); err != nil {
			return err
		}
		if _, err := a.file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.Copy(out, a.file); err != nil {
			return err
		}
		if err := a.file.Close(); err != nil {
			return err
		}
	}
	return out.Sync()
}

// rankProblems returns the troubles of all tables, most frequent first.
func rankProblems(accounts []*tableTally) []ProblemCount {
	list := []ProblemCount{}
	for _, a := range accounts {
		for _, trouble := range a.troubles {
			list = append(list, *trouble)
		}
	}
	// Ties are broken, so that the same tables give the same report.
	slices.SortFunc(list, func(a, b ProblemCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.First.Table, b.First.Table),
			cmp.Compare(a.First.File, b.First.File), cmp.Compare(a.First.Line, b.First.Line), cmp.Compare(a.First.What, b.First.What))
	})
	return list
}
