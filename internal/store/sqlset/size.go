// Package sqlset reads and writes sets of rows with few statements, on SQLite and on
// PostgreSQL. It knows nothing of what the rows mean.
//
// The databases differ in how they take a set, and only this package knows how. SQLite
// takes one parameter per value, in statements that are prepared for a few numbers of
// rows, or a long list as one JSON text. PostgreSQL takes each column as one array, and
// many rows to be added as a COPY: reading thousands of parameters costs it more than
// the rows do.
package sqlset

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"landfall/internal/store/engine"
)

// MaxBatch is the number of rows that a Query takes at most.
const MaxBatch = engine.MaxBatch

// querySizes are the numbers of rows a query is prepared for on SQLite. A set is padded
// with NULLs to the next size, and joining drops those.
var querySizes = []int{1, 2, 4, 8, 16, 32, MaxBatch}

// writeSizes are the numbers of rows that are written at once on SQLite.
var writeSizes = append(slices.Clone(querySizes), 512)

// forSizes returns a statement for each number of rows. Each is made when it is first
// used: there are hundreds, and a command of the program needs few of them.
func forSizes(sizes []int, before string, width int, after string) map[int]func() string {
	texts := make(map[int]func() string, len(sizes))
	for _, size := range sizes {
		texts[size] = sync.OnceValue(func() string { return before + placeholders(size, width) + after })
	}
	return texts
}

// placeholders returns numbered parameters: ($1, $2), ($3, $4).
func placeholders(rows, width int) string {
	text := make([]byte, 0, rows*(width*len(", $10000")+len("(), ")))
	for row := range rows {
		separator := ", ("
		if row == 0 {
			separator = "("
		}
		for number := row*width + 1; number <= (row+1)*width; number++ {
			text = append(append(text, separator...), '$')
			text, separator = strconv.AppendInt(text, int64(number), 10), ", "
		}
		text = append(text, ')')
	}
	return string(text)
}

// sizeFor returns the smallest size that holds a set of so many rows.
func sizeFor(count int) int {
	at, _ := slices.BinarySearch(querySizes, count)
	return querySizes[at]
}

// Padded returns how many rows a query needs space for that is about so many.
func Padded(count int) int {
	if count > MaxBatch {
		return count
	}
	return sizeFor(count)
}

// sizeWithin returns the biggest size that so many rows fill. Rows that are added cannot
// be padded; the rest goes with the next statement.
func sizeWithin(count int) int {
	at, found := slices.BinarySearch(writeSizes, count)
	if !found {
		at--
	}
	return writeSizes[at]
}

// columnsOf splits declarations such as "ordinal bigint" into names and types.
func columnsOf(columns []string) (names, kinds []string) {
	names, kinds = make([]string, len(columns)), make([]string, len(columns))
	for i, column := range columns {
		names[i], kinds[i], _ = strings.Cut(column, " ")
	}
	return names, kinds
}

// unnest returns the arrays of columns as rows, the parameters numbered from first.
func unnest(kinds []string, first int) string {
	parts := make([]string, len(kinds))
	for i, kind := range kinds {
		parts[i] = "$" + strconv.Itoa(first+i) + "::" + kind + "[]"
	}
	return "unnest(" + strings.Join(parts, ", ") + ")"
}
