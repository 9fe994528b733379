package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"landfall/internal/kit/check"
	"landfall/internal/kit/report"
)

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
