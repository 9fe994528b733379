package contract

import (
	"slices"
	"time"

	"landfall"
)

// Signed is a reconciliation with what the operator signed it with.
type Signed struct {
	landfall.Reconciliation
	Actor   string
	Reasons map[string]string // by the name of the measure
}

// signedRow is a row with the reason for what no account explains.
type signedRow struct {
	landfall.ReconciliationRow
	reason string
}

// SignedBody is the sealed report for machines. It is written once, and never
// again from its parts.
var SignedBody = &Body[Signed]{
	name: "SignedReconciliation", doc: "A reconciliation that was signed off.",
	members: []memberOf[Signed]{
		says("import_supplier", "", func(s Signed) string { return s.Supplier }),
		happens("signed_at", "", func(s Signed) time.Time { return s.At }),
		says("signed_by", "", func(s Signed) string { return s.Actor }),
		happens("control_totals_set_at", "", func(s Signed) time.Time { return s.Totals.SetAt }),
		says("control_totals_set_by", "", func(s Signed) string { return s.Totals.By.Organisation }),
		holds("measures", "", signedRowBody, func(s Signed) (rows []signedRow) {
			for _, row := range s.Rows {
				rows = append(rows, signedRow{row, s.Reasons[row.Measure.String()]})
			}
			return rows
		}),
	},
	example: Signed{Reconciliation: exampleReconciliation(), Actor: "operator:ada"},
}

// signedRowBody is a row of the comparison as it was, and the reason.
var signedRowBody = &Body[signedRow]{
	name: "SignedMeasure", doc: "One measure of a reconciliation that was signed off.",
	members: append(slices.Collect(func(yield func(memberOf[signedRow]) bool) {
		for _, member := range reconciliationRowBody.members {
			if !yield(memberOf[signedRow]{
				name: member.name, doc: member.doc, schema: member.schema,
				write: func(dst []byte, row signedRow) []byte { return member.write(dst, row.ReconciliationRow) },
			}) {
				return
			}
		}
	}), says("reason", "Why something is unexplained, in the operator's words.", func(row signedRow) string { return row.reason }).
		when(func(row signedRow) bool { return row.reason != "" })),
	example: signedRow{ReconciliationRow: exampleReconciliation().Rows[0]},
}
