package operate

import (
	"bytes"
	_ "embed" // for report.html
	"encoding/hex"
	"html/template"
	"strings"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/lib/calendar"
)

//go:embed report.html
var reportText string

// reportTemplate is parsed at startup, so that a mistake in it shows then and
// not when an operator wants to sign.
var reportTemplate = template.Must(template.New("report").Parse(reportText))

// reportPage renders a signed reconciliation for people, as one self-contained
// file for screen and paper.
func reportPage(signed contract.Signed, hash [32]byte) ([]byte, error) {
	reasons := make([]string, len(landfall.Reasons))
	for i, reason := range landfall.Reasons {
		reasons[i] = strings.ReplaceAll(string(reason), "_", " ")
	}
	var written bytes.Buffer
	err := reportTemplate.Execute(&written, map[string]any{
		"Supplier": signed.Supplier, "SignedAt": calendar.FormatInstant(signed.At), "SignedBy": signed.Actor,
		"TotalsAt": calendar.FormatInstant(signed.Totals.SetAt), "TotalsBy": signed.Totals.By.Organisation,
		"Hash": hex.EncodeToString(hash[:]), "Reasons": reasons, "Custody": signed.Custody, "Lines": contract.ReportLines(signed.Reconciliation, signed.Reasons),
	})
	return written.Bytes(), err
}
