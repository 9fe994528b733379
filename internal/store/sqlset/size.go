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

	"landfall/internal/store/engine"
)

// MaxBatch is the number of rows that a Query takes at most.
const MaxBatch = engine.MaxBatch

// querySizes are the numbers of rows a query is prepared for on SQLite. A set is padded
// with NULLs to the next size, and joining drops those.
var querySizes = []int{1, 2, 4, 8, 16, 32, MaxBatch}

// writeSizes are the numbers of rows that are written at once on SQLite.
var writeSizes = append(slices.Clone(querySizes), 512)

// forSizes returns a statement for each number of rows, the sizes in rising order. The
// rows of a small statement are the first ones of a large one, so they are formatted
// once and cut: every command of the program starts with hundreds of such texts.
func forSizes(sizes []int, before string, width int, after string) map[int]string {
	texts := make(map[int]string, len(sizes))
	rows := make([]byte, 0, sizes[len(sizes)-1]*(width*len(", $10000")+len("(), ")))
	written := 0
	for _, size := range sizes {
		for ; written < size; written++ {
			separator := ", ("
			if written == 0 {
				separator = "("
			}
			for number := written*width + 1; number <= (written+1)*width; number++ {
				rows = append(append(rows, separator...), '$')
				rows, separator = strconv.AppendInt(rows, int64(number), 10), ", "
			}
			rows = append(rows, ')')
		}
		texts[size] = before + string(rows) + after
	}
	return texts
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
