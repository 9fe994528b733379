package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// table is a table whose rows are written many at a time. Columns are declared
// with the type PostgreSQL needs to hear: "ordinal bigint".
//
// SQLite takes one parameter per value and is prepared for a few numbers of
// rows. PostgreSQL takes each column as one array, and all tables in one
// statement: round trips and thousands of parameters cost it more than the rows.
type table struct {
	values        map[int]string // text for SQLite by number of rows
	before, after string         // text for PostgreSQL around the rows
	kinds         []string       // of the columns
	seals         []seal         // those that are sealed where anything is
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
	into := "INSERT INTO " + name + " (" + strings.Join(names, ", ") + ") "
	return &table{before: into, kinds: kinds, seals: sealsOf(name, names, kinds), values: forSizes(rowSizes, into+"VALUES ", "("+strings.Join(marks, ", ")+")", "")}
}

// skipping leaves alone the rows that are there already, by their unique columns.
func (t *table) skipping(columns string) *table {
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

func (p *pile) width() int { return len(p.table.kinds) }

// longestArray is how many rows go into one statement with arrays.
const longestArray = 4096

// write writes piles in the order given.
func (t *tx) write(ctx context.Context, piles ...*pile) error {
	for _, p := range piles {
		if err := t.safe.rows(p); err != nil {
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
		part, columns, taken, err := p.arrays(len(args) + 1)
		if err != nil {
			return err
		}
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
func (p *pile) arrays(first int) (text string, columns []any, taken int, err error) {
	rows := p.rows[:min(len(p.rows), longestArray*p.width())]
	p.rows = p.rows[len(rows):]
	columns, err = arrays(rows, p.table.kinds)
	return p.table.arrays(first), columns, len(rows) / p.width(), err
}

// arrays makes an array of each column of rows: one the driver sends as it is
// where every value is of one plain kind, and else a constant of PostgreSQL.
func arrays(rows []any, kinds []string) (columns []any, err error) {
	columns = make([]any, len(kinds))
	for column, kind := range kinds {
		plain := false
		switch kind {
		case "bigint":
			columns[column], plain = plainly[int64](rows, column, len(kinds))
		case "text":
			columns[column], plain = plainly[string](rows, column, len(kinds))
		case "bytea":
			columns[column], plain = plainly[[]byte](rows, column, len(kinds))
		}
		if plain {
			continue
		}
		if columns[column], err = array(rows, column, len(kinds)); err != nil {
			return nil, err
		}
	}
	return columns, nil
}

// plainly gives every width-th value, if all of them are of one kind.
func plainly[T any](rows []any, column, width int) (values []T, plain bool) {
	values = make([]T, 0, len(rows)/width)
	for i := column; i < len(rows); i += width {
		value, is := rows[i].(T)
		if !is {
			return nil, false
		}
		values = append(values, value)
	}
	return values, true
}

// oneStatement makes one statement of several writes.
// Parts see the same snapshot and not each other's rows; foreign keys are checked
// when all of them are done, so that the order of the parts is of no concern.
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

// array spells every width-th value as a constant of PostgreSQL.
func array(rows []any, column, width int) (string, error) {
	text := make([]byte, 1, 16*len(rows)/width+2)
	text[0] = '{'
	for i := column; i < len(rows); i += width {
		if i > column {
			text = append(text, ',')
		}
		switch value := rows[i].(type) {
		case nil:
			text = append(text, "NULL"...)
		case int64:
			text = strconv.AppendInt(text, value, 10)
		case bool:
			text = strconv.AppendBool(text, value)
		case string:
			text = quote(text, value)
		default:
			return "", fmt.Errorf("a row holds a %T", value)
		}
	}
	return string(append(text, '}')), nil
}

// quote writes a text for an array constant. Between the quotes only these two signs
// mean anything, and a text that reads NULL is a text.
func quote(dst []byte, text string) []byte {
	dst = append(dst, '"')
	for {
		at := strings.IndexAny(text, `"\`)
		if at < 0 {
			return append(append(dst, text...), '"')
		}
		dst = append(append(dst, text[:at]...), '\\', text[at])
		text = text[at+1:]
	}
}
