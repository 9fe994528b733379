package convert

import (
	"path/filepath"
	"slices"

	"landfall/internal/api/rules"
	"landfall/internal/lib/yamltree"
)

// plan is a map that makes sense, put together with the tables it is about.
type plan struct {
	supplier string
	tables   []*sourceTable // those that others wait for first
	totals   []byte         // the control totals, where the map says them itself
}

// sourceTable is a table of the old system.
type sourceTable struct {
	name    string
	line    int
	number  int // among the tables of the plan
	paths   []string
	bytes   int64 // of its files
	columns []string
	named   map[int]bool // columns that the map has a use for
	headed  bool         // the first line of its files names the columns
	unread  bool         // its files could not be read; that has been said
	dialect dialect
	places  []*place       // where its rows go; the first that wants a row has it
	groups  []*linkGroup   // the tables whose rows belong to its rows
	below   []*sourceTable // all tables whose rows can be inside its objects

	node    *yamltree.Node
	holders []*place // places of other tables, in the order of their marks
}

// shortName is what a person calls the table: its file, without the folders.
func (t *sourceTable) shortName() string {
	if len(t.paths) == 0 {
		return t.name
	}
	return filepath.Base(t.paths[0])
}

// mention notes that the map has a use for a column.
func (t *sourceTable) mention(column int) {
	if t.named == nil {
		t.named = map[int]bool{}
	}
	t.named[column] = true
}

// unused are the columns that the map has no use for, under whichever name it
// reads the same file.
func (p *plan) unused(t *sourceTable) (names []string) {
	for at, name := range t.columns {
		used := slices.ContainsFunc(p.tables, func(other *sourceTable) bool {
			return slices.Equal(other.paths, t.paths) && other.named[at]
		})
		if !used && name != "" {
			names = append(names, name)
		}
	}
	return names
}

// file names the file of a row.
func (t *sourceTable) file(at uint64) (name string, line int) {
	return filepath.Base(t.paths[at>>lineBits]), int(at & (1<<lineBits - 1))
}

// lineBits leaves room for files of as many lines as anybody has, and for as
// many files.
const lineBits = 44

// mode is how rows come into their parent.
type mode uint8

// The modes.
const (
	asRoot    mode = iota // they are lines of the book themselves
	asList                // each is an object of a list
	asObject              // the one row is an object
	asMembers             // the one row has further members of the same object
)

// place is where rows of a table go.
type place struct {
	table   *sourceTable
	index   byte // among the places of its table
	line    int
	mode    mode
	stem    string // of a root: the file of the book
	parent  *sourceTable
	path    string // of the attr, from the parent's object
	mark    byte
	key     []*expression // the account of a root, or what links a row to its parent
	linked  []string      // the names of those columns, for people
	when    []test
	members []objectMember
	most    int    // rows a list may have
	needed  bool   // the list must be there even if it is empty
	name    []byte // of the attr, with quotes and colon
	strict  bool   // a parent that refers to a row which is not there is wrong
	orphans bool   // rows for accounts that are not in the book are kept
	object  *rules.Table
	broken  bool // what is wrong with it has been said

	node   *yamltree.Node
	sorter *sorter
}

// where names a place for people.
func (p *place) where() string {
	switch p.mode {
	case asRoot:
		return p.stem
	case asMembers:
		return p.parent.name
	}
	return p.parent.name + "." + p.path
}

// linkGroup is the places whose rows are linked to a parent by the same columns of
// it: one sorting of the parent serves them all.
type linkGroup struct {
	id     string
	key    []*expression
	linked []string
	places []*place
}
