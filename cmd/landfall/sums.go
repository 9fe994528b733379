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

// bookTotals says what a book comes to, beside what its source says it has. What is
// in the book stands where a reconciliation has what exists.
func bookTotals(proof check.Proof) (sums []report.Sum) {
	rows := proof.Rows()
	// The same report lines as a reconciliation has, so that both tables are read alike.
	for i := range rows {
		rows[i].Created = rows[i].Staged
	}
	refused := slices.Index(landfall.Reasons, landfall.ReasonFailed)
	for _, line := range operate.ReportLines(landfall.Reconciliation{Rows: rows}, nil) {
		// Compared as text: a difference of nothing is written with zeros alone, however many
		// decimals it has.
		sums = append(sums, report.Sum{
			Measure: line.Measure, Unit: line.Unit, Claimed: line.Claimed, Book: line.Created, Refused: line.Explained[refused], Missing: line.Difference,
			Differs: strings.Trim(line.Difference, "0.") != "",
		})
	}
	return sums
}

// printTotals prints them; what is missing is said below once more, for whoever
// does not read tables.
func printTotals(out io.Writer, proof check.Proof, sums []report.Sum) {
	rows, missing := [][]string{}, []string{}
	for _, sum := range sums {
		rows = append(rows, []string{sum.Measure, sum.Unit, sum.Claimed, sum.Book, sum.Refused, sum.Missing})
		if sum.Differs {
			missing = append(missing, sum.Measure+" "+sum.Missing)
		}
	}
	fmt.Fprintln(out)
	printNumbers(out, []string{"MEASURE", "UNIT", "CLAIMED", "IN THE BOOK", "ON WRONG LINES", "MISSING"}, rows, 2)
	switch {
	case proof.Totals == nil:
		fmt.Fprintln(out, "Nothing is claimed: the book has no control-totals.json.")
	case len(missing) > 0:
		fmt.Fprintf(out, "The control totals say otherwise; missing are: %s.\n", strings.Join(missing, ", "))
	default:
		fmt.Fprintln(out, "The book is what its control totals say.")
	}
}

// explainInterrupt says in words that somebody pressed Ctrl-C.
func explainInterrupt(err error) error {
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted")
	}
	return err
}
