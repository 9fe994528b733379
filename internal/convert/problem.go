package convert

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
)

// ProblemKind is why a row is not in the book.
type ProblemKind string

// The kinds.
const (
	Malformed     ProblemKind = "malformed"     // it is no row of its table
	Unconvertible ProblemKind = "unconvertible" // a value cannot be made what it should be
	Orphan        ProblemKind = "orphan"        // what it belongs to is not there
	Missing       ProblemKind = "missing"       // what it refers to is not there
	Duplicate     ProblemKind = "duplicate"     // an account is there already
	Surplus       ProblemKind = "surplus"       // there are more than a list can have
)

// Kinds gives them in the order in which they are shown.
func Kinds() []ProblemKind {
	return []ProblemKind{Malformed, Unconvertible, Orphan, Missing, Duplicate, Surplus}
}

// Problem is a row that is not in the book, and what to do about it.
type Problem struct {
	Table  string      `json:"table"`
	File   string      `json:"file"`
	Line   int         `json:"line"`
	Kind   ProblemKind `json:"kind"`
	Column string      `json:"column,omitempty"`
	Value  string      `json:"value,omitempty"`
	What   string      `json:"what"`
}

// Tally accounts for the rows of a table: Read is the sum of all the others.
type Tally struct {
	Table       string              `json:"table"`
	Files       []string            `json:"files"`
	Read        int                 `json:"read"`
	Used        int                 `json:"used"`
	PassedOver  int                 `json:"passed_over"`  // no condition of the map wants them
	NotReferred int                 `json:"not_referred"` // rows with further members that nothing refers to
	LeftOut     int                 `json:"left_out"`     // with the row they belong to, which has a problem
	Problems    map[ProblemKind]int `json:"problems"`
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
	return t.Read == t.Used+t.PassedOver+t.NotReferred+t.LeftOut+t.Reported()
}

// Trouble is a kind of problem with how often it occurs and the first of them.
type Trouble struct {
	Count int     `json:"count"`
	First Problem `json:"first"`
}

// mostTroubles bounds what is remembered of a table gone wrong in many ways;
// problems.csv has them all.
const mostTroubles = 1_000

// complaints writes every problem down and remembers what is usual about them.
type complaints struct {
	path     string
	file     *os.File
	buffer   *bufio.Writer
	out      *csv.Writer
	troubles map[Problem]*Trouble
	count    int
}

// add writes a problem down.
func (c *complaints) add(p Problem) error {
	if c.file == nil {
		file, err := os.OpenFile(c.path, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		c.file, c.buffer = file, bufio.NewWriterSize(file, 64<<10)
		c.out = csv.NewWriter(c.buffer)
		if err := c.out.Write([]string{"table", "file", "line", "kind", "column", "value", "what"}); err != nil {
			return err
		}
	}
	c.count++
	usual := Problem{Table: p.Table, Kind: p.Kind, Column: p.Column, What: p.What}
	if trouble := c.troubles[usual]; trouble != nil {
		trouble.Count++
	} else if len(c.troubles) < mostTroubles {
		c.troubles[usual] = &Trouble{1, p}
	}
	return c.out.Write([]string{p.Table, p.File, strconv.Itoa(p.Line), string(p.Kind), harmless(p.Column), harmless(p.Value), harmless(p.What)})
}

// harmless keeps a spreadsheet from taking a value for a formula.
func harmless(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}

// close makes the file durable, if there is one.
func (c *complaints) close() error {
	if c.file == nil {
		return nil
	}
	c.out.Flush()
	err := errors.Join(c.out.Error(), c.buffer.Flush(), c.file.Sync(), c.file.Close())
	c.file = nil
	return err
}

// ranked gives the troubles, the most frequent first.
func (c *complaints) ranked() []Trouble {
	list := []Trouble{}
	for _, trouble := range c.troubles {
		list = append(list, *trouble)
	}
	slices.SortFunc(list, func(a, b Trouble) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.First.Table, b.First.Table),
			cmp.Compare(a.First.File, b.First.File), cmp.Compare(a.First.Line, b.First.Line), cmp.Compare(a.First.What, b.First.What))
	})
	return list
}
