package sqlstore

import (
	"strconv"
	"strings"

	"landfall/internal/store/engine"
)

// batch is a statement about rows that callers want, which it calls wanted.
// SQLite is prepared for a few numbers of rows and gets one parameter per
// value, padded with NULLs to the next number. PostgreSQL gets each column as
// one array, however long: half of what a large batch costs it with a parameter
// per value is reading those.
type batch struct {
	values map[int]string
	arrays string
	kinds  []string
}

// newBatch declares a statement. Columns are declared as those of a table. Where
// the query says {in order} rows come in the order they were given.
func newBatch(query string, columns ...string) batch {
	b := batch{kinds: make([]string, len(columns))}
	names, marks, parts := make([]string, len(columns)), make([]string, len(columns)), make([]string, len(columns))
	for i, column := range columns {
		names[i], b.kinds[i], _ = strings.Cut(column, " ")
		marks[i] = "$" + strconv.Itoa(i+1)
		parts[i] = marks[i] + "::" + b.kinds[i] + "[]"
	}
	list := strings.Join(names, ", ")
	b.values = forSizes(batchSizes, `WITH wanted (`+list+`) AS (VALUES `, `(`+strings.Join(marks, ", ")+`)`,
		`)`+strings.ReplaceAll(query, "{in order}", ""))
	// The planner may join from either side, and only a sort keeps the order.
	b.arrays = `WITH wanted (` + list + `, place) AS (SELECT * FROM unnest(` + strings.Join(parts, ", ") + `) WITH ORDINALITY)` +
		strings.ReplaceAll(query, "{in order}", "ORDER BY w.place")
	return b
}

// of gives the text and the parameters for rows, one value after the other.
func (b batch) of(asArrays bool, rows []any) (text string, args []any) {
	width := len(b.kinds)
	if asArrays {
		return b.arrays, engine.Columns(rows, width)
	}
	size := sizeFor(len(rows) / width)
	return b.values[size], pad(rows, width*size)
}
