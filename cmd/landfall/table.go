package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"landfall/internal/service/operate"
)

// printList prints entries as a table, or as a JSON array with --json. Both are declared by the
// struct tags of T: `json` names the member and `table` the heading of the column.
func printList[T any](command *cobra.Command, entries []T) error {
	return printData(command, entries, func(out io.Writer) { printColumns(out, entries) })
}

// printColumns prints the fields of T that have a `table` tag, in their order.
func printColumns[T any](out io.Writer, entries []T) {
	var heading []string
	var columns []int
	for i := range reflect.TypeFor[T]().NumField() {
		if name := reflect.TypeFor[T]().Field(i).Tag.Get("table"); name != "" {
			heading, columns = append(heading, name), append(columns, i)
		}
	}
	printTable(out, heading, rowsOf(entries, func(entry T) []string {
		return rowsOf(columns, func(i int) string { return formatCell(reflect.ValueOf(entry).Field(i).Interface()) })
	}))
}

// formatCell formats a value for people.
func formatCell(value any) string {
	switch value := value.(type) {
	case bool:
		return yesNo(value)
	case *string:
		if value == nil {
			return ""
		}
		return *value
	case []string:
		return strings.Join(value, " ")
	}
	return fmt.Sprint(value)
}

// rowsOf converts each item, usually to a row of a table. The result is never nil, so that it is an
// empty array in JSON.
func rowsOf[T, R any](items []T, convert func(T) R) []R {
	rows := make([]R, 0, len(items))
	for _, item := range items {
		rows = append(rows, convert(item))
	}
	return rows
}

// printTable prints rows below a heading, separated by spaces.
func printTable(out io.Writer, heading []string, rows [][]string) {
	printNumbers(out, heading, rows, len(heading))
}

// printNumbers prints a table whose columns are aligned to the right, starting with column from.
func printNumbers(out io.Writer, heading []string, rows [][]string, from int) {
	widths := make([]int, len(heading))
	table := [][]string{}
	for _, row := range append([][]string{heading}, rows...) {
		// Escaped first, so that the width is that of the output.
		cells := rowsOf(row, escapeText)
		for i := range cells {
			// An empty cell would shift the others for a program that splits at spaces.
			if cells[i] == "" {
				cells[i] = "-"
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cells[i]))
		}
		table = append(table, cells)
	}
	for _, cells := range table {
		for i, cell := range cells {
			width := widths[i]
			if i < from {
				width = -width // left
			}
			cells[i] = fmt.Sprintf("%*s", width, cell)
		}
		fmt.Fprintln(out, strings.TrimRight(strings.Join(cells, "  "), " "))
	}
}

// sortedPairs formats a map as sorted name=value pairs.
func sortedPairs(values map[string]string) []string {
	return rowsOf(slices.Sorted(maps.Keys(values)), func(name string) string { return name + "=" + values[name] })
}

// changeCommand completes a command that makes one change in the database and confirms it. members
// names the arguments in JSON; done is a format for them.
func changeCommand(action string, command *cobra.Command, members string,
	change func(*operate.Operator, context.Context, []string) error, done string,
) *cobra.Command {
	names := strings.Fields(members)
	command.Args = checkArguments(cobra.ExactArgs(len(names)))
	return onDatabase(command, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		if err := change(operator, command.Context(), args); err != nil {
			return err
		}
		data := map[string]string{"action": action}
		for i, name := range names {
			data[name] = args[i]
		}
		return printDone(command, data, done, rowsOf(args, func(arg string) any { return arg })...)
	})
}
