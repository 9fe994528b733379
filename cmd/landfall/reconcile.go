package main

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/service/operate"
)

// reconcileCommand proves that a book arrived. Alone it prints the comparison;
// the commands below it sign and show what was signed.
func reconcileCommand() *cobra.Command {
	var measure, reason string
	command := onDatabase(&cobra.Command{
		Use: "reconcile SUPPLIER | BOOK...", Short: "Compare what a source claims, or a book has, with what exists",
		Args: checkArguments(cobra.MinimumNArgs(1)), ValidArgsFunction: completeArguments(supplierCodes),
		Long: "With the code of a supplier, on the database: compare what the supplier's source\n" +
			"claims with what was sent and what exists, all of it as of one moment. The\n" +
			"difference is claimed less created; the columns behind it say on which accounts it\n" +
			"rests, and --measure with --reason names them.\n\n" +
			"With the folder or the files of a book, over the API of a server: compare the book\n" +
			"with what is there, account by account and in totals. The exit code is 1 when they\n" +
			"differ. A folder that is called like a supplier is meant with ./ before its name.",
		Example: "  landfall reconcile book --server https://landfall.example --api-key-file key\n" +
			"  landfall reconcile NORTH\n" +
			"  landfall reconcile NORTH --measure balances.GBP --reason failed\n" +
			"  landfall reconcile sign-off NORTH --reason accounts=\"two closed before the migration\"",
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		// With either of the two a figure is meant; printBehind refuses one without the other.
		if measure != "" || reason != "" {
			return printAccountsBehind(command, operator, args[0], measure, reason)
		}
		found, err := operator.Reconcile(command.Context(), args[0])
		if err != nil {
			return err
		}
		// The body of the API, so that scripts read the same whichever way they asked.
		return printData(command, json.RawMessage(contract.ReconciliationBody.Append(nil, found)), func(out io.Writer) {
			printReconciliation(out, found)
		})
	})
	command.Flags().StringVar(&measure, "measure", "", "name the accounts behind a figure of this measure; --reason belongs to it")
	command.Flags().StringVar(&reason, "reason", "", "which figure: pending, failed, skipped or other_figures")
	completeFlag(command, "reason", oneOf("pending", "failed", "skipped", "other_figures"))
	command.AddCommand(reconcileSign(), reconcileReports(), reconcileShow())
	return withBookArguments(command)
}

// printReconciliation prints the comparison; what is unexplained is said below
// it once more, for whoever does not read tables.
func printReconciliation(out io.Writer, found landfall.Reconciliation) {
	lines := operate.ReportLines(found, nil)
	heading := []string{"MEASURE", "UNIT", "CLAIMED", "STAGED", "CREATED", "DIFFERENCE", "PENDING", "FAILED", "SKIPPED", "OTHER FIGURES", "UNEXPLAINED"}
	rows, open := [][]string{}, []string{}
	for _, line := range lines {
		rows = append(rows, append(append([]string{line.Measure, line.Unit, line.Claimed, line.Staged, line.Created, line.Difference},
			line.Explained...), line.Unexplained))
		if line.Open {
			open = append(open, line.Measure+" "+line.Unexplained)
		}
	}
	printNumbers(out, heading, rows, 2)
	fmt.Fprintln(out)
	// No totals goes first: without them everything would be explained, and nothing proved.
	switch {
	case found.Totals == nil:
		fmt.Fprintln(out, "Nothing is claimed: the source has set no control totals.")
	case len(open) > 0:
		fmt.Fprintf(out, "Unexplained: %s.\n", strings.Join(open, ", "))
	default:
		fmt.Fprintln(out, "Everything that was claimed is there or explained.")
	}
}

// printNumbers prints a table whose columns from some on stand at the right, as
// numbers are read.
func printNumbers(out io.Writer, heading []string, rows [][]string, from int) {
	widths := make([]int, len(heading))
	// Cells are cleaned first: what is not printed must not widen a column.
	all := append([][]string{heading}, rows...)
	for _, row := range all {
		for i, cell := range row {
			if row[i] = escapeText(cell); row[i] == "" {
				row[i] = "-"
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	for _, row := range all {
		for i, cell := range row {
			width := widths[i]
			if i < from {
				width = -width // at the left
			}
			row[i] = fmt.Sprintf("%*s", width, cell)
		}
		fmt.Fprintln(out, strings.TrimRight(strings.Join(row, "  "), " "))
	}
}

// printAccountsBehind prints while it reads: there may be a million of them.
func printAccountsBehind(command *cobra.Command, operator *operate.Operator, supplier, measure, reason string) error {
	if measure == "" || reason == "" {
		return usageError{errors.New("--measure and --reason belong together: they name the figure whose accounts are wanted")}
	}
	rows, err := operator.Contributions(command.Context(), supplier, measure, reason)
	if err != nil {
		return err
	}
	out := command.OutOrStdout()
	// An error in the middle ends with another exit code than 0: whoever counts lines must not
	// take them for all.
	for one, err := range rows {
		if err != nil {
			return err
		}
		// A JSON object on every line, so that a million need not be one document.
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

// signOffEntry is a signed reconciliation for machines.
type signOffEntry struct {
	ID         int64  `json:"id"`
	Supplier   string `json:"import_supplier"`
	SignedAt   string `json:"signed_at"`
	Actor      string `json:"signed_by"`
	ReportHash string `json:"report_sha256"`
	PageHash   string `json:"page_sha256"`
}

// entryOf is a sign-off without its documents, for lists.
func entryOf(signed landfall.SignOff) signOffEntry {
	return signOffEntry{
		signed.ID, signed.Supplier, formatTime(signed.SignedAt), signed.Actor,
		hex.EncodeToString(signed.ReportHash[:]), hex.EncodeToString(signed.PageHash[:]),
	}
}

// reconcileSign seals only what is explained; a reason is typed for what
// differs and stays with the report.
func reconcileSign() *cobra.Command {
	var reasons []string
	command := onDatabase(&cobra.Command{
		Annotations: map[string]string{longRunning: "yes"},
		Use:         "sign-off SUPPLIER", Short: "Seal the comparison when everything is explained",
		Args: checkArguments(cobra.ExactArgs(1)), ValidArgsFunction: completeArguments(supplierCodes),
		Long: "Count everything anew from the ledgers and the other rows, compare it with what\n" +
			"is claimed, and seal the result: it is kept as JSON and as a page to print, its\n" +
			"SHA-256 goes into the audit, and it never changes again. Whatever is unexplained\n" +
			"needs a reason in writing.",
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		// A measure named twice would keep the reason that was typed last, and nobody would
		// know.
		given := map[string]string{}
		for _, text := range reasons {
			measure, reason, cut := strings.Cut(text, "=")
			if !cut || given[measure] != "" {
				return usageError{fmt.Errorf("--reason %q is none: write MEASURE=TEXT, each measure once", escapeText(text))}
			}
			given[measure] = reason
		}
		// Counted anew by the verb, because what was printed before may not hold any more.
		signed, err := operator.SignOff(command.Context(), args[0], given)
		if err != nil {
			return err
		}
		entry := entryOf(signed)
		return printDone(command, entry, "Signed off as report %d, SHA-256 %s. Print it with: landfall reconcile show %d --html",
			entry.ID, entry.ReportHash, entry.ID)
	})
	command.Flags().StringArrayVar(&reasons, "reason", nil, "MEASURE=TEXT: why something is unexplained; kept for good, no personal data")
	return command
}

// reconcileReports lists hashes, so that somebody who has a paper in his hand can see
// whether it is one of these.
func reconcileReports() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "reports [SUPPLIER]", Short: "List what was signed off, the newest first",
		Args: checkArguments(cobra.MaximumNArgs(1)), ValidArgsFunction: completeArguments(supplierCodes),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		// No supplier means all of them, and there is at most one word.
		signed, err := operator.SignOffs(command.Context(), strings.Join(args, ""))
		if err != nil {
			return err
		}
		entries, rows := []signOffEntry{}, [][]string{}
		for _, one := range signed {
			entry := entryOf(one)
			entries = append(entries, entry)
			rows = append(rows, []string{strconv.FormatInt(entry.ID, 10), entry.Supplier, entry.SignedAt, entry.Actor, entry.ReportHash})
		}
		return printData(command, entries, func(out io.Writer) {
			printTable(out, []string{"REPORT", "SUPPLIER", "SIGNED", "BY", "SHA-256"}, rows)
		})
	})
}

// reconcileShow prints bytes and not data: a hash is taken of them.
func reconcileShow() *cobra.Command {
	var page bool
	command := onDatabase(&cobra.Command{
		Use: "show REPORT", Short: "Print a sealed report, byte for byte as it was sealed",
		Args: checkArguments(cobra.ExactArgs(1)), ValidArgsFunction: completeArguments(noCompletion),
		Example: "  landfall reconcile show 3 > report.json\n  landfall reconcile show 3 --html > report.html",
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		id, err := strconv.ParseInt(args[0], 10, 64)
		if err != nil {
			return usageError{fmt.Errorf("%q is not the number of a report: 'landfall reconcile reports' lists them", escapeText(args[0]))}
		}
		signed, err := operator.ShowSignOff(command.Context(), id)
		if err != nil {
			return err
		}
		// Not a byte more: whoever checks the hash must find it.
		document := signed.Report
		if page {
			document = signed.Page
		}
		_, err = command.OutOrStdout().Write(document)
		return err
	})
	command.Flags().BoolVar(&page, "html", false, "print the page for people instead of the JSON")
	return command
}
