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

	"github.com/spf13/cobra"

	"landfall/client"
	"landfall/internal/kit/book"
	"landfall/internal/kit/check"
	"landfall/internal/kit/importer"
)

// importCommand moves a book. It talks to a server alone, as any integrator.
func importCommand() *cobra.Command {
	order := importer.Order{}
	only := ""
	command := onServer(&cobra.Command{
		Use: "import PATH...", Short: "Move a book of accounts onto a server", Args: checkArguments(cobra.MinimumNArgs(1)),
		Long: "Move a book (a folder with accounts.ndjson, notes.ndjson and so on) onto a server:\n" +
			"stage its accounts, let the server create them and watch, add notes, transactions,\n" +
			"statements and payment instructions, set the control totals, report.\n\n" +
			"A journal beside the book keeps how far it is: an import that was interrupted, by\n" +
			"Ctrl-C, a crash or a server that stayed away, goes on where it was when the same\n" +
			"command is given again. What failed is left in a folder with the report; mend the\n" +
			"files in its failed/ and import that folder. The exit code is 1 when some failed.",
		Example: "  landfall import book --team 'Migration Team'\n" +
			"  landfall import book --team 'Migration Team' --dry-run --sample 100\n" +
			"  landfall import book/import-20260701-093000.000/failed --team 'Migration Team'",
	}, func(command *cobra.Command, server *client.Client, paths []string) error {
		// A word that is not known is refused rather than ignored: it would send everything.
		if only != "" && only != "failed" {
			return usageError{fmt.Errorf("--only %s is not known; it can be failed", only)}
		}
		// Asked for before anything is sent: the server would refuse every account.
		if order.Team == "" && !order.StageOnly {
			return usageError{errors.New("--team is needed: the operations team that looks after the accounts")}
		}
		found, err := book.Open(paths...)
		if err != nil {
			return usageError{err}
		}
		// Such a book is what a report leaves to be mended, so it is allowed.
		if len(found.Of(book.Accounts)) == 0 && order.Supplier == "" && !order.StageOnly {
			printWarning(command, "there are no accounts in this book; what it adds must be for accounts that exist")
		}
		// A file with a mistyped name must not stay behind in silence.
		for _, other := range found.Others {
			printWarning(command, other+" is no file of a book and was left out")
		}
		// What the server would refuse at the very end is better known now.
		if _, err := check.ReadTotals(command.Context(), found); err != nil {
			return usageError{err}
		}
		// The journal belongs to the first path that was named, also where files of several
		// folders are one book.
		order.Book, order.OnlyFailed, order.Folder = found, only == "failed", folderOf(paths[0])
		return importBook(command, server, order)
	})
	flags := command.Flags()
	flags.StringVar(&order.Team, "team", "", "operations team that looks after the created accounts")
	flags.StringVar(&order.Supplier, "supplier", "", "create only this supplier's accounts (default those the book names)")
	flags.BoolVar(&order.DryRun, "dry-run", false, "create nothing: rehearse every account")
	flags.IntVar(&order.Sample, "sample", 0, "create only every Nth account")
	flags.StringVar(&only, "only", "", "failed: create only accounts whose last attempt failed")
	flags.BoolVar(&order.StageOnly, "stage-only", false, "stage the accounts and leave the rest for later")
	flags.BoolVar(&order.Restart, "restart", false, "begin anew, whatever an earlier import of this book left")
	completeFlag(command, "only", oneOf("failed"))
	for _, plain := range []string{"team", "supplier", "sample"} {
		completeFlag(command, plain, noCompletion)
	}
	return command
}

// folderOf is where the journal is kept: the book's own folder.
func folderOf(path string) string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return path
	}
	return filepath.Dir(path)
}

// importBook moves the book and says what came of it.
func importBook(command *cobra.Command, server *client.Client, order importer.Order) error {
	watcher := newImportWatcher(command)
	// Nobody counts for somebody who does not look.
	order.Watched = watcher.terminal || watcher.machine
	moving, err := importer.New(server, order, watcher)
	changed := &importer.ChangedError{}
	// Another import of this book, or another book than the journal is about: both are
	// for whoever typed this to decide.
	if errors.Is(err, importer.ErrBusy) || errors.As(err, &changed) {
		return usageError{err}
	}
	if err != nil {
		return err
	}
	defer func() { _ = moving.Close() }() // the lock ends with the process at the latest
	result, err := moving.Move(command.Context())
	// The bars end before anything is said, whatever came of it.
	watcher.done()
	// The journal has everything, so the advice is short.
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted; give the same command again to go on")
	}
	// With a good key the journal goes on where it was, so the key is all that has to be changed.
	if refused, is := errors.AsType[*client.Error](err); is && refused.Status == http.StatusUnauthorized {
		return fmt.Errorf("the server does not take the API key: %w; look at LANDFALL_API_KEY, --api-key-file or --api-key and give the command again", err)
	} else if is && refused.Status < http.StatusInternalServerError && refused.Status != http.StatusTooManyRequests {
		// What was refused for good is not mended by trying again as it is; everything else may
		// be.
		return fmt.Errorf("%w; when that is mended give the same command again, or another one with --restart", err)
	}
	if err != nil {
		return fmt.Errorf("%w; give the same command again to go on", classifyServerError(err))
	}
	if err := printImport(command, result); err != nil {
		return err
	}
	// The report was printed and the import is over: only the exit code still says that something
	// failed.
	if result.Failed() {
		return errSomeFailed
	}
	return nil
}

// printImport prints the totals, what to mend, and where the report is.
func printImport(command *cobra.Command, result importer.Result) error {
	data := map[string]any{"tallies": result.Tallies, "failed": result.Failures.Accounts, "report": result.Folder}
	return printData(command, data, func(out io.Writer) {
		rows := [][]string{}
		for _, phase := range importer.Phases() {
			// A phase that was not asked for has no line.
			tally, known := result.Tallies[phase]
			if !known {
				continue
			}
			rows = append(rows, []string{
				string(phase), strconv.Itoa(tally.Lines), strconv.Itoa(tally.Done), strconv.Itoa(tally.There),
				strconv.Itoa(tally.Failed), strconv.Itoa(tally.NotReached),
			})
		}
		printTable(out, []string{"WHAT", "LINES", "DONE", "ALREADY THERE", "FAILED", "NOT REACHED"}, rows)
		printGroups(out, "MISTAKE", result.Failures.Groups)
		printRepairs(out, result.Failures.Steps())
		fmt.Fprintf(out, "\nThe report: %s\n", escapeText(filepath.Join(result.Folder, "report.html")))
		if result.Failed() {
			fmt.Fprintf(out, "Mend the files in %s and import that folder.\n", escapeText(filepath.Join(result.Folder, "failed")))
		}
	})
}
