package operate

import (
	"bytes"
	_ "embed" // of the page
	"encoding/hex"
	"html/template"
	"strings"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/lib/calendar"
	"landfall/internal/lib/money"
)

//go:embed report.html
var reportText string

// reportTemplate is parsed once: a mistake in it shows when the program starts and
// not when somebody wants to sign.
var reportTemplate = template.Must(template.New("report").Parse(reportText))

// ReportLine is one line of a comparison as people read it: where a measure has
// a count and an amount, each has a line of its own.
type ReportLine struct {
	Measure     string
	Unit        string // what is counted, or the currency
	Claimed     string // "" where nothing was claimed, as in the two differences
	Staged      string
	Created     string
	Difference  string
	Explained   []string // in the order of landfall.Reasons
	Unexplained string
	Open        bool   // something is unexplained
	Reason      string // why, when that was signed
}

// ReportLines writes a comparison for people.
func ReportLines(found landfall.Reconciliation, reasons map[string]string) (lines []ReportLine) {
	for _, row := range found.Rows {
		if row.Measure.Kind != landfall.MeasureBalances {
			lines = append(lines, reportLine(row, "count", reasons, func(value landfall.Value) string { return grouped(value.Count, false) }))
		}
		if row.Measure.Currency != "" {
			lines = append(lines, reportLine(row, row.Measure.Currency, reasons, func(value landfall.Value) string { return grouped(value.Amount, true) }))
		}
	}
	return lines
}

// reportLine writes one unit of a row, its count or its amount. It is open as
// long as any of its difference has no reason.
func reportLine(row landfall.ReconciliationRow, unit string, reasons map[string]string, write func(landfall.Value) string) ReportLine {
	line := ReportLine{
		Measure: row.Measure.String(), Unit: unit, Claimed: write(row.Claimed), Staged: write(row.Staged), Created: write(row.Created),
		Difference: write(row.Difference()), Unexplained: write(row.Unexplained()),
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

// grouped writes a number with its thousands apart, so that people can read it.
func grouped(total *money.Total, asMoney bool) string {
	if total == nil {
		return ""
	}
	text, fraction := total.String(), ""
	if asMoney {
		text, fraction, _ = strings.Cut(text, ".")
		fraction = "." + fraction
	} else {
		text = total.Digits()
	}
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return sign + text + fraction
}

// reportPage writes a signed reconciliation for people: one file that needs no
// other, fit for the screen and for paper.
func reportPage(signed contract.Signed, hash [32]byte) ([]byte, error) {
	reasons := make([]string, len(landfall.Reasons))
	for i, reason := range landfall.Reasons {
		reasons[i] = strings.ReplaceAll(string(reason), "_", " ")
	}
	var written bytes.Buffer
	err := reportTemplate.Execute(&written, map[string]any{
		"Supplier": signed.Supplier, "SignedAt": calendar.FormatInstant(signed.At), "SignedBy": signed.Actor,
		"TotalsAt": calendar.FormatInstant(signed.Totals.SetAt), "TotalsBy": signed.Totals.By.Organisation,
		"Hash": hex.EncodeToString(hash[:]), "Reasons": reasons, "Lines": ReportLines(signed.Reconciliation, signed.Reasons),
	})
	return written.Bytes(), err
}
