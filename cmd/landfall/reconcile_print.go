package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"landfall/internal/kit/compare"
	"landfall/internal/kit/report"
)

// claimsState says how the control totals of the book and of the server stand
// to each other.
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

// stateMeanings say what the states are, for people.
var stateMeanings = map[compare.State]string{
	compare.Same: "there, as the book says", compare.Other: "there; the server says itself what it did otherwise than it was sent",
	compare.Differs: "there, with other figures", compare.Staged: "sent, waiting to be created", compare.Failed: "sent, could not be created",
	compare.Refused: "sent and refused", compare.Skipped: "marked to be skipped", compare.Missing: "not on the server",
	compare.Extra: "on the server, not in the book",
}

// printComparison prints the comparison, and names the first accounts.
func printComparison(out io.Writer, result compare.Result, named []compare.Finding, file string) {
	rows := [][]string{}
	for _, state := range compare.States() {
		// The line of those that are the same is always there, so that an empty book does not
		// print an empty table.
		if count := result.Accounts[state]; count > 0 || state == compare.Same {
			rows = append(rows, []string{string(state), report.Number(count), stateMeanings[state]})
		}
	}
	printTable(out, []string{"STATE", "ACCOUNTS", "MEANING"}, rows)
	if result.Twice > 0 {
		fmt.Fprintf(out, "%s accounts are in the book twice; the later one counts.\n", report.Number(result.Twice))
	}
	if result.Unreadable > 0 {
		fmt.Fprintf(out, "%s lines of the book cannot be read; 'landfall validate' names them.\n", report.Number(result.Unreadable))
	}
	for _, s := range result.Suppliers {
		printSupplierTotals(out, s)
	}
	printFindings(out, named, result, file)
	if result.Agrees() {
		fmt.Fprintln(out, "\nThe server has what the book has.")
	}
}

// printSupplierTotals prints the figures of one supplier, those that differ marked.
func printSupplierTotals(out io.Writer, s *compare.Supplier) {
	fmt.Fprintln(out)
	if s.Unknown {
		fmt.Fprintf(out, "The server has no import supplier %s, or not for this key.\n", escapeText(s.Code))
		return
	}
	rows := [][]string{}
	for _, line := range totalsLines(s) {
		rows = append(rows, []string{line.Measure, line.Unit, line.Claimed, line.Created, line.Difference})
	}
	printNumbers(out, []string{escapeText(s.Code), "UNIT", "BOOK", "SERVER", "DIFFERENCE"}, rows, 2)
	switch claimsState(s.Claims) {
	case "not set":
		fmt.Fprintln(out, "The control totals of the book are not set on the server; --set-totals does it.")
	case "differ":
		fmt.Fprintf(out, "The control totals on the server are not those of the book: %s.\n", strings.Join(s.Claims.Different, ", "))
	case "same":
		fmt.Fprintln(out, "The control totals on the server are those of the book.")
	}
}

// printFindings names some of the accounts that differ; all of them are in
// the file.
func printFindings(out io.Writer, named []compare.Finding, result compare.Result, file string) {
	rows := [][]string{}
	for _, one := range named[:min(maxShown, len(named))] {
		var differences []string
		for _, differs := range one.Differences {
			differences = append(differences, differs.What+" "+differs.Book+" in the book, "+differs.Server+" there")
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
	// Without a file the way to get one is told; with one it has all of them, also those shown
	// here.
	switch more := all - len(rows); {
	case more > 0 && file == "":
		fmt.Fprintln(out, "and "+strconv.Itoa(more)+" more; --differences FILE writes all of them")
	case file != "":
		fmt.Fprintln(out, "All of them: "+escapeText(file))
	}
}
