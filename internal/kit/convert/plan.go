package convert

import (
	"path/filepath"
	"slices"

	"landfall/internal/api/rules"
	"landfall/internal/kit/book"
	"landfall/internal/lib/yamltree"
)

// plan is a valid map together with its tables.
type plan struct {
	supplier string
	tables   []*sourceTable // inner tables first
	totals   []byte         // control totals in the map itself
}

// sourceTable is a table of the old system.
type sourceTable struct {
	name    string
	line    int
	number  int // index in the plan
	paths   []string
	blank   []string // names of files without any text
	unique  bool     // rows that are repeated are dropped
	bytes   int64    // total size of its files
	columns []string
	named   map[int]bool // columns used by the map
	headed  bool         // the first line of its files names the columns
	unread  bool         // its files could not be read, which was reported
	dialect dialect
	layout  layout
	dropped droppedRows     // rows that the map drops because of other rows
	tied    droppedRows     // rows that are reported because it is not known which of them is used
	mixed   map[int]mixture // columns with values that contradict each other
	figures map[int]bool    // columns that the map reads as numbers or dates
	places  []*place        // a row goes to the first one whose condition holds
	groups  []*linkGroup    // the tables whose rows belong to its rows
	below   []*sourceTable  // all tables whose rows can be inside its objects

	node    *yamltree.Node
	holders []*place // places of other tables, by mark
}

// shortName returns the file name of the table, for messages.
func (t *sourceTable) shortName() string {
	if len(t.paths) == 0 {
		return t.name
	}
	return filepath.Base(t.paths[0])
}

// mention records that the map uses a column.
func (t *sourceTable) mention(column int) {
	if t.named == nil {
		t.named = map[int]bool{}
	}
	t.named[column] = true
}

// unused returns the columns that the map does not use in any table of the same file.
func (p *plan) unused(t *sourceTable) (names []string) {
	for at, name := range t.columns {
		used := slices.ContainsFunc(p.tables, func(other *sourceTable) bool {
			return t.sharesColumns(other) && other.named[at]
		})
		if !used && name != "" {
			names = append(names, name)
		}
	}
	return names
}

// sharesColumns reports whether two tables read the same columns of the same files. A workbook has several
// sheets, and a file can have rows of several kinds.
func (t *sourceTable) sharesColumns(other *sourceTable) bool {
	return slices.Equal(t.paths, other.paths) && t.layout.sheet == other.layout.sheet && slices.Equal(t.columns, other.columns)
}

// file returns the file and line of a row.
func (t *sourceTable) file(at uint64) (name string, line int) {
	return filepath.Base(t.paths[at>>lineBits]), int(at & (1<<lineBits - 1))
}

// lineBits is enough for the lines of any file, and leaves enough for the files.
const lineBits = 44

// mode is how rows are inserted into their parent.
type mode uint8

// The modes.
const (
	asRoot    mode = iota // lines of the book
	asList                // objects of a list
	asObject              // one object
	asMembers             // further members of the same object
)

// place is where rows of a table go.
type place struct {
	table   *sourceTable
	index   byte // index among the places of its table
	line    int
	mode    mode
	stem    string // for a root: the file of the book
	parent  *sourceTable
	path    string // path of the attr in the parent's object
	mark    byte
	key     []*expression // the account of a root, or the link to the parent
	linked  []string      // the names of those columns, for messages
	when    []test
	members []objectMember
	most    int    // maximum number of rows in a list
	needed  bool   // the list is required even if it is empty
	name    []byte // of the attr, with quotes and colon
	strict  bool   // a parent must not refer to a missing row
	orphans bool   // rows for accounts that are not in the book are kept
	drop    string // why rows without an account or a parent are dropped, or ""
	several rowChoice
	rivals  []*place // other places of its table that fill the same attrs of the same object
	object  *rules.Table
	broken  bool // already reported as wrong

	node   *yamltree.Node
	sorter *sorter
}

// withholds reports whether a row is not written if a row that belongs to it here is reported: its
// members, or a figure of several rows, would be incomplete. A list only lacks the row.
func (p *place) withholds() bool {
	return p.mode == asMembers || p.mode == asObject || p.mode == asList && p.several.how != ""
}

// accountsPlace returns the place of accounts, or nil.
func (t *sourceTable) accountsPlace() *place {
	for _, p := range t.places {
		if p.stem == book.Accounts.Stem {
			return p
		}
	}
	return nil
}

// where names the place in messages.
func (p *place) where() string {
	switch p.mode {
	case asRoot:
		return p.stem
	case asMembers:
		return p.parent.name
	}
	return p.parent.name + "." + p.path
}

// linkGroup is a set of places linked to a parent by the same columns. The parent is sorted once
// for all of them.
type linkGroup struct {
	id     string
	key    []*expression
	linked []string
	places []*place
}
