package sqlset

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"landfall/internal/store/engine"
)

// Query is a statement about up to MaxBatch rows, which it calls wanted. On PostgreSQL
// there may be more.
type Query struct {
	values map[int]func() string // for SQLite, by number of rows
	arrays string                // for PostgreSQL
	kinds  []string
}

// NewQuery declares a query. Columns are declared with the type that PostgreSQL needs:
// "ordinal bigint". The query names the rows w; where it says {in order} they come in
// the order they were given.
func NewQuery(text string, columns ...string) Query {
	names, kinds := columnsOf(columns)
	list := strings.Join(names, ", ")
	return Query{
		kinds: kinds,
		values: forSizes(querySizes, `WITH wanted (`+list+`) AS (VALUES `, len(columns),
			`)`+strings.ReplaceAll(text, "{in order}", "")),
		// The planner may join from either side, so only a sort keeps the order.
		arrays: `WITH wanted (` + list + `, position) AS (SELECT * FROM ` + unnest(kinds, 1) + ` WITH ORDINALITY)` +
			strings.ReplaceAll(text, "{in order}", "ORDER BY w.position"),
	}
}

// Width returns the number of values in a row.
func (q *Query) Width() int { return len(q.kinds) }

// Arrays returns the text for PostgreSQL.
func (q *Query) Arrays() string { return q.arrays }

// For returns the text and the parameters for rows, one value after the other.
func (q *Query) For(t *engine.Tx, rows []any) (text string, args []any) {
	if t.Arrays() {
		return q.arrays, engine.Columns(rows, len(q.kinds))
	}
	size := sizeFor(len(rows) / len(q.kinds))
	for len(rows) < size*len(q.kinds) {
		rows = append(rows, nil)
	}
	return q.values[size](), rows
}

// ListQuery is a query about any number of rows of numbers and texts. SQLite takes them
// as one JSON list.
type ListQuery struct {
	arrays, list string
	kinds        []string
}

// NewListQuery declares a query about {wanted}, which it names w. Where it says {by …},
// SQLite is told which index to use; it would take the primary key, however many rows
// that leads to.
func NewListQuery(text string, columns ...string) ListQuery {
	names, kinds := columnsOf(columns)
	values := make([]string, len(columns))
	for i, name := range names {
		values[i] = fmt.Sprintf("value ->> %d AS %s", i, name)
	}
	return ListQuery{
		kinds: kinds,
		arrays: strings.Replace(indexHint.ReplaceAllString(text, ""), "{wanted}",
			unnest(kinds, 1)+` AS w (`+strings.Join(names, ", ")+`)`, 1),
		list: strings.Replace(indexHint.ReplaceAllString(text, "INDEXED BY $1"), "{wanted}",
			`(SELECT `+strings.Join(values, ", ")+` FROM json_each($1)) AS w`, 1),
	}
}

var indexHint = regexp.MustCompile(`\{by (\w+)\}`)

// For returns the text and the parameters for rows, one value after the other.
func (q *ListQuery) For(t *engine.Tx, rows []any) (text string, args []any, err error) {
	if t.Arrays() {
		return q.arrays, engine.Columns(rows, len(q.kinds)), nil
	}
	list := make([][]any, 0, len(rows)/len(q.kinds))
	for row := range slices.Chunk(rows, len(q.kinds)) {
		for _, value := range row {
			// JSON would hide that the database cannot store it.
			if text, is := value.(string); is && !engine.Storable(text) {
				return "", nil, engine.ErrUnstorable
			}
		}
		list = append(list, row)
	}
	encoded, err := json.Marshal(list)
	return q.list, []any{string(encoded)}, err
}

// Among returns the condition that a number is one of a list, and the parameter for the
// list, which must be the statement's first. PostgreSQL uses an index only for an array.
func Among(t *engine.Tx, numbers []int64) (condition string, list any) {
	if t.Arrays() {
		values := make([]any, len(numbers))
		for i, number := range numbers {
			values[i] = number
		}
		return AmongArray, engine.Column{Rows: values, Width: 1}
	}
	encoded, err := json.Marshal(numbers)
	if err != nil {
		panic(err) // numbers can always be written
	}
	return AmongList, string(encoded)
}

// The conditions of Among on PostgreSQL and on SQLite.
const (
	AmongArray = ` = ANY ($1::bigint[])`
	AmongList  = ` IN (SELECT value FROM json_each($1))`
)
