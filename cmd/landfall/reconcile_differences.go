package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"landfall/internal/api/contract"
	"landfall/internal/kit/compare"
	"landfall/internal/kit/report"
)

// claimsState describes how the control totals of the book and the server relate.
func claimsState(claims compare.Claims) string {
	switch {
	case !claims.InBook:
		return "none in the book"
	case !claims.OnServer:
		return "not set"
	case len(claims.Different) > 0:
		return "differ"
	}
	return "same"
}

// stateMeanings explain the states to people.
var stateMeanings = map[compare.State]string{
	compare.Same: "on the server, as in the book", compare.Other: "on the server; the server reports what it changed",
	compare.Erased:  "on the server; its personal data was erased",
	compare.Differs: "on the server, and differs from the book", compare.Staged: "sent, waiting to be created", compare.Failed: "sent, could not be created",
	compare.Refused: "sent and refused", compare.Skipped: "marked as skipped", compare.Missing: "not on the server",
	compare.Extra: "on the server, not in the book",
}

// printComparison prints the comparison and the first accounts that differ.
func printComparison(out io.Writer, result compare.Result, named []compare.Finding, file string) {
	rows := [][]string{}
	for _, state := range compare.States() {
		// The first line is always printed, so that the table is never empty.
		if count := result.Accounts[state]; count > 0 || state == compare.Same {
			rows = append(rows, []string{string(state), report.Number(count), stateMeanings[state]})
		}
	}
	printTable(out, []string{"STATE", "ACCOUNTS", "MEANING"}, rows)
	if result.Duplicates > 0 {
		fmt.Fprintf(out, "%s accounts are in the book twice; the later one is used.\n", report.Number(result.Duplicates))
	}
	if result.Unreadable > 0 {
		fmt.Fprintf(out, "%s lines of the book cannot be read; 'landfall validate' lists them.\n", report.Number(result.Unreadable))
	}
	for _, s := range result.Suppliers {
		printSupplierTotals(out, s)
	}
	printFindings(out, named, result, file)
	if result.Agrees() {
		fmt.Fprintln(out, "\nThe server matches the book.")
	}
}

func printSupplierTotals(out io.Writer, s *compare.Supplier) {
	fmt.Fprintln(out)
	if s.Unknown {
		fmt.Fprintf(out, "The server has no import supplier %s, or this key has no access to it.\n", escapeText(s.Code))
		return
	}
	printNumbers(out, []string{s.Code, "UNIT", "BOOK", "SERVER", "DIFFERENCE"}, rowsOf(totalsLines(s), func(line contract.ReportLine) []string {
		return []string{line.Measure, line.Unit, line.Claimed, line.Created, line.Difference}
	}), 2)
	switch claimsState(s.Claims) {
	case "not set":
		fmt.Fprintln(out, "The control totals of the book are not set on the server; set them with --set-totals.")
	case "differ":
		fmt.Fprintf(out, "The control totals on the server differ from those of the book: %s.\n", strings.Join(s.Claims.Different, ", "))
	case "same":
		fmt.Fprintln(out, "The control totals on the server match those of the book.")
	}
}

// printFindings lists the first accounts that differ; the file has all of them.
func printFindings(out io.Writer, named []compare.Finding, result compare.Result, file string) {
	rows := [][]string{}
	for _, one := range named[:min(maxShown, len(named))] {
		var differences []string
		for _, differs := range one.Differences {
			text := differs.Attr
			if differs.Figure {
				text += " is " + differs.Book + " in the book, " + differs.Server + " on the server"
			}
			differences = append(differences, text)
		}
		why := strings.TrimSpace(one.Code + " " + strings.Join(differences, "; "))
		rows = append(rows, []string{one.Key.External, string(one.State), why})
	}
	if len(rows) == 0 {
		return
	}
	all := 0
	for state, count := range result.Accounts {
		if state != compare.Same {
			all += count
		}
	}
	fmt.Fprintln(out)
	printTable(out, []string{"ACCOUNT", "STATE", "WHY"}, rows)
	switch more := all - len(rows); {
	case more > 0 && file == "":
		fmt.Fprintln(out, "and "+strconv.Itoa(more)+" more; write all of them to a file with --differences FILE")
	case file != "":
		fmt.Fprintln(out, "All of them are in "+escapeText(file))
	}
}
