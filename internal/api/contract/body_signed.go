package contract

import (
	"encoding/hex"
	"slices"
	"time"

	"landfall"
)

// Signed is a reconciliation and the operator's sign-off.
type Signed struct {
	landfall.Reconciliation
	Actor   string
	Reasons map[string]string // by name of the measure
	Custody Custody
}

// signedRow is a row with the reason for its unexplained part.
type signedRow struct {
	landfall.ReconciliationRow
	reason string
}

// SignedBody is the sealed report in JSON. It is written once and stored.
var SignedBody = &Body[Signed]{
	name: "SignedReconciliation", doc: "A signed-off reconciliation.",
	members: []bodyMember[Signed]{
		stringMember("import_supplier", "", func(s Signed) string { return s.Supplier }),
		timeMember("signed_at", "", func(s Signed) time.Time { return s.At }),
		stringMember("signed_by", "", func(s Signed) string { return s.Actor }),
		timeMember("control_totals_set_at", "", func(s Signed) time.Time { return s.Totals.SetAt }),
		stringMember("control_totals_set_by", "", func(s Signed) string { return s.Totals.By.Organisation }),
		listMember("measures", "", signedRowBody, func(s Signed) (rows []signedRow) {
			for _, row := range s.Rows {
				rows = append(rows, signedRow{row, s.Reasons[row.Measure.String()]})
			}
			return rows
		}),
		{
			name: "custody", doc: "The chain of custody.", schema: anyObjectSchema,
			write: func(dst []byte, s Signed) []byte {
				if s.Custody.Books == nil {
					s.Custody.Books = []BookCustody{}
				}
				return appendAny(dst, s.Custody)
			},
		},
	},
	example: Signed{Reconciliation: exampleReconciliation(), Actor: "operator:ada"},
}

// signedRowBody is a row of the comparison and the reason.
var signedRowBody = &Body[signedRow]{
	name: "SignedMeasure", doc: "One measure of a signed-off reconciliation.",
	members: append(slices.Collect(func(yield func(bodyMember[signedRow]) bool) {
		for _, of := range reconciliationRowBody.members {
			member := bodyMember[signedRow]{
				name: of.name, doc: of.doc, schema: of.schema,
				write: func(dst []byte, row signedRow) []byte { return of.write(dst, row.ReconciliationRow) },
			}
			if of.present != nil {
				member.present = func(row signedRow) bool { return of.present(row.ReconciliationRow) }
			}
			if !yield(member) {
				return
			}
		}
	}), stringMember("reason", "The operator's explanation of the unexplained difference.", func(row signedRow) string { return row.reason }).
		onlyIf(func(row signedRow) bool { return row.reason != "" })),
	example: signedRow{ReconciliationRow: exampleReconciliation().Rows[0]},
}

var signOffBody = &Body[landfall.SignOff]{
	name: "SignOff", doc: "A reconciliation that an operator signed off. The report itself is with the operator; its hash is in the audit.",
	members: []bodyMember[landfall.SignOff]{
		intMember("id", "Number of the report.", func(s landfall.SignOff) int { return int(s.ID) }),
		stringMember("import_supplier", "", func(s landfall.SignOff) string { return s.Supplier }),
		timeMember("signed_at", "", func(s landfall.SignOff) time.Time { return s.SignedAt }),
		stringMember("report_sha256", "SHA-256 of the report in JSON.", func(s landfall.SignOff) string { return hex.EncodeToString(s.ReportHash[:]) }),
		stringMember("page_sha256", "SHA-256 of the same report in HTML.", func(s landfall.SignOff) string { return hex.EncodeToString(s.PageHash[:]) }),
	},
	example: landfall.SignOff{ID: 1, Supplier: exampleSupplier, SignedAt: exampleInstant},
}

// SignOffsBody is the list of signed reconciliations.
var SignOffsBody = &List[landfall.SignOff]{name: "SignOffList", items: signOffBody}
