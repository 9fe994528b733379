package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/kit/book"
	"landfall/internal/kit/check"
	"landfall/internal/kit/report"
	"landfall/internal/service/operate"
)

// errSomeFailed ends a command that did its work and found mistakes.
var errSomeFailed = errors.New("some of it failed")

// validateCommand checks files without a server. The rules depend on a few of
// the import supplier's settings, which it therefore takes as flags.
func validateCommand() *cobra.Command {
	var rules []string
	command := &cobra.Command{
		Use: "validate PATH...", Short: "Check a book, or some of its files, without a server", Args: checkArguments(cobra.MinimumNArgs(1)),
		Long: "Check a book (a folder with accounts.ndjson, notes.ndjson and so on) or some of\n" +
			"its files, without a server, with the rules and the words of the service. Accounts\n" +
			"that come twice are found too, and what the book comes to is held against its\n" +
			"control-totals.json. What only the service can know is left out: whether the\n" +
			"import supplier exists, what was imported before, and what payment vendors and\n" +
			"document stores would say. With --report the lines that failed, a table for\n" +
			"spreadsheets and a page to look at are left in a folder. The exit code is 1 when a\n" +
			"line would be refused or the totals differ.",
		Example: "  landfall validate book\n  landfall validate book --report checked\n  landfall validate accounts-003.ndjson.zst --region IE --currency EUR",
		RunE: func(command *cobra.Command, paths []string) error {
			// The flags are those of a supplier, read by the same function, so that both mean the
			// same.
			change, err := readSupplierChange(command, rules)
			if err != nil {
				return err
			}
			// Imagine has no database behind it: it only checks what such a supplier would be.
			settings, err := operate.New(nil, operate.Options{Rules: contract.RuleCodes()}).Imagine(change)
			if err != nil {
				return err
			}
			found, err := book.Open(paths...)
			if err != nil {
				return usageError{err}
			}
			// Said and not refused: a folder may hold what its owner wrote down, but a mistyped
			// name must not go unnoticed.
			for _, other := range found.Others {
				printWarning(command, other+" is no file of a book and was left out")
			}
			return validate(command, found, settings)
		},
	}
	flags := command.Flags()
	flags.String("currency", "", "the supplier's currency, ISO 4217 (default GBP)")
	flags.String("region", "", "the supplier's region, ISO 3166, for phone numbers and postcodes (default GB)")
	flags.String("time-zone", "", "the supplier's zone, which says what day it is (default Europe/London)")
	flags.StringArrayVar(&rules, "rule", nil, "RULE=error, warning, off or default; may be given several times")
	flags.String("report", "", "leave the failed lines, a table and a page in this folder")
	completeFlag(command, "rule", ruleSeverities)
	for _, plain := range []string{"currency", "region", "time-zone"} {
		completeFlag(command, plain, noCompletion)
	}
	return command
}

// validate reads the book and says what is wrong with it.
func validate(command *cobra.Command, found *book.Book, settings landfall.Supplier) error {
	kept := discardMistake
	folder, _ := command.Flags().GetString("report")
	var writer *report.Writer
	// The folder is begun before the book is read, because a folder that cannot be used is better
	// known now.
	if folder != "" {
		var err error
		if writer, err = report.Begin(folder); err != nil {
			return usageError{err}
		}
		kept = func(mistake check.Mistake) error { return reportMistake(writer, mistake) }
	}
	started := time.Now()
	progress := newCommandProgress(command, "lines read")
	reader := check.Reader{Settings: settings, Now: started, Mistake: kept, Progress: progress.count}
	proof, err := reader.Read(command.Context(), found)
	progress.clear()
	if err != nil {
		return explainInterrupt(err)
	}
	summary := summarize(found, proof, started)
	// The report is finished before anything is printed: what is said to lie there lies there.
	if writer != nil {
		if err := writer.Finish(summary); err != nil {
			return err
		}
	}
	if err := printProof(command, proof, summary); err != nil {
		return err
	}
	// Both are failures to a script: a book that is right in every line and not whole must not be
	// sent.
	if !proof.Sound() || !proof.Complete() {
		return errSomeFailed
	}
	return nil
}

// discardMistake is for who only wants the figures.
func discardMistake(check.Mistake) error { return nil }

// reportMistake writes a line of the report.
func reportMistake(writer *report.Writer, mistake check.Mistake) error {
	// Lines with warnings alone are right, and stay out of the files to be mended.
	if mistake.Wrong() {
		if err := writer.Fail(mistake.File, mistake.Line, mistake.External, mistake.Failure); err != nil {
			return err
		}
	}
	return writer.Warn(mistake.File, mistake.Line, mistake.External, mistake.Warnings)
}

// summarize says it in figures.
func summarize(found *book.Book, proof check.Proof, started time.Time) report.Summary {
	summary := report.Summary{
		Title: "Proof of a book", MadeAt: started, Failures: proof.Wrong, Warnings: proof.Warnings,
	}
	lines := 0
	for _, kind := range book.Kinds() {
		count, read := proof.Counts[kind]
		if !read {
			continue
		}
		lines += count.Lines
		summary.Bars = append(summary.Bars, report.Bar{Name: kind.Stem, Parts: []report.Part{
			{Name: "right", Count: count.Lines - count.Wrong, Tone: report.Good}, {Name: "wrong", Count: count.Wrong, Tone: report.Bad},
		}})
	}
	summary.Sentence = fmt.Sprintf("All %s lines are right.", report.Number(lines))
	if !proof.Sound() {
		summary.Sentence = fmt.Sprintf("%s of %s lines would be refused.", report.Number(proof.Wrong.Accounts), report.Number(lines))
	}
	if !proof.Complete() {
		summary.Sentence += " The book is not what its control totals say."
	}
	summary.Sums = bookTotals(proof)
	for _, file := range found.Files {
		summary.Facts = append(summary.Facts, [2]string{file.Kind.Noun, file.Path})
	}
	return summary
}

// printProof prints the figures: a row for each file's kind, then what to mend.
func printProof(command *cobra.Command, proof check.Proof, summary report.Summary) error {
	return printData(command, summary.Figures(), func(out io.Writer) {
		rows := [][]string{}
		for _, kind := range book.Kinds() {
			if count, read := proof.Counts[kind]; read {
				rows = append(rows, []string{
					kind.Stem, strconv.Itoa(count.Lines), strconv.Itoa(count.Lines - count.Wrong), strconv.Itoa(count.Wrong), strconv.Itoa(count.Warned),
				})
			}
		}
		printTable(out, []string{"KIND", "LINES", "RIGHT", "WRONG", "WITH WARNINGS"}, rows)
		printTotals(out, proof, summary.Sums)
		printGroups(out, "MISTAKE", proof.Wrong.Groups)
		printRepairs(out, proof.Wrong.Steps())
		printGroups(out, "WARNING", proof.Warnings.Groups)
	})
}

// maxShown keeps a book gone wrong from scrolling what matters away.
const maxShown = 20

// printGroups prints what to mend first: the mistakes that most accounts
// share.
func printGroups(out io.Writer, what string, groups []landfall.FailureGroup) {
	if len(groups) == 0 {
		return
	}
	rows := [][]string{}
	for _, group := range groups[:min(maxShown, len(groups))] {
		rows = append(rows, []string{strconv.Itoa(group.Accounts), strconv.Itoa(group.Alone), group.Code, strings.TrimSpace(group.Attr)})
	}
	fmt.Fprintln(out)
	printTable(out, []string{"LINES", "ALONE", what, "WHERE"}, rows)
	if more := len(groups) - maxShown; more > 0 {
		fmt.Fprintf(out, "and %d more\n", more)
	}
}
