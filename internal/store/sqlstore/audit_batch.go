package sqlstore

import (
	"slices"
	"strconv"

	"landfall"
	"landfall/internal/store/sqlset"
)

// auditRows gives the row that says what organisations did, and one for each act
// of an operator.
func auditRows(acts *landfall.AuditBatch) *sqlset.Rows {
	rows := &sqlset.Rows{Table: auditTable}
	if acts.Count > 0 {
		addAudit(rows, landfall.AuditEntry{
			Actor: "organisations", Action: "accounts.change", Detail: strconv.Itoa(acts.Count), Batch: acts.String(),
		})
	}
	for _, entry := range acts.OperatorEntries {
		addAudit(rows, entry)
	}
	return rows
}

// auditTable is the audit: its rows are written at the database's time.
var auditTable = sqlset.NewChange(`INSERT INTO audit (at, `+auditColumns+`) SELECT {now}, `+auditColumns+` FROM {rows}`,
	"actor text", "action text", "subject text", "detail text", "source text", "request_id text", "acts text")

// timedAuditTable is the audit for whoever has asked the database for its time already:
// rows that need nothing more from it can be copied.
var timedAuditTable = newTable("audit", "at bigint", "actor text", "action text", "subject text", "detail text", "source text",
	"request_id text", "acts text")

// withTime gives entries of the audit with their time.
func withTime(entries *sqlset.Rows, at int64) *sqlset.Rows {
	rows := &sqlset.Rows{Table: timedAuditTable}
	for entry := range slices.Chunk(entries.Values, entries.Width()) {
		rows.Add(append([]any{at}, entry...)...)
	}
	return rows
}

// auditColumns are in the order in which addAudit gives their values.
const auditColumns = `actor, action, subject, detail, source, request_id, acts`

// addAudit gives no time: the database's clock does, for all replicas alike.
func addAudit(to *sqlset.Rows, entry landfall.AuditEntry) {
	to.Add(entry.Actor, entry.Action, entry.Subject, entry.Detail, entry.Source, entry.RequestID, entry.Batch)
}
