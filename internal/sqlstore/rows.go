package sqlstore

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// table is a table whose rows are written many at a time. Columns are declared
// with the type PostgreSQL needs to hear: "ordinal bigint".
//
// SQLite takes one parameter per value and is prepared for a few numbers of
// rows. PostgreSQL takes each column as one array: a round trip and thousands of
// parameters cost it more than the rows.
type table struct {
	width  int
	values map[int]string // text for SQLite by number of rows
	arrays string         // text for PostgreSQL
}

func newTable(name string, columns ...string) *table {
	names, marks, arrays := make([]string, len(columns)), make([]string, len(columns)), make([]string, len(columns))
	for i, column := range columns {
		name, kind, _ := strings.Cut(column, " ")
		names[i], marks[i] = name, "$"+strconv.Itoa(i+1)
		arrays[i] = marks[i] + "::" + kind + "[]"
	}
	into := "INSERT INTO " + name + " (" + strings.Join(names, ", ") + ") "
	return &table{
		width:  len(columns),
		values: forSizes(into+"VALUES ", "("+strings.Join(marks, ", ")+")", ""),
		arrays: into + "SELECT * FROM unnest(" + strings.Join(arrays, ", ") + ")",
	}
}

// pile gathers rows of one table until they are written together. A value is
// an int64, a string, a bool or nil.
type pile struct {
	table *table
	rows  []any
}

func (p *pile) add(values ...any) { p.rows = append(p.rows, values...) }

// longestArray is how many rows go into one statement with arrays.
const longestArray = 4096

// write inserts piles in the order given.
func (t *tx) write(ctx context.Context, piles ...*pile) error {
	for _, p := range piles {
		for rows := p.rows; len(rows) > 0; {
			count := len(rows) / p.table.width
			var err error
			if t.dialect.arrays {
				count = min(count, longestArray)
				err = t.writeArrays(ctx, p.table, rows[:count*p.table.width])
			} else {
				count = sizeWithin(count)
				_, err = t.exec(ctx, p.table.values[count], rows[:count*p.table.width]...)
			}
			if err != nil {
				return err
			}
			rows = rows[count*p.table.width:]
		}
	}
	return nil
}

func (t *tx) writeArrays(ctx context.Context, into *table, rows []any) error {
	args := make([]any, into.width)
	for column := range into.width {
		text, err := array(rows, column, into.width)
		if err != nil {
			return err
		}
		args[column] = text
	}
	_, err := t.exec(ctx, into.arrays, args...)
	return err
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
