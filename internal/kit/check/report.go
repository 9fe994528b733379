package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/kit/book"
	"landfall/internal/kit/report"
)

// Report writes a failed line to a report. A line with only warnings is valid and
// needs no fix.
func (m Mistake) Report(writer *report.Writer) error {
	if m.Wrong() {
		if err := writer.Fail(m.File, m.Line, m.External, m.Failure); err != nil {
			return err
		}
	}
	return writer.Warn(m.File, m.Line, m.External, m.Warnings)
}

// Summary returns the summary of a report about the book.
func (r Result) Summary(found *book.Book, program string, started time.Time) report.Summary {
	summary := report.Summary{
		Title: "Validation report", Program: program, MadeAt: started, Failures: r.Wrong, Warnings: r.Warnings,
	}
	lines := 0
	for _, kind := range book.Kinds() {
		count, read := r.Counts[kind]
		if !read {
			continue
		}
		lines += count.Lines
		if summary.Counts == nil {
			summary.Counts = map[string]any{}
		}
		summary.Counts[kind.Stem] = map[string]int{"lines": count.Lines, "valid": count.Lines - count.Wrong, "invalid": count.Wrong}
		summary.Bars = append(summary.Bars, report.Bar{Name: kind.Stem, Parts: []report.Part{
			{Name: "valid", Count: count.Lines - count.Wrong, Tone: report.Good}, {Name: "invalid", Count: count.Wrong, Tone: report.Bad},
		}})
	}
	summary.Sentence = fmt.Sprintf("All %s lines are valid.", report.Number(lines))
	if !r.Valid() {
		summary.Sentence = fmt.Sprintf("%s of %s lines would be refused.", report.Number(r.Wrong.Accounts), report.Number(lines))
	}
	if !r.MatchesTotals() {
		summary.Sentence += " The book differs from its control totals."
	}
	summary.Totals = r.reportTotals()
	for _, file := range found.Files {
		summary.Facts = append(summary.Facts, [2]string{file.Kind.Noun, file.Path})
	}
	return summary
}

// reportTotals compares the totals of the book with its control totals.
func (r Result) reportTotals() (totals []report.Total) {
	rows := r.Rows()
	// The report lines of a reconciliation, with the book in place of what was created.
	for i := range rows {
		rows[i].Created = rows[i].Staged
	}
	refused := slices.Index(landfall.Reasons, landfall.ReasonFailed)
	for _, line := range contract.ReportLines(landfall.Reconciliation{Rows: rows}, nil) {
		// A difference of zero may have any number of decimals.
		totals = append(totals, report.Total{
			Measure: line.Measure, Unit: line.Unit, Claimed: line.Claimed, Book: line.Created, Refused: line.Explained[refused], Missing: line.Difference,
			Differs: strings.Trim(line.Difference, "0.") != "",
		})
	}
	return totals
}
