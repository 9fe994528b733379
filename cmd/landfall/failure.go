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
	"landfall/internal/service/operate"
)

// accountFailed prints while it reads: a migration gone wrong has many, and
// none is kept in memory.
func accountFailed() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "failed SUPPLIER", Short: "List the accounts that do not get on, and why", Args: checkArguments(cobra.ExactArgs(1)),
		ValidArgsFunction: completeArguments(supplierCodes),
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		// Buffered, since every account is a line or more, and flushed at the end, where a full
		// disk becomes an error.
		out := bufio.NewWriter(command.OutOrStdout())
		write := printFailed
		asked := jsonWanted(command)
		if asked {
			write = encodeFailed
		}
		// The first one opens the array, and none at all is an empty one.
		count := 0
		err := operator.Failed(command.Context(), args[0], func(failed landfall.FailedProcess) error {
			count++
			return write(out, failed, count == 1)
		})
		switch {
		// An error leaves unfinished what was begun: half an array cannot be read as a whole
		// list.
		case err != nil:
			return err
		case asked && count == 0:
			fmt.Fprintln(out, "[]")
		case asked:
			fmt.Fprintln(out, "\n]")
		case count == 0:
			fmt.Fprintf(out, "No account of %s has failed in its last attempt or was refused.\n", escapeText(args[0]))
		}
		return out.Flush()
	})
}

// printFailed writes a failure for people: the account and the reason on one
// line, what is wrong with it on the next ones.
func printFailed(out io.Writer, failed landfall.FailedProcess, _ bool) error {
	failure := failed.Failure
	at := ""
	switch {
	case failure.AtStaging:
		at = " (staging)"
	case failure.DryRun:
		at = " (dry run)"
	}
	_, err := fmt.Fprintf(out, "%s  %s  %s%s\n", escapeText(failed.External), formatTime(failure.At), escapeText(failure.Code), at)
	// Codes and places without values: what is wrong may be personal.
	for _, violation := range failure.Violations {
		_, err = fmt.Fprintf(out, "    %s: %s\n", escapeText(violation.Attr), escapeText(violation.Code))
	}
	// Where nothing is wrong with the data the detail is all there is to say.
	if len(failure.Violations) == 0 {
		_, err = fmt.Fprintf(out, "    %s\n", escapeText(failure.Detail))
	}
	return err
}

// encodeFailed writes a failure as the API does, one element of an array.
func encodeFailed(out io.Writer, failed landfall.FailedProcess, first bool) error {
	// The brackets and commas are written here, because the array is never whole.
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

// accountErrors shows what to mend first. Alone counts the accounts for which a
// mistake is the only one known, which is not a promise: what vendors and
// document stores would say is only asked once the data is right.
func accountErrors() *cobra.Command {
	return onDatabase(&cobra.Command{
		Use: "errors SUPPLIER", Short: "Group the failures by code and place, the most frequent first", Args: checkArguments(cobra.ExactArgs(1)),
		ValidArgsFunction: completeArguments(supplierCodes),
		Long: "Group the failures by code and place, the most frequent first.\n\n" +
			"ACCOUNTS have this mistake in their last attempt or refused staging; ALONE have no\n" +
			"other known one. Payment vendors and documents are asked once the data is\n" +
			"right, so mending it may bring others to light. The last lines name the\n" +
			"shortest lists of mistakes to mend for 50, 80 and 95 percent of the accounts.",
	}, func(command *cobra.Command, operator *operate.Operator, args []string) error {
		summary, err := operator.FailureSummary(command.Context(), args[0], func(int) {})
		if err != nil {
			return err
		}
		rows := [][]string{}
		for _, group := range summary.Groups {
			rows = append(rows, []string{strconv.Itoa(group.Accounts), strconv.Itoa(group.Alone), group.Code, strings.TrimSpace(group.Attr)})
		}
		return printData(command, json.RawMessage(contract.SummaryBody.Append(nil, summary)), func(out io.Writer) {
			printTable(out, []string{"ACCOUNTS", "ALONE", "CODE", "WHERE"}, rows)
			printRepairs(out, summary.Steps())
		})
	})
}

// printRepairs names what to mend for most of the accounts.
func printRepairs(out io.Writer, repairs []landfall.Repair) {
	for _, repair := range repairs {
		names := make([]string, len(repair.Groups))
		for i, group := range repair.Groups {
			names[i] = strings.TrimSpace(escapeText(group.Code) + " " + escapeText(group.Attr))
		}
		fmt.Fprintf(out, "\n%d %% of the accounts (%d): mend %s", repair.Percent, repair.Accounts, strings.Join(names, ", "))
	}
	if len(repairs) > 0 {
		fmt.Fprintln(out)
	}
}
