package main

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/kit/report"
	"landfall/internal/service/operate"
)

// reconcileCommand compares a supplier's control totals with the database, or a book with a server.
// Its subcommands sign off and show signed reports.
func reconcileCommand() *cobra.Command {
	var measure, reason string
	command := onDatabase(&cobra.Command{
		Use: "reconcile SUPPLIER | BOOK...", Short: "Compare a source's control totals, or a book, with what exists",
		Args: checkArguments(cobra.MinimumNArgs(1)), ValidArgsFunction: completeArguments(supplierCodes),
		Long: "With the code of a supplier, on the database: compare the control totals of the\n" +
			"supplier's source with what was sent and what exists, all at one point in time. The\n" +
			"difference is claimed minus created. The columns after it show which accounts explain\n" +
			"it; --measure with --reason lists them.\n\n" +
			"With the folder or the files of a book, over the API of a server: compare the book\n" +
			"with the server: every account with all its fields, every note, transaction,\n" +
			"statement and payment instruction, and the totals. This needs an API key with the role\n" +
			"reader; --figures-only compares balances and counts with any key. The attrs that\n" +
			"differ are printed, and their values written with --differences. The exit code is 1\n" +
			"if they differ.\n" +
			"If a folder has the name of a supplier, write ./ before the folder.",
		Example: "  landfall reconcile book --server https://landfall.example --api-key-file key\n" +
			"  landfall reconcile NORTH\n" +
			"  landfall reconcile NORTH --measure balances.GBP --reason failed\n" +
			"  landfall reconcile sign-off NORTH --reason accounts=\"two closed before the migration\"",
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		// printAccountsBehind refuses one flag without the other.
		if measure != "" || reason != "" {
			return printAccountsBehind(command, operator, args[0], measure, reason)
		}
		found, err := operator.Reconcile(command.Context(), args[0])
		if err != nil {
			return err
		}
		// The same body as in the API.
		return printData(command, json.RawMessage(contract.ReconciliationBody.Append(nil, found)), func(out io.Writer) {
			printReconciliation(out, found)
		})
	})
	command.Flags().StringVar(&measure, "measure", "", "list the accounts behind a figure of this measure; requires --reason")
	command.Flags().StringVar(&reason, "reason", "", "which figure: pending, failed, skipped, moved_dates or other_figures")
	completeFlag(command, "reason", oneOf("pending", "failed", "skipped", "moved_dates", "other_figures"))
	command.AddCommand(reconcileSign(), reconcileReports(), reconcileShow(), reconcileTotals())
	return withBookArguments(command)
}

// printReconciliation prints the comparison, and repeats what is unexplained below it.
func printReconciliation(out io.Writer, found landfall.Reconciliation) {
	lines := contract.ReportLines(found, nil)
	heading := []string{"MEASURE", "UNIT", "CLAIMED", "STAGED", "CREATED"}
	// Most suppliers have no target.
	delivered := len(found.Rows) > 0 && found.Rows[0].Delivered != nil
	if delivered {
		heading = append(heading, "DELIVERED")
	}
	heading = append(heading, "DIFFERENCE", "PENDING", "FAILED", "SKIPPED", "MOVED DATES", "OTHER FIGURES", "UNEXPLAINED")
	rows, open := [][]string{}, []string{}
	for _, line := range lines {
		row := []string{line.Measure, line.Unit, line.Claimed, line.Staged, line.Created}
		if delivered {
			row = append(row, line.Delivered)
		}
		rows = append(rows, append(append(append(row, line.Difference), line.Explained...), line.Unexplained))
		if line.Open {
			open = append(open, line.Measure+" "+line.Unexplained)
		}
	}
	printNumbers(out, heading, rows, 2)
	fmt.Fprintln(out)
	// Without control totals nothing is unexplained, but nothing is proved either.
	switch {
	case found.Totals == nil:
		fmt.Fprintln(out, "Nothing to compare: the source has set no control totals.")
	case len(open) > 0:
		fmt.Fprintf(out, "Unexplained: %s.\n", strings.Join(open, ", "))
	default:
		fmt.Fprintln(out, "Everything that was claimed exists or is explained.")
	}
}

// printAccountsBehind prints while it reads, because there may be a million accounts.
func printAccountsBehind(command *cobra.Command, operator *operate.Operator, supplier, measure, reason string) error {
	if measure == "" || reason == "" {
		return usageError{errors.New("--measure and --reason must be given together")}
	}
	rows, err := operator.Contributions(command.Context(), supplier, measure, reason)
	if err != nil {
		return err
	}
	out := command.OutOrStdout()
	for one, err := range rows {
		if err != nil {
			return err
		}
		// One JSON object per line, so that a million accounts need not be one document.
		line := escapeJSON(string(contract.BehindBody.Append(nil, one)))
		if !jsonWanted(command) {
			line = escapeText(one.External)
			if one.AccountNumber != "" {
				line += "  " + one.AccountNumber
			}
			if one.Value.Count != nil {
				line += "  " + one.Value.Count.Digits()
			}
			if one.Value.Amount != nil {
				line += "  " + one.Value.Amount.String()
			}
		}
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	return nil
}

// signOffEntry is a signed reconciliation in lists and JSON, without its documents.
type signOffEntry struct {
	ID         int64  `json:"id" table:"REPORT"`
	Supplier   string `json:"import_supplier" table:"SUPPLIER"`
	SignedAt   string `json:"signed_at" table:"SIGNED"`
	Actor      string `json:"signed_by" table:"BY"`
	ReportHash string `json:"report_sha256" table:"SHA-256"`
	PageHash   string `json:"page_sha256"`
}

func newSignOffEntry(signed landfall.SignOff) signOffEntry {
	return signOffEntry{
		signed.ID, signed.Supplier, formatTime(signed.SignedAt), signed.Actor,
		hex.EncodeToString(signed.ReportHash[:]), hex.EncodeToString(signed.PageHash[:]),
	}
}

// reconcileTotals lists the control totals that were ever set.
func reconcileTotals() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "totals SUPPLIER", Short: "Show the control totals of a supplier, newest first", Args: checkArguments(cobra.ExactArgs(1)),
		ValidArgsFunction: completeArguments(supplierCodes),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		history, err := operator.ControlTotalsHistory(command.Context(), args[0])
		if err != nil {
			return err
		}
		return printData(command, json.RawMessage(contract.ControlTotalsHistoryBody.Append(nil, history)), func(out io.Writer) {
			printTable(out, []string{"SET", "BY", "TOTALS"}, rowsOf(history, func(totals landfall.ControlTotals) []string {
				return []string{formatTime(totals.SetAt), totals.By.Organisation, totals.Text()}
			}))
		})
	})
}

// reconcileSign signs off a reconciliation in which every difference is explained or has a written
// reason.
func reconcileSign() *cobra.Command {
	var reasons, books []string
	command := onDatabase(&cobra.Command{
		Annotations: map[string]string{longRunning: "yes"},
		Use:         "sign-off SUPPLIER", Short: "Sign off a reconciliation once everything is explained",
		Args: checkArguments(cobra.ExactArgs(1)), ValidArgsFunction: completeArguments(supplierCodes),
		Long: "Recompute all figures from the ledgers and the other rows, compare them with the\n" +
			"control totals, and sign the result: it is stored as JSON and as a printable page, its\n" +
			"SHA-256 is recorded in the audit log, and it never changes. Everything unexplained\n" +
			"needs a written reason.\n\n" +
			"The report has the chain of custody: for each book named with --book the SHA-256 of its\n" +
			"files, of the tables and the map it was converted from, the rows left out, the lines\n" +
			"fixed, the reports of its imports, the versions of the programs, and how many accounts\n" +
			"were undone.",
		Example: "  landfall reconcile sign-off NORTH --book book --book book/import-20260701-093000.000/failed",
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		// A measure named twice would silently keep only the last reason.
		written := map[string]string{}
		for _, text := range reasons {
			measure, reason, cut := strings.Cut(text, "=")
			if !cut || written[measure] != "" {
				return usageError{fmt.Errorf("--reason %q: want MEASURE=TEXT, each measure once", escapeText(text))}
			}
			written[measure] = reason
		}
		custody := contract.Custody{Program: programName()}
		for _, folder := range books {
			one, err := report.Custody(folder)
			if err != nil {
				return usageError{err}
			}
			custody.Books = append(custody.Books, one)
		}
		signed, err := operator.SignOff(command.Context(), args[0], written, custody)
		if err != nil {
			return err
		}
		entry := newSignOffEntry(signed)
		return printDone(command, entry, "Signed off as report %d, SHA-256 %s. Print it with: landfall reconcile show %d --html",
			entry.ID, entry.ReportHash, entry.ID)
	})
	command.Flags().StringArrayVar(&reasons, "reason", nil, "MEASURE=TEXT: why something is unexplained; kept forever, no personal data")
	command.Flags().StringArrayVar(&books, "book", nil, "folder of a book that was imported, for the chain of custody; can be repeated")
	_ = command.MarkFlagDirname("book") // cannot fail: the flag exists
	return command
}

// reconcileReports lists the hashes, so that a printed report can be identified.
func reconcileReports() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "reports [SUPPLIER]", Short: "List signed reports, newest first",
		Args: checkArguments(cobra.MaximumNArgs(1)), ValidArgsFunction: completeArguments(supplierCodes),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		signed, err := operator.SignOffs(command.Context(), strings.Join(args, "")) // none means all
		if err != nil {
			return err
		}
		return printList(command, rowsOf(signed, newSignOffEntry))
	})
}

// reconcileShow prints the signed bytes unchanged, so that their hash can be checked.
func reconcileShow() *cobra.Command {
	var page bool
	command := onDatabase(&cobra.Command{
		Use: "show REPORT", Short: "Print a signed report, byte for byte",
		Args: checkArguments(cobra.ExactArgs(1)), ValidArgsFunction: completeArguments(noCompletion),
		Example: "  landfall reconcile show 3 > report.json\n  landfall reconcile show 3 --html > report.html",
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		id, err := strconv.ParseInt(args[0], 10, 64)
		if err != nil {
			return usageError{fmt.Errorf("%q is not a report number; list them with 'landfall reconcile reports'", escapeText(args[0]))}
		}
		signed, err := operator.ShowSignOff(command.Context(), id)
		if err != nil {
			return err
		}
		document := signed.Report
		if page {
			document = signed.Page
		}
		_, err = command.OutOrStdout().Write(document)
		return err
	})
	command.Flags().BoolVar(&page, "html", false, "print the HTML page instead of the JSON")
	return command
}
