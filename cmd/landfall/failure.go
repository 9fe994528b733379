package main

import (
	"bufio"
	"bytes"
	"encoding/json"
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

// accountFailed prints while it reads, so that a long list is never held in memory.
func accountFailed() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "failed SUPPLIER", Short: "List the accounts that failed, and why", Args: checkArguments(cobra.ExactArgs(1)),
		ValidArgsFunction: completeArguments(supplierCodes),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		out := bufio.NewWriter(command.OutOrStdout())
		write := printFailed
		asJSON := jsonWanted(command)
		if asJSON {
			write = encodeFailed
		}
		count := 0
		err := operator.Failed(command.Context(), args[0], func(failed landfall.FailedProcess) error {
			count++
			return write(out, failed, count == 1)
		})
		switch {
		// After an error the JSON array stays open, so that it cannot be taken for a full list.
		case err != nil:
			return err
		case asJSON && count == 0:
			fmt.Fprintln(out, "[]")
		case asJSON:
			fmt.Fprintln(out, "\n]")
		case count == 0:
			fmt.Fprintf(out, "No account of %s has failed.\n", escapeText(args[0]))
		}
		return out.Flush()
	})
}

// printFailed prints an account and its failure on one line, and its violations on the following
// lines.
func printFailed(out io.Writer, failed landfall.FailedProcess, _ bool) error {
	failure := failed.Failure
	at := ""
	switch {
	case failure.Posting != "":
		at = " (" + strings.ToLower(strings.ReplaceAll(string(failure.Posting), "_", " ")) + ")"
	case failure.AtStaging:
		at = " (staging)"
	case failure.DryRun:
		at = " (dry run)"
	}
	_, err := fmt.Fprintf(out, "%s  %s  %s%s\n", escapeText(failed.External), formatTime(failure.At), escapeText(failure.Code), at)
	// Codes and attrs without values, which may be personal.
	for _, violation := range failure.Violations {
		_, err = fmt.Fprintf(out, "    %s: %s\n", escapeText(violation.Attr), escapeText(violation.Code))
	}
	// Without violations the detail is all there is to say.
	if len(failure.Violations) == 0 {
		_, err = fmt.Fprintf(out, "    %s\n", escapeText(failure.Detail))
	}
	return err
}

// encodeFailed writes a failure as an element of a JSON array, as the API does.
func encodeFailed(out io.Writer, failed landfall.FailedProcess, first bool) error {
	// The brackets and commas are written here, because the array is never in memory as a whole.
	var element bytes.Buffer
	element.WriteString(",\n  ")
	if first {
		element.Reset()
		element.WriteString("[\n  ")
	}
	if err := json.Indent(&element, contract.FailedBody.Append(nil, failed), "  ", "  "); err != nil {
		return err
	}
	_, err := io.WriteString(out, escapeJSON(element.String()))
	return err
}

// accountErrors shows what to fix first. ALONE counts the accounts for which this is the only known
// mistake. Fixing it may reveal others: vendors and document stores are asked only once the data is
// valid.
func accountErrors() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "errors SUPPLIER", Short: "Group the failures by code and attr, most frequent first", Args: checkArguments(cobra.ExactArgs(1)),
		ValidArgsFunction: completeArguments(supplierCodes),
		Long: "Group the failures by code and attr, most frequent first.\n\n" +
			"ACCOUNTS is how many accounts have this mistake in their last attempt or refused\n" +
			"staging; ALONE is how many have no other known mistake. Payment vendors and document\n" +
			"stores are asked only once the data is valid, so fixing a mistake may reveal others.\n" +
			"The last lines name the shortest lists of mistakes to fix for 50, 80 and 95 percent\n" +
			"of the accounts.",
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		summary, err := operator.FailureSummary(command.Context(), args[0], func(int) {})
		if err != nil {
			return err
		}
		return printData(command, json.RawMessage(contract.SummaryBody.Append(nil, summary)), func(out io.Writer) {
			printTable(out, []string{"ACCOUNTS", "ALONE", "CODE", "WHERE"}, rowsOf(summary.Groups, groupRow))
			printRepairs(out, summary)
		})
	})
}

// groupRow is a group of failures as a row of a table.
func groupRow(group landfall.FailureGroup) []string {
	return []string{strconv.Itoa(group.Accounts), strconv.Itoa(group.Alone), group.Code, strings.TrimSpace(group.Attr)}
}

// printRepairs names the mistakes to fix for most of the accounts.
func printRepairs(out io.Writer, summary landfall.FailureSummary) {
	repairs := summary.Steps()
	for _, repair := range repairs {
		names := make([]string, len(repair.Groups))
		for i, group := range repair.Groups {
			names[i] = strings.TrimSpace(escapeText(group.Code) + " " + escapeText(group.Attr))
		}
		fmt.Fprintf(out, "\nFix %s and %d of %d pass (%s).", strings.Join(names, ", "),
			repair.Accounts, summary.Accounts, report.Percent(repair.Accounts, summary.Accounts))
	}
	if len(repairs) > 0 {
		fmt.Fprintln(out)
	}
}
