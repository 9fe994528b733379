package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/kit/book"
	"landfall/internal/kit/check"
	"landfall/internal/kit/report"
	"landfall/internal/service/operate"
)

// errSomeFailed is returned by a command that finished and found mistakes.
var errSomeFailed = errors.New("some items failed")

// validateCommand checks files without a server. The rules depend on a few settings of the import
// supplier, which are flags here.
func validateCommand() *cobra.Command {
	var rules, packs []string
	command := &cobra.Command{
		Use: "validate PATH...", Short: "Check a book, or some of its files, without a server", Args: checkArguments(cobra.MinimumNArgs(1)),
		Long: "Check a book (a folder with accounts.ndjson, notes.ndjson and so on) or some of its\n" +
			"files, without a server, with the rules and messages of the service. It also finds\n" +
			"duplicate accounts and accounts that share a supply point or payment instruction, and\n" +
			"compares the book with its control-totals.json. It cannot check\n" +
			"what only the service knows: whether the import supplier exists, what was imported\n" +
			"before, and what payment vendors and document stores would say. With --report, the\n" +
			"failed lines, a CSV table and an HTML page are written to a folder. The exit code is 1\n" +
			"if a line would be refused or the totals differ.",
		Example: "  landfall validate book\n  landfall validate book --report checked\n  landfall validate accounts-003.ndjson.zst --region IE --currency EUR",
		RunE: func(command *cobra.Command, paths []string) error {
			// The flags are read as those of a supplier.
			change, err := readSupplierChange(command, rules)
			if err != nil {
				return err
			}
			schema, err := openPacks(packs)
			if err != nil {
				return err
			}
			// PreviewSupplier validates the settings without a database.
			settings, err := operate.New(nil, operate.Options{Rules: contract.RuleCodes()}).PreviewSupplier(change, schema)
			if err != nil {
				return err
			}
			found, err := book.Open(paths...)
			if err != nil {
				return usageError{err}
			}
			warnOthers(command, found)
			return validate(command, found, settings, schema)
		},
	}
	flags := command.Flags()
	flags.String("currency", "", "the supplier's currency, ISO 4217 (default GBP)")
	flags.String("statement-amounts", "", "unit of gross_amount of historical statements: major (pounds) or minor (pence) (default major)")
	flags.String("region", "", "the supplier's region, ISO 3166, for phone numbers and postcodes (default GB)")
	flags.String("time-zone", "", "the supplier's time zone, which decides which day it is (default Europe/London)")
	flags.StringArrayVar(&rules, "rule", nil, "RULE=error, warning, off or default; can be repeated")
	packFlag(command, &packs)
	flags.String("report", "", "write the failed lines, a table and a page to this folder")
	completeFlag(command, "rule", ruleSeverities)
	for _, name := range []string{"currency", "region", "statement-amounts", "time-zone"} {
		completeFlag(command, name, noCompletion)
	}
	return command
}

// validate checks the book and prints the result.
func validate(command *cobra.Command, found *book.Book, settings landfall.Supplier, schema *contract.Schema) error {
	onMistake := discardMistake
	folder, _ := command.Flags().GetString("report")
	var writer *report.Writer
	// Created before the book is read, to fail early if the folder cannot be used.
	if folder != "" {
		var err error
		if writer, err = report.Begin(folder); err != nil {
			return usageError{err}
		}
		onMistake = func(mistake check.Mistake) error { return mistake.Report(writer) }
	}
	started := time.Now()
	bar := newCommandProgress(command, "lines read")
	reader := check.Checker{Settings: settings, Schema: schema, Now: started, Mistake: onMistake, Progress: bar.count}
	result, err := reader.Check(command.Context(), found)
	bar.clear()
	if err != nil {
		return explainInterrupt(err)
	}
	summary := result.Summary(found, programName(), started)
	if writer != nil {
		if len(found.Files) > 0 {
			summary.AddProfile(filepath.Dir(found.Files[0].Path))
		}
		if err := writer.Finish(summary); err != nil {
			return err
		}
	}
	if err := printCheckResult(command, result, summary); err != nil {
		return err
	}
	// A book with valid lines that is incomplete must not be sent either.
	if !result.Valid() || !result.MatchesTotals() {
		return errSomeFailed
	}
	return nil
}

// discardMistake is used without --report.
func discardMistake(check.Mistake) error { return nil }

// printCheckResult prints one row per kind of file, then what to fix.
func printCheckResult(command *cobra.Command, result check.Result, summary report.Summary) error {
	return printData(command, summary.Figures(), func(out io.Writer) {
		rows := [][]string{}
		for _, kind := range book.Kinds() {
			if count, read := result.Counts[kind]; read {
				rows = append(rows, []string{
					kind.Stem, strconv.Itoa(count.Lines), strconv.Itoa(count.Lines - count.Wrong), strconv.Itoa(count.Wrong), strconv.Itoa(count.Warned),
				})
			}
		}
		printTable(out, []string{"KIND", "LINES", "VALID", "INVALID", "WITH WARNINGS"}, rows)
		printTotals(out, result, summary.Totals)
		printGroups(out, "MISTAKE", result.Wrong.Groups)
		printRepairs(out, result.Wrong)
		printGroups(out, "WARNING", result.Warnings.Groups)
	})
}

// maxShown limits long lists on the terminal.
const maxShown = 20

// printGroups prints the mistakes that most accounts share.
func printGroups(out io.Writer, what string, groups []landfall.FailureGroup) {
	if len(groups) == 0 {
		return
	}
	fmt.Fprintln(out)
	printTable(out, []string{"LINES", "ALONE", what, "WHERE"}, rowsOf(groups[:min(maxShown, len(groups))], groupRow))
	if more := len(groups) - maxShown; more > 0 {
		fmt.Fprintf(out, "and %d more\n", more)
	}
}
