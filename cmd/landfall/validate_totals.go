package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"landfall"
	"landfall/internal/kit/check"
	"landfall/internal/kit/report"
	"landfall/internal/service/operate"
)

// bookTotals compares the totals of a book with its control totals.
func bookTotals(result check.Result) (sums []report.Total) {
	rows := result.Rows()
	// The report lines of a reconciliation, with the book in place of what was created.
	for i := range rows {
		rows[i].Created = rows[i].Staged
	}
	refused := slices.Index(landfall.Reasons, landfall.ReasonFailed)
	for _, line := range operate.ReportLines(landfall.Reconciliation{Rows: rows}, nil) {
		// A difference of zero may have any number of decimals.
		sums = append(sums, report.Total{
			Measure: line.Measure, Unit: line.Unit, Claimed: line.Claimed, Book: line.Created, Refused: line.Explained[refused], Missing: line.Difference,
			Differs: strings.Trim(line.Difference, "0.") != "",
		})
	}
	return sums
}

// printTotals prints the totals, and repeats what is missing below them.
func printTotals(out io.Writer, result check.Result, sums []report.Total) {
	missing := []string{}
	for _, sum := range sums {
		if sum.Differs {
			missing = append(missing, sum.Measure+" "+sum.Missing)
		}
	}
	fmt.Fprintln(out)
	printNumbers(out, []string{"MEASURE", "UNIT", "CLAIMED", "IN THE BOOK", "ON INVALID LINES", "MISSING"}, rowsOf(sums, func(sum report.Total) []string {
		return []string{sum.Measure, sum.Unit, sum.Claimed, sum.Book, sum.Refused, sum.Missing}
	}), 2)
	switch {
	case result.Totals == nil:
		fmt.Fprintln(out, "Nothing to compare: the book has no control-totals.json.")
	case len(missing) > 0:
		fmt.Fprintf(out, "The book differs from its control totals; missing: %s.\n", strings.Join(missing, ", "))
	default:
		fmt.Fprintln(out, "The book matches its control totals.")
	}
}

// explainInterrupt replaces the error of a canceled context.
func explainInterrupt(err error) error {
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted")
	}
	return err
}
