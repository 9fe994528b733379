package sqlstore

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"landfall/internal/store/engine"
)

// table is a table whose rows are written many at a time. Columns are declared
// with the type PostgreSQL needs to hear: "ordinal bigint".
//
// SQLite takes one parameter per value and is prepared for a few numbers of
// rows. PostgreSQL takes each column as one array, and all tables in one
// statement: round trips and thousands of parameters cost it more than the rows.
// Where there are many of those it takes them as a copy, which costs it half of that.
type table struct {
	values        map[int]string // text for SQLite by number of rows
	before, after string         // text for PostgreSQL around the rows
	copied        string         // text for PostgreSQL with many rows, if they are simply added
	kinds         []string       // of the columns
	seals         []sealedColumn // those that are sealed where anything is
	exact         bool           // a row that changes nothing is a fault
}

// rowSizes are the numbers of rows SQLite is prepared to write at once. What a
// caller posts may be thousands, and everybody waits until they are written.
var rowSizes = append(slices.Clone(batchSizes), 512)

// errMoved means that an account is not as it was when it was locked.
var errMoved = errors.New("the ledger of an account changed under its lock")

// newTable writes the texts when the program starts. There are few different ones, so
// that a database may keep them prepared.
func newTable(name string, columns ...string) *table {
	names, marks, kinds := make([]string, len(columns)), make([]string, len(columns)), make([]string, len(columns))
	for i, column := range columns {
		names[i], kinds[i], _ = strings.Cut(column, " ")
		marks[i] = "$" + strconv.Itoa(i+1)
	}
	columnsOf := name + " (" + strings.Join(names, ", ") + ") "
	into := "INSERT INTO " + columnsOf
	return &table{
		before: into, copied: "COPY " + columnsOf + "FROM STDIN (FORMAT binary)", kinds: kinds, seals: sealsOf(name, names, kinds),
		values: forSizes(rowSizes, into+"VALUES ", "("+strings.Join(marks, ", ")+")", ""),
	}
}

// skipping leaves alone the rows that are there already, by their unique columns.
func (t *table) skipping(columns string) *table {
	t.copied = ""
	t.after = " ON CONFLICT (" + columns + ") DO NOTHING"
	for size, text := range t.values {
		t.values[size] = text + t.after
	}
	return t
}

// arrays writes the text for PostgreSQL, its parameters numbered from first.
func (t *table) arrays(first int) string {
	parts := make([]string, len(t.kinds))
	for i, kind := range t.kinds {
		parts[i] = "$" + strconv.Itoa(first+i) + "::" + kind + "[]"
	}
	return t.before + "SELECT * FROM unnest(" + strings.Join(parts, ", ") + ")" + t.after
}

// pile gathers rows of one table until they are written together. A value is
// an int64, a string, a bool, bytes or nil.
type pile struct {
	table *table
	rows  []any
}

func (p *pile) add(values ...any) { p.rows = append(p.rows, values...) }

// room makes place for so many rows more: a pile that grows by itself is copied
// again and again.
func (p *pile) room(rows int) { p.rows = slices.Grow(p.rows, rows*p.width()) }

func (p *pile) width() int { return len(p.table.kinds) }

// fewestCopied is how many rows of a table are worth a command of their own: that is set
// up anew each time, and with sixty it costs as much as it saves.
const fewestCopied = 100

// longestArray is how many rows go into one statement with arrays.
const longestArray = 4096

// write writes piles, those that are copied first, the others in the order given.
func (t *tx) write(ctx context.Context, piles ...*pile) error {
	for _, p := range piles {
		if err := t.safe.rows(p); err != nil {
			return err
		}
	}
	if t.engine.Arrays() {
		if err := t.copyLong(ctx, piles); err != nil {
			return err
		}
	}
	for t.engine.Arrays() && slices.ContainsFunc(piles, func(p *pile) bool { return len(p.rows) > 0 }) {
		if err := t.writeArrays(ctx, piles); err != nil {
			return err
		}
	}
	for _, p := range piles {
		for len(p.rows) > 0 {
			// What changes rows instead of adding them has texts for the small sizes
			// only.
			sizes := rowSizes
			if p.table.exact {
				sizes = batchSizes
			}
			count := sizeWithin(sizes, len(p.rows)/p.width())
			changed, err := t.exec(ctx, p.table.values[count], p.rows[:count*p.width()]...)
			if err != nil {
				return err
			}
			if p.table.exact && changed != int64(count) {
				return errMoved
			}
			p.rows = p.rows[count*p.width():]
		}
	}
	return nil
}

// copyLong copies those piles for which it is worth it, all in one exchange. Where nothing
// would be left to be written otherwise, the short ones go along.
func (t *tx) copyLong(ctx context.Context, piles []*pile) error {
	long, all := false, true
	for _, p := range piles {
		long = long || p.copied(fewestCopied)
		all = all && (len(p.rows) == 0 || p.copied(1))
	}
	if !long {
		return nil
	}
	fewest := fewestCopied
	if all {
		fewest = 1
	}
	var tables []engine.Copied
	for _, p := range piles {
		if p.copied(fewest) {
			tables = append(tables, engine.Copied{Text: p.table.copied, Kinds: p.table.kinds, Rows: p.rows})
			p.rows = nil
		}
	}
	return known(t.engine.Copy(ctx, tables...))
}

// copied says whether a pile is copied if so many rows are worth it. There are tables
// whose rows are written in no other way.
func (p *pile) copied(fewest int) bool {
	if p.table.before == "" {
		fewest = 1
	}
	return p.table.copied != "" && len(p.rows) >= fewest*p.width()
}

// writeArrays takes as much off each pile as one statement may hold, and puts
// all of it into one statement: PostgreSQL runs every part of it.
func (t *tx) writeArrays(ctx context.Context, piles []*pile) error {
	var parts []string
	var args []any
	// PostgreSQL tells how many rows the last part of a statement changed and nothing
	// of those before. Therefore a table that has to be exact stands last.
	exact := -1 // how many rows the last part has to change
	for _, p := range piles {
		if len(p.rows) == 0 {
			continue
		}
		part, columns, taken := p.arrays(len(args) + 1)
		parts, args = append(parts, part), append(args, columns...)
		if exact = -1; p.table.exact {
			exact = taken
		}
	}
	changed, err := t.exec(ctx, oneStatement(parts), args...)
	if err == nil && exact >= 0 && changed != int64(exact) {
		return errMoved
	}
	return err
}

// arrays takes as many rows off the pile as one statement may hold, and gives
// the text that writes them with its parameters, numbered from first.
func (p *pile) arrays(first int) (text string, columns []any, taken int) {
	rows := p.rows[:min(len(p.rows), longestArray*p.width())]
	p.rows = p.rows[len(rows):]
	return p.table.arrays(first), engine.Columns(rows, p.width()), len(rows) / p.width()
}

// oneStatement makes one statement of several writes.
// Parts see the same snapshot and not each other's rows, so that the order of the
// parts is of no concern.
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
