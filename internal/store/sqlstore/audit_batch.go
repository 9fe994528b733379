package sqlstore

import (
	"slices"
	"strconv"

	"landfall"
	"landfall/internal/store/sqlset"
)

// auditRows returns one row for everything that organisations did, and one row
// for each action of an operator.
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

// auditTable inserts audit entries with the database's time.
var auditTable = sqlset.NewChange(`INSERT INTO audit (at, `+auditColumns+`) SELECT {now}, `+auditColumns+` FROM {rows}`,
	"actor text", "action text", "subject text", "detail text", "source text", "request_id text", "acts text")

// timedAuditTable inserts audit entries for callers that have already read the
// database's time. Rows that need nothing from the database can be copied.
var timedAuditTable = newTable("audit", "at bigint", "actor text", "action text", "subject text", "detail text", "source text",
	"request_id text", "acts text")

func withTime(entries *sqlset.Rows, at int64) *sqlset.Rows {
	rows := &sqlset.Rows{Table: timedAuditTable}
	for entry := range slices.Chunk(entries.Values, entries.Width()) {
		rows.Add(append([]any{at}, entry...)...)
	}
	return rows
}

// auditColumns lists the columns in the order in which addAudit adds their
// values.
const auditColumns = `actor, action, subject, detail, source, request_id, acts`

// addAudit adds the row of an entry, without a time. The time comes from the
// database's clock, which is the same for all replicas.
func addAudit(to *sqlset.Rows, entry landfall.AuditEntry) {
	to.Add(entry.Actor, entry.Action, entry.Subject, entry.Detail, entry.Source, entry.RequestID, entry.Batch)
}
