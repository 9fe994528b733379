package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"landfall/internal/kit/convert"
	"landfall/internal/kit/generate"
)

// convertCommand makes a book of an old system's tables. It needs neither a
// server nor a database.
func convertCommand() *cobra.Command {
	command := &cobra.Command{
		Use: "convert MAP|FOLDER [BOOK]", Short: "Make a book of an old system's CSV tables", Args: checkArguments(cobra.MaximumNArgs(2)),
		Long: "Make a book (book when none is named) of CSV tables that an old system exports,\n" +
			"as a map says: which column of which table fills which attr. The map is a file, or\n" +
			"map.yaml in a folder with the tables; with --map the folder may be any other. Every\n" +
			"row is accounted for: it is in the book, passed over as the map says, or reported\n" +
			"with its file, line, column and value. The exit code is 1 when a row had to be left\n" +
			"out; conversion/problems.csv in the book names them all.",
		Example: "  landfall convert --suggest export       write export/map.yaml, to be corrected\n" +
			"  landfall convert export\n" +
			"  landfall convert --map north.yaml /srv/export book-north",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault // files and folders
		},
		RunE: func(command *cobra.Command, args []string) error {
			if schema, _ := command.Flags().GetBool("schema"); schema {
				// The schema is printed as it is, for editors: it is the same with --json and
				// without.
				_, err := command.OutOrStdout().Write(convert.Schema())
				return err
			}
			// Not by Args, since --schema needs none.
			if len(args) == 0 {
				return usageError{errors.New("a map or a folder is needed; see landfall convert --help")}
			}
			if suggest, _ := command.Flags().GetBool("suggest"); suggest {
				return suggestMap(command, args)
			}
			order, err := readConversionOrder(command, args)
			if err != nil {
				return usageError{err}
			}
			if os.Getenv("GOMEMLIMIT") == "" {
				// Else what was read would be let lie until it is as much as what is held.
				defer debug.SetMemoryLimit(debug.SetMemoryLimit(2*order.Memory + 128<<20))
				if os.Getenv("GOGC") == "" {
					defer debug.SetGCPercent(debug.SetGCPercent(400)) // below that limit there is no hurry
				}
			}
			// Progress is told on standard error; what came of it is alone on standard output.
			watched := newProgressPrinter(command.ErrOrStderr(), "read")
			order.Progress = func(done, whole int64) { watched.at(int(done>>20), int(whole>>20)) }
			result, err := convert.Convert(command.Context(), order)
			watched.clear()
			// A wrong map is what was typed; wrong rows are what the old system has.
			if wrong, is := errors.AsType[*convert.MapError](err); is {
				// A map that is wrong ends with the code for wrong usage: nothing was converted,
				// and to correct the map mends it.
				return usageError{printMapErrors(command, wrong)}
			}
			if err != nil {
				return err
			}
			if err := printConversion(command, order.Book, result); err != nil {
				return err
			}
			// The book is there and can be used; rows are missing in it, each with a reason.
			if !result.Whole() {
				return errSomeFailed
			}
			return nil
		},
	}
	flags := command.Flags()
	flags.Bool("suggest", false, "write a first map for the tables of a folder, to be corrected")
	flags.Bool("schema", false, "print the JSON Schema of maps, for editors")
	flags.String("map", "", "file with the map; FOLDER is then where the tables are")
	flags.String("source", "", "folder of the tables (default: where the map is)")
	flags.String("memory", "256", "MiB that rows may take before they are sorted on disk")
	completeFlag(command, "memory", noCompletion)
	_ = command.MarkFlagFilename("map", "yaml", "yml") // it is there, or we would not be here
	_ = command.MarkFlagDirname("source")              // likewise
	return command
}

// suggestMap writes a first map beside the tables of a folder.
func suggestMap(command *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usageError{errors.New("--suggest takes a folder of tables and nothing else")}
	}
	folder := args[0]
	// Refused as wrong usage, also where a map is there already: a map that somebody has
	// corrected must not be written over.
	suggestion, err := convert.WriteSuggestion(folder, generate.MapName)
	if err != nil {
		return usageError{err}
	}
	path := filepath.Join(folder, generate.MapName)
	data := map[string]any{"map": path, "tables": suggestion.Tables, "open": suggestion.Open}
	return printDone(command, data, "%s was written for %d tables. %d places say CHOOSE: correct them and the rest, then landfall convert %s",
		path, suggestion.Tables, suggestion.Open, folder)
}

// readConversionOrder takes what was typed.
func readConversionOrder(command *cobra.Command, args []string) (convert.Order, error) {
	order := convert.Order{Map: args[0], Book: "book"}
	if len(args) == 2 {
		order.Book = args[1]
	}
	order.Source, _ = command.Flags().GetString("source")
	if named, _ := command.Flags().GetString("map"); named != "" {
		if order.Source != "" {
			return order, errors.New("--source and the folder behind --map say the same: leave one out")
		}
		// With --map the argument can only be the folder of the tables; a file here is a slip.
		if info, err := os.Stat(args[0]); err != nil || !info.IsDir() {
			return order, fmt.Errorf("%s: want the folder of the tables; the map names which of them are read", args[0])
		}
		order.Map, order.Source = named, args[0]
	}
	info, err := os.Stat(order.Map)
	switch {
	case err != nil:
		return order, fmt.Errorf("%s: there is no such map or folder", order.Map)
	case info.IsDir():
		order.Map = filepath.Join(order.Map, generate.MapName)
		// Looked for now, so that whoever has no map yet is told how to begin with one.
		if _, err := os.Stat(order.Map); err != nil {
			return order, fmt.Errorf("there is no %s; landfall convert --suggest %s writes one to begin with", order.Map, args[0])
		}
	}
	if order.Source == "" {
		order.Source = filepath.Dir(order.Map)
	}
	memory, _ := command.Flags().GetString("memory")
	// A text and not a number flag, so that the complaint speaks of MiB.
	mebibytes, err := strconv.ParseInt(memory, 10, 32)
	if err != nil || mebibytes < 1 {
		return order, fmt.Errorf("--memory %s is no number of MiB", memory)
	}
	order.Memory = mebibytes << 20
	return order, nil
}

// printMapErrors says everything that is wrong with a map, a line each.
func printMapErrors(command *cobra.Command, wrong *convert.MapError) error {
	// Machines get all mistakes within the one error.
	if jsonWanted(command) {
		return wrong
	}
	for _, one := range wrong.Wrong {
		fmt.Fprintln(command.ErrOrStderr(), escapeText(one))
	}
	if len(wrong.Wrong) == 1 {
		return errors.New("the map has a mistake; nothing was converted")
	}
	return fmt.Errorf("the map has %d mistakes; nothing was converted", len(wrong.Wrong))
}

// printConversion accounts for the rows: a line for each table, then what to mend.
func printConversion(command *cobra.Command, folder string, result *convert.Result) error {
	// Machines get the result as it is kept; the tables below are cut for people.
	data := map[string]any{"book": folder, "result": result}
	return printData(command, data, func(out io.Writer) {
		rows := [][]string{}
		for _, tally := range result.Tallies {
			rows = append(rows, []string{
				tally.Table, strings.Join(tally.Files, " "), strconv.Itoa(tally.Read), strconv.Itoa(tally.Used),
				strconv.Itoa(tally.PassedOver + tally.NotReferred), strconv.Itoa(tally.LeftOut), strconv.Itoa(tally.Reported()),
			})
		}
		printTable(out, []string{"TABLE", "FILE", "READ", "USED", "PASSED OVER", "LEFT OUT", "REPORTED"}, rows)
		printUnusedColumns(out, result)
		fmt.Fprintf(out, "\nIn %s:\n\n", escapeText(folder))
		rows = rows[:0]
		// In the order of names, because a map has none and two conversions are to print the
		// same.
		for _, stem := range slices.Sorted(maps.Keys(result.Lines)) {
			rows = append(rows, []string{stem + ".ndjson", strconv.Itoa(result.Lines[stem])})
		}
		printTable(out, []string{"FILE", "LINES"}, rows)
		printTroubles(out, folder, result)
	})
}

// printUnusedColumns names the columns that went nowhere: whoever forgot one in the map
// should not learn it from a customer.
func printUnusedColumns(out io.Writer, result *convert.Result) {
	title := "\nColumns that the map does not use:\n"
	for _, tally := range result.Tallies {
		if len(tally.Unused) > 0 {
			fmt.Fprintf(out, "%s  %s: %s\n", title, escapeText(tally.Table), escapeText(strings.Join(tally.Unused, ", ")))
			title = ""
		}
	}
}

// printTroubles prints what went wrong by kind, the most frequent first; the
// rows themselves are in files.
func printTroubles(out io.Writer, folder string, result *convert.Result) {
	if result.Whole() {
		return
	}
	// Kinds and not rows: ten thousand rows with one mistake are one thing to mend.
	rows := [][]string{}
	for _, trouble := range result.Troubles[:min(maxShown, len(result.Troubles))] {
		p := trouble.First
		rows = append(rows, []string{
			strconv.Itoa(trouble.Count), string(p.Kind), p.File + ":" + strconv.Itoa(p.Line), p.Column, p.Value, p.What,
		})
	}
	fmt.Fprint(out, "\nRows that are not in the book:\n\n")
	printTable(out, []string{"ROWS", "KIND", "FIRST", "COLUMN", "VALUE", "WHAT"}, rows)
	if more := len(result.Troubles) - maxShown; more > 0 {
		fmt.Fprintf(out, "and %d more kinds\n", more)
	}
	fmt.Fprintf(out, "\nAll of them are in %s.\n", escapeText(filepath.Join(folder, "conversion", "problems.csv")))
}
