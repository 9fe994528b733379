package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"landfall/client"
	"landfall/internal/kit/book"
	"landfall/internal/kit/check"
	"landfall/internal/kit/importer"
	"landfall/internal/kit/report"
)

// importCommand imports a book. It only uses the API, as any integrator does.
func importCommand() *cobra.Command {
	order := importer.Options{}
	only, skipChecks := "", false
	command := onServer(&cobra.Command{
		Use: "import PATH...", Short: "Import a book of accounts into a server", Args: checkArguments(cobra.MinimumNArgs(1)),
		Long: "Import a book (a folder with accounts.ndjson, notes.ndjson and so on) into a server:\n" +
			"stage its accounts, have the server create them, add notes, transactions, statements\n" +
			"and payment instructions, set the control totals, and write a report.\n\n" +
			"A journal next to the book records the progress: an import interrupted by Ctrl-C, a\n" +
			"crash or an unreachable server continues when you run the same command again. Failed\n" +
			"lines are written to a folder with the report; fix the files in its failed/ folder\n" +
			"and import that folder. Accounts that exist are compared with the book and never\n" +
			"changed. The exit code is 1 if some lines failed or some accounts differ.\n\n" +
			"Before anything is sent, the book is checked as a whole: no account may be in it\n" +
			"twice, and it must have as many accounts as its control totals say. The server is asked\n" +
			"whether it takes the book: suppliers and their status, the team, payment vendors, fields,\n" +
			"the first documents, the quota, and the time. --skip-checks sends the book all the same.",
		Example: "  landfall import book --team 'Migration Team'\n" +
			"  landfall import book --team 'Migration Team' --dry-run --sample 100\n" +
			"  landfall import book/import-20260701-093000.000/failed --team 'Migration Team'",
	}, func(command *cobra.Command, server *client.Client, paths []string) error {
		if only != "" && only != "failed" {
			return usageError{fmt.Errorf("--only %s: want failed", only)}
		}
		found, err := book.Open(paths...)
		if err != nil {
			return usageError{err}
		}
		onlyPostings := len(found.Of(book.Accounts)) == 0 && order.Supplier == ""
		// Checked before anything is sent: the server would refuse every account.
		if order.Team == "" && !order.StageOnly && !onlyPostings {
			return usageError{errors.New("--team is required: the operations team for the created accounts")}
		}
		// Allowed, because an undo saves only postings, and a report may leave only postings to be fixed.
		if onlyPostings && !order.StageOnly {
			printWarning(command, "this book has no accounts; everything in it must be for existing accounts")
		}
		warnOthers(command, found)
		// Report what the server would refuse at the very end right away.
		if _, err := check.ReadTotals(command.Context(), found); err != nil {
			return usageError{err}
		}
		// The journal belongs to the first path.
		order.Book, order.OnlyFailed, order.Folder, order.Program = found, only == "failed", folderOf(paths[0]), programName()
		if !skipChecks {
			if err := checkBook(command, found); err != nil {
				return err
			}
			if err := preflight(command, server, order); err != nil {
				return err
			}
		}
		return importBook(command, server, order)
	})
	flags := command.Flags()
	flags.StringVar(&order.Team, "team", "", "operations team for the created accounts; not needed if the book has no accounts")
	flags.StringVar(&order.Supplier, "supplier", "", "create only this supplier's accounts (default: those named in the book)")
	flags.BoolVar(&order.DryRun, "dry-run", false, "create nothing; test every account")
	flags.IntVar(&order.Sample, "sample", 0, "create only every Nth account")
	flags.StringVar(&only, "only", "", "failed: create only accounts whose last attempt failed")
	flags.BoolVar(&order.StageOnly, "stage-only", false, "stage the accounts and do nothing else")
	flags.BoolVar(&order.AllStaged, "all-staged", false, "create everything the suppliers have staged, not only the accounts of this book")
	flags.BoolVar(&order.Restart, "restart", false, "start over, ignoring the journal of an earlier import of this book")
	flags.BoolVar(&skipChecks, "skip-checks", false, "send the book without checking it, and whether the server takes it, first")
	completeFlag(command, "only", oneOf("failed"))
	for _, name := range []string{"team", "supplier", "sample"} {
		completeFlag(command, name, noCompletion)
	}
	return command
}

// checkBook refuses a book that is not consistent, before anything is sent. The server checks the
// lines themselves.
func checkBook(command *cobra.Command, found *book.Book) error {
	bar := newCommandProgress(command, "lines checked")
	problems, err := check.Whole(command.Context(), found, bar.count)
	bar.clear()
	if err != nil || len(problems) == 0 {
		return explainInterrupt(err)
	}
	return usageError{fmt.Errorf("the book is not consistent, so nothing was sent: %s. Fix the book, or send it all the same with --skip-checks",
		escapeText(strings.Join(problems, "; ")))}
}

// warnOthers warns about files that were ignored, in case a name was mistyped.
func warnOthers(command *cobra.Command, found *book.Book) {
	for _, other := range found.Others {
		printWarning(command, other+" is not a file of a book and was ignored")
	}
}

// folderOf returns the folder of the journal, which is the folder of the book.
func folderOf(path string) string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return path
	}
	return filepath.Dir(path)
}

// importBook imports the book and prints the result.
func importBook(command *cobra.Command, server *client.Client, order importer.Options) error {
	watcher := newImportWatcher(command)
	// Counting ahead costs time, so it is only done if someone watches.
	order.Watched = watcher.terminal || watcher.json
	moving, err := importer.New(server, order, watcher)
	changed := &importer.ChangedError{}
	// Another import of this book is running, or the journal is about another book: the user has to
	// decide.
	if errors.Is(err, importer.ErrBusy) || errors.As(err, &changed) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	defer func() { _ = moving.Close() }() // the lock ends with the process at the latest
	result, err := moving.Run(command.Context())
	watcher.done()
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted; run the same command again to continue")
	}
	// The journal continues with any valid key, so only the key has to be fixed.
	if refused, is := errors.AsType[*client.Error](err); is && refused.Status == http.StatusUnauthorized {
		return fmt.Errorf("the server rejected the API key: %w; check LANDFALL_API_KEY, --api-key-file or --api-key and run the command again", err)
	} else if is && refused.Status < http.StatusInternalServerError && refused.Status != http.StatusTooManyRequests {
		// Retrying a permanent refusal does not help.
		return fmt.Errorf("%w; fix this and run the same command again, or another one with --restart", err)
	}
	if err != nil {
		return fmt.Errorf("%w; run the same command again to continue", classifyServerError(err))
	}
	if err := printImport(command, result); err != nil {
		return err
	}
	switch {
	case result.Failed():
		return errSomeFailed
	case result.Differs() > 0:
		return errDiffers
	}
	return nil
}

// printImport prints the totals, what to fix, and where the report is.
func printImport(command *cobra.Command, result importer.Result) error {
	data := map[string]any{"tallies": result.Tallies, "failed": result.Failures.Accounts, "differs": result.Differs(), "report": result.Folder}
	return printData(command, data, func(out io.Writer) {
		rows := [][]string{}
		for _, phase := range importer.Phases() {
			// Phases that did not run have no line.
			tally, known := result.Tallies[phase]
			if !known {
				continue
			}
			rows = append(rows, []string{
				string(phase), strconv.Itoa(tally.Lines), strconv.Itoa(tally.Done), strconv.Itoa(tally.Existing),
				strconv.Itoa(tally.Differs), strconv.Itoa(tally.Failed), strconv.Itoa(tally.NotReached),
			})
		}
		printTable(out, []string{"PHASE", "LINES", "DONE", "ALREADY THERE", "DIFFERS", "FAILED", "NOT REACHED"}, rows)
		printGroups(out, "MISTAKE", result.Failures.Groups)
		printRepairs(out, result.Failures)
		fmt.Fprintf(out, "\nReport: %s\n", escapeText(filepath.Join(result.Folder, "report.html")))
		if count := result.Differs(); count > 0 {
			fmt.Fprintf(out, "%s accounts exist and differ from the book. They were not changed. See %s.\n",
				report.Number(count), escapeText(filepath.Join(result.Folder, "differences.csv")))
		}
		if result.Failed() {
			fmt.Fprintf(out, "Fix the files in %s and import that folder.\n", escapeText(filepath.Join(result.Folder, "failed")))
		}
	})
}
