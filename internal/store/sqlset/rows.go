package sqlset

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"landfall/internal/store/engine"
)

// Table is how rows of one kind are written, many at a time.
type Table struct {
	// Exact is the error when a row changes nothing; nil allows that.
	Exact error

	name          string
	names, kinds  []string
	values        map[int]func() string // text for SQLite, by number of rows
	before, after string                // text for PostgreSQL around the rows
	copied        string                // the COPY for many rows, if they are simply added
}

// NewTable declares a table to which rows are added. Columns are declared with the type
// that PostgreSQL needs: "ordinal bigint". The texts are made once, and there are few
// different ones, so that a database can keep them prepared.
func NewTable(name string, columns ...string) *Table {
	names, kinds := columnsOf(columns)
	target := name + " (" + strings.Join(names, ", ") + ") "
	into := "INSERT INTO " + target
	return &Table{
		name: name, names: names, kinds: kinds,
		before: into, copied: "COPY " + target + "FROM STDIN (FORMAT binary)",
		values: forSizes(writeSizes, into+"VALUES ", len(columns), ""),
	}
}

// NewCopyTable declares a table to which rows are only ever added by a COPY.
func NewCopyTable(name string, columns ...string) *Table {
	t := NewTable(name, columns...)
	t.before, t.values = "", nil
	return t
}

// NewChange declares a statement that takes its rows as {rows}, which it names w.
func NewChange(text string, columns ...string) *Table {
	names, kinds := columnsOf(columns)
	list := strings.Join(names, ", ")
	before, after, _ := strings.Cut(text, "{rows}")
	return &Table{
		names: names, kinds: kinds,
		before: before + "(", after: ") AS w (" + list + ")" + after,
		values: forSizes(writeSizes, "WITH w ("+list+") AS (VALUES ", len(columns), ") "+before+"w"+after),
	}
}

// SkipExisting leaves rows alone that are there already, by their unique columns.
func (t *Table) SkipExisting(columns string) *Table {
	t.copied = ""
	t.after = " ON CONFLICT (" + columns + ") DO NOTHING"
	t.values = forSizes(writeSizes, t.before+"VALUES ", len(t.kinds), t.after)
	return t
}

// Name returns the name of the table; a change has none.
func (t *Table) Name() string { return t.name }

// Columns returns the names and the types of the columns.
func (t *Table) Columns() (names, kinds []string) { return t.names, t.kinds }

// Rows collects rows of one table until they are written together. A value is an int64,
// a string, a bool, bytes or nil.
type Rows struct {
	Table  *Table
	Values []any // of all rows, one after the other
}

// Add adds a row.
func (r *Rows) Add(values ...any) { r.Values = append(r.Values, values...) }

// Grow makes space for so many more rows.
func (r *Rows) Grow(rows int) { r.Values = slices.Grow(r.Values, rows*r.Width()) }

// Width returns the number of values in a row.
func (r *Rows) Width() int { return len(r.Table.kinds) }

// Len returns the number of rows.
func (r *Rows) Len() int { return len(r.Values) / r.Width() }

const (
	// MinCopy is the number of rows of a table from which a COPY pays. Its set-up is repeated
	// each time; with sixty rows that costs as much as it saves.
	MinCopy = 100
	// maxArray is how many rows go into one statement with arrays.
	maxArray = 4096
)

// Write writes sets of rows: first those that are copied, then the others in the order
// given. The sets are empty afterwards.
func Write(ctx context.Context, t *engine.Tx, sets ...*Rows) error {
	if t.Arrays() {
		if err := writeCopies(ctx, t, sets); err != nil {
			return err
		}
		for slices.ContainsFunc(sets, func(r *Rows) bool { return len(r.Values) > 0 }) {
			if err := writeArrays(ctx, t, sets); err != nil {
				return err
			}
		}
		return nil
	}
	for _, r := range sets {
		for len(r.Values) > 0 {
			count := sizeWithin(r.Len())
			changed, err := t.Exec(ctx, r.Table.values[count](), r.Values[:count*r.Width()]...)
			if err != nil {
				return err
			}
			if r.Table.Exact != nil && changed != int64(count) {
				return r.Table.Exact
			}
			r.Values = r.Values[count*r.Width():]
		}
	}
	return nil
}

// writeCopies copies the sets that are long enough, all in one exchange. If nothing else
// would be left to write, the short ones go along.
func writeCopies(ctx context.Context, t *engine.Tx, sets []*Rows) error {
	long, all := false, true
	for _, r := range sets {
		long = long || r.copies(MinCopy)
		all = all && (len(r.Values) == 0 || r.copies(1))
	}
	if !long {
		return nil
	}
	fewest := MinCopy
	if all {
		fewest = 1
	}
	var tables []engine.Copied
	for _, r := range sets {
		if r.copies(fewest) {
			tables = append(tables, engine.Copied{Text: r.Table.copied, Kinds: r.Table.kinds, Rows: r.Values})
			r.Values = nil
		}
	}
	return t.Copy(ctx, tables...)
}

// copies reports whether a set is copied if so many rows are worth it.
func (r *Rows) copies(fewest int) bool {
	if r.Table.before == "" {
		fewest = 1
	}
	return r.Table.copied != "" && len(r.Values) >= fewest*r.Width()
}

// writeArrays takes as much of each set as one statement may hold and puts all of it into
// one statement; PostgreSQL runs every part of it.
func writeArrays(ctx context.Context, t *engine.Tx, sets []*Rows) error {
	var parts []string
	var args []any
	// PostgreSQL reports how many rows the last part changed and nothing about those
	// before, so a table that has to be exact comes last.
	var exact error
	count := 0 // of the last part
	for _, r := range sets {
		if len(r.Values) == 0 {
			continue
		}
		taken := r.Values[:min(len(r.Values), maxArray*r.Width())]
		r.Values = r.Values[len(taken):]
		parts = append(parts, r.Table.before+"SELECT * FROM "+unnest(r.Table.kinds, len(args)+1)+r.Table.after)
		args = append(args, engine.Columns(taken, r.Width())...)
		exact, count = r.Table.Exact, len(taken)/r.Width()
	}
	changed, err := t.Exec(ctx, oneStatement(parts), args...)
	if err == nil && exact != nil && changed != int64(count) {
		return exact
	}
	return err
}

// oneStatement makes one statement of several writes. All parts see the same snapshot and
// not each other's rows, so their order does not matter.
func oneStatement(writes []string) string {
	last := len(writes) - 1
	if last == 0 {
		return writes[0]
	}
	parts := make([]string, last)
	for i, write := range writes[:last] {
		parts[i] = "part" + strconv.Itoa(i) + " AS (" + write + ")"
	}
	return "WITH " + strings.Join(parts, ", ") + " " + writes[last]
}
