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
	"sync"
	"time"

	"github.com/spf13/cobra"

	"landfall/internal/api/contract"
	"landfall/internal/kit/convert"
	"landfall/internal/kit/generate"
	"landfall/internal/kit/report"
)

// convertCommand converts the tables of an old system into a book. It needs neither a server nor a
// database.
func convertCommand() *cobra.Command {
	command := &cobra.Command{
		Use: "convert MAP|FOLDER [BOOK]", Short: "Convert an old system's tables into a book", Args: checkArguments(cobra.MaximumNArgs(2)),
		Long: "Convert the tables of an old system (CSV, Excel or fixed-width files) into a book\n" +
			"(named book by default). A map says which column of which table fills which attr.\n" +
			"The map is a file, or map.yaml in the folder with the tables; with --map the tables\n" +
			"can be in any folder. Every row is accounted for: it is in the book, passed over as\n" +
			"the map says, or reported with its file, line, column and value. The exit code is 1\n" +
			"if rows had to be left out; conversion/problems.csv in the book lists them all.",
		Example: "  landfall convert --profile export       look at the tables first\n" +
			"  landfall convert --suggest export       write export/map.yaml for you to correct\n" +
			"  landfall convert export\n" +
			"  landfall convert --map north.yaml /srv/export book-north",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveDefault // files and folders
		},
		RunE: func(command *cobra.Command, args []string) error {
			if schema, _ := command.Flags().GetBool("schema"); schema {
				// Printed as it is, with and without --json.
				_, err := command.OutOrStdout().Write(convert.Schema())
				return err
			}
			// Checked here and not by Args, because --schema needs no argument.
			if len(args) == 0 {
				return usageError{errors.New("name a map or a folder; see landfall convert --help")}
			}
			suggest, _ := command.Flags().GetBool("suggest")
			profile, _ := command.Flags().GetBool("profile")
			for flag, other := range map[string]string{"like": "suggest", "examples": "suggest", "pack": "suggest", "html": "profile"} {
				if wanted, _ := command.Flags().GetBool(other); command.Flags().Changed(flag) && !wanted {
					return usageError{fmt.Errorf("--%s needs --%s", flag, other)}
				}
			}
			switch {
			case suggest && profile:
				return usageError{errors.New("--suggest cannot be combined with --profile")}
			case suggest:
				return suggestMap(command, args)
			case profile:
				return profileTables(command, args)
			}
			order, err := readConvertOptions(command, args)
			if err != nil {
				return usageError{err}
			}
			if os.Getenv("GOMEMLIMIT") == "" {
				// Otherwise garbage would grow to the size of the live heap.
				defer debug.SetMemoryLimit(debug.SetMemoryLimit(2*order.Memory + 128<<20))
				if os.Getenv("GOGC") == "" {
					defer debug.SetGCPercent(debug.SetGCPercent(400)) // collections are not urgent below that limit
				}
			}
			bar := newProgressPrinter(command.ErrOrStderr(), "read")
			order.Progress = func(done, whole int64) { bar.at(int(done>>20), int(whole>>20)) }
			hashes := tableHashes{}
			order.Reading = hashes.start
			result, err := convert.Convert(command.Context(), order)
			bar.clear()
			// A wrong map is wrong usage: nothing was converted. Wrong rows are not.
			if wrong, is := errors.AsType[*convert.MapError](err); is {
				return usageError{printMapErrors(command, wrong)}
			}
			if err != nil {
				return err
			}
			if err := writeOrigin(order, result, hashes); err != nil {
				return err
			}
			if wanted, _ := command.Flags().GetBool("with-profile"); wanted {
				profile, err := convert.ProfileTables(command.Context(), order.Source)
				if err == nil {
					err = report.WriteProfile(order.Book, profileReport(profile))
				}
				if err != nil {
					return err
				}
			}
			if err := printConversion(command, order.Book, result); err != nil {
				return err
			}
			// The book is usable; some rows are missing, each with a reason.
			if !result.Whole() {
				return errSomeFailed
			}
			return nil
		},
	}
	flags := command.Flags()
	flags.Bool("suggest", false, "write a first map for the tables of a folder, for you to correct")
	flags.Bool("profile", false, "describe the columns of all tables of a folder, and what looks wrong in them")
	flags.Bool("with-profile", false, "also profile the tables, for the reports of validate and import about the book")
	flags.String("html", "", "with --profile: also write the profile as an HTML page")
	flags.String("like", "", "with --suggest: a map for similar tables, to learn from")
	flags.String("examples", "", "with --suggest: a file with finished accounts, one JSON object per line, to learn from")
	flags.StringArray("pack", nil, "with --suggest: file of a pack, or NAME@VERSION of a built-in one, whose fields columns may fill; can be repeated")
	flags.Bool("schema", false, "print the JSON Schema of maps, for editors")
	flags.String("map", "", "file with the map; FOLDER is then the folder of the tables")
	flags.String("source", "", "folder of the tables (default: the folder of the map)")
	flags.String("filter", "", "program that rewrites each file: it gets the table and the file as arguments and the file as input")
	flags.String("memory", "256", "MiB of memory for rows before they are sorted on disk")
	completeFlag(command, "memory", noCompletion)
	_ = command.MarkFlagFilename("map", "yaml", "yml") // cannot fail: the flags exist
	_ = command.MarkFlagFilename("like", "yaml", "yml")
	_ = command.MarkFlagFilename("html", "html")
	_ = command.MarkFlagFilename("examples", "ndjson", "json")
	_ = command.MarkFlagDirname("source")
	_ = command.MarkFlagFilename("filter")
	return command
}

// suggestMap writes a first map into the folder of the tables.
func suggestMap(command *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usageError{errors.New("--suggest takes one folder of tables")}
	}
	order := convert.SuggestOptions{Folder: args[0]}
	order.Like, _ = command.Flags().GetString("like")
	order.Examples, _ = command.Flags().GetString("examples")
	order.Packs, _ = command.Flags().GetStringArray("pack")
	// An existing map is not overwritten: someone may have corrected it.
	suggestion, err := convert.WriteSuggestion(command.Context(), generate.MapName, order)
	if err != nil {
		return usageError{err}
	}
	path := filepath.Join(order.Folder, generate.MapName)
	data := map[string]any{"map": path, "tables": suggestion.Tables, "open": suggestion.Open, "skipped": suggestion.Skipped}
	for _, file := range suggestion.Skipped {
		fmt.Fprintf(command.ErrOrStderr(), "%s was not read: %s\n", escapeText(file.Name), escapeText(file.Why))
	}
	task := "Review it"
	if suggestion.Open > 0 {
		task = "Replace the " + counted(suggestion.Open, "value") + " marked CHOOSE, review the rest"
	}
	return printDone(command, data, "Wrote %s for %s. %s, then run: landfall convert %s", path, counted(suggestion.Tables, "table"), task, order.Folder)
}

// counted is a number with its noun, such as 1 table or 2 tables.
func counted(count int, noun string) string {
	if count != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", count, noun)
}

// readConvertOptions reads the arguments and flags.
func readConvertOptions(command *cobra.Command, args []string) (convert.Options, error) {
	order := convert.Options{Map: args[0], Book: "book"}
	if len(args) == 2 {
		order.Book = args[1]
	}
	order.Source, _ = command.Flags().GetString("source")
	order.Filter, _ = command.Flags().GetString("filter")
	if named, _ := command.Flags().GetString("map"); named != "" {
		if order.Source != "" {
			return order, errors.New("--source cannot be combined with --map FOLDER; leave one out")
		}
		// With --map the argument must be the folder of the tables.
		if info, err := os.Stat(args[0]); err != nil || !info.IsDir() {
			return order, fmt.Errorf("%s: want the folder of the tables", args[0])
		}
		order.Map, order.Source = named, args[0]
	}
	info, err := os.Stat(order.Map)
	switch {
	case err != nil:
		return order, fmt.Errorf("%s: no such map or folder", order.Map)
	case info.IsDir():
		order.Map = filepath.Join(order.Map, generate.MapName)
		if _, err := os.Stat(order.Map); err != nil {
			return order, fmt.Errorf("%s does not exist; create one with: landfall convert --suggest %s", order.Map, args[0])
		}
	}
	if order.Source == "" {
		order.Source = filepath.Dir(order.Map)
	}
	memory, _ := command.Flags().GetString("memory")
	// A string flag, so that the error message can mention MiB.
	mebibytes, err := strconv.ParseInt(memory, 10, 32)
	if err != nil || mebibytes < 1 {
		return order, fmt.Errorf("--memory %s: want a number of MiB", memory)
	}
	order.Memory = mebibytes << 20
	return order, nil
}

// tableHashes identifies the tables by their content, in the background while they are converted.
type tableHashes map[string]func() (contract.CustodyFile, error)

func (h tableHashes) start(path string) {
	if h[path] == nil {
		h[path] = sync.OnceValues(func() (contract.CustodyFile, error) { return report.HashFile(path) })
		go h[path]() //nolint:errcheck // the error is remembered
	}
}

// writeOrigin writes into the book which tables and which map it was made from, for the sign-off.
func writeOrigin(order convert.Options, result *convert.Result, hashes tableHashes) error {
	origin := contract.Origin{Program: programName(), MadeAt: time.Now().UTC()}
	used, err := report.HashFile(order.Map)
	if err != nil {
		return err
	}
	origin.Map = &used
	listed := map[string]bool{}
	for _, tally := range result.Tallies {
		origin.RowsRead += tally.Read
		origin.RowsLeftOut += tally.LeftOut + tally.Reported()
		for _, path := range tally.Paths {
			if listed[path] {
				continue
			}
			listed[path] = true
			file, err := hashes[path]()
			if err != nil {
				return err
			}
			origin.Tables = append(origin.Tables, file)
		}
	}
	return report.WriteOrigin(order.Book, origin)
}

// printMapErrors prints everything that is wrong with a map, one line each.
func printMapErrors(command *cobra.Command, wrong *convert.MapError) error {
	// With --json, the one error contains all mistakes.
	if jsonWanted(command) {
		return wrong
	}
	for _, one := range wrong.Wrong {
		fmt.Fprintln(command.ErrOrStderr(), escapeText(one))
	}
	return errors.New("the map has " + counted(len(wrong.Wrong), "mistake") + "; nothing was converted")
}

// printConversion prints where the rows of each table went, then what to fix.
func printConversion(command *cobra.Command, folder string, result *convert.Result) error {
	data := map[string]any{"book": folder, "result": result}
	return printData(command, data, func(out io.Writer) {
		titles := []string{"TABLE", "FILE", "READ", "USED", "PASSED OVER", "LEFT OUT", "REPORTED"}
		if result.Acknowledged > 0 {
			titles = append(titles, "ACKNOWLEDGED")
		}
		printTable(out, titles,
			rowsOf(result.Tallies, func(tally convert.Tally) []string {
				row := []string{
					tally.Table, strings.Join(tally.Files, " "), strconv.Itoa(tally.Read), strconv.Itoa(tally.Used),
					strconv.Itoa(tally.PassedOver + tally.NotReferred), strconv.Itoa(tally.LeftOut), strconv.Itoa(tally.Reported()),
				}
				return append(row, strconv.Itoa(tally.Acknowledged))[:len(titles)]
			}))
		printUnusedColumns(out, result)
		fmt.Fprintf(out, "\nIn %s:\n\n", escapeText(folder))
		printTable(out, []string{"FILE", "LINES"}, rowsOf(slices.Sorted(maps.Keys(result.Lines)), func(stem string) []string {
			return []string{stem + ".ndjson", strconv.Itoa(result.Lines[stem])}
		}))
		printProblems(out, folder, result)
	})
}

// printUnusedColumns lists the columns that the map does not use, in case one was forgotten, and the files
// and sheets that are empty or not read.
func printUnusedColumns(out io.Writer, result *convert.Result) {
	title := "\nColumns that the map does not use:\n"
	for _, tally := range result.Tallies {
		if len(tally.Unused) > 0 {
			fmt.Fprintf(out, "%s  %s: %s\n", title, escapeText(tally.Table), escapeText(strings.Join(tally.Unused, ", ")))
			title = ""
		}
	}
	for _, tally := range result.Tallies {
		if len(tally.Sheets) > 0 {
			fmt.Fprintf(out, "\nSheets that the map does not read: %s\n", escapeText(strings.Join(tally.Sheets, ", ")))
		}
		if len(tally.Blank) > 0 {
			fmt.Fprintf(out, "\nEmpty files of %s: %s\n", escapeText(tally.Table), escapeText(strings.Join(tally.Blank, ", ")))
		}
	}
}

// printProblems prints the problems by kind, most frequent first. The rows are in a file.
func printProblems(out io.Writer, folder string, result *convert.Result) {
	var open, acknowledged []convert.ProblemCount
	for _, problem := range result.Troubles {
		if problem.First.Acknowledged {
			acknowledged = append(acknowledged, problem)
		} else {
			open = append(open, problem)
		}
	}
	printProblemTable(out, "Rows that are not in the book:", open)
	printProblemTable(out, "Rows that are not in the book, as the map says:", acknowledged)
	if len(result.Troubles) == 0 {
		return
	}
	fmt.Fprintf(out, "\nAll of them are listed in %s.\n", escapeText(filepath.Join(folder, "conversion", "problems.csv")))
}

// printProblemTable prints the most frequent problems, if there are any.
func printProblemTable(out io.Writer, title string, problems []convert.ProblemCount) {
	if len(problems) == 0 {
		return
	}
	fmt.Fprintf(out, "\n%s\n\n", title)
	printTable(out, []string{"ROWS", "KIND", "FIRST", "COLUMN", "VALUE", "PROBLEM"},
		rowsOf(problems[:min(maxShown, len(problems))], func(problem convert.ProblemCount) []string {
			p := problem.First
			return []string{strconv.Itoa(problem.Count), string(p.Kind), p.File + ":" + strconv.Itoa(p.Line), p.Column, p.Value, p.What}
		}))
	if more := len(problems) - maxShown; more > 0 {
		fmt.Fprintf(out, "and %d more kinds\n", more)
	}
}
