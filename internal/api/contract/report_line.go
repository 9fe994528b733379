package contract

import (
	"strings"

	"landfall"
	"landfall/internal/lib/money"
)

// ReportLine is one line of a comparison as people read it. A measure with a
// count and an amount has a line for each.
type ReportLine struct {
	Measure     string
	Unit        string // "count" or the currency
	Claimed     string // "" if nothing was claimed; the same goes for Difference and Unexplained
	Staged      string
	Created     string
	Delivered   string // "" if the target has received nothing
	Difference  string
	Explained   []string // in the order of landfall.Reasons
	Unexplained string
	Open        bool   // part of the difference is unexplained
	Reason      string // the reason given when it was signed
}

// ReportLines formats a comparison for people.
func ReportLines(found landfall.Reconciliation, reasons map[string]string) (lines []ReportLine) {
	for _, row := range found.Rows {
		if row.Measure.Kind != landfall.MeasureBalances {
			lines = append(lines, reportLine(row, "count", reasons, func(value landfall.Value) string { return groupTotal(value.Count, false) }))
		}
		if row.Measure.Currency != "" {
			lines = append(lines, reportLine(row, row.Measure.Currency, reasons, func(value landfall.Value) string { return groupTotal(value.Amount, true) }))
		}
	}
	return lines
}

// reportLine formats one unit of a row, its count or its amount. The line is
// open if part of the difference is unexplained.
func reportLine(row landfall.ReconciliationRow, unit string, reasons map[string]string, write func(landfall.Value) string) ReportLine {
	line := ReportLine{
		Measure: row.Measure.String(), Unit: unit, Claimed: write(row.Claimed), Staged: write(row.Staged), Created: write(row.Created),
		Difference: write(row.Difference()), Unexplained: write(row.Unexplained()),
	}
	if row.Delivered != nil {
		line.Delivered = write(*row.Delivered)
	}
	for _, reason := range landfall.Reasons {
		line.Explained = append(line.Explained, write(row.Explained[reason]))
	}
	line.Open = strings.Trim(line.Unexplained, "0.") != ""
	if line.Open {
		line.Reason = reasons[row.Measure.String()]
	}
	return line
}

// groupTotal formats a count or an amount with thousands separators.
func groupTotal(total *money.Total, asMoney bool) string {
	switch {
	case total == nil:
		return ""
	case asMoney:
		return money.GroupDigits(total.String())
	}
	return money.GroupDigits(total.Digits())
}
