package sqlstore

import (
	"slices"
	"strconv"

	"landfall"
)

// actPile gives the row that says what organisations did, and one for each act
// of an operator.
func actPile(acts *landfall.AuditBatch) *pile {
	rows := &pile{table: auditTable}
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
var auditTable = &table{
	kinds: []string{"text", "text", "text", "text", "text", "text", "text"},
	values: forSizes(rowSizes, `WITH w (`+auditColumns+`) AS (VALUES `, `($1, $2, $3, $4, $5, $6, $7)`,
		`) INSERT INTO audit (at, `+auditColumns+`) SELECT {now}, `+auditColumns+` FROM w`),
	before: `INSERT INTO audit (at, ` + auditColumns + `) SELECT {now}, ` + auditColumns + ` FROM (`,
	after:  `) AS w (` + auditColumns + `)`,
}

// timedAuditTable is the audit for whoever has asked the database for its time already:
// rows that need nothing more from it can be copied.
var timedAuditTable = newTable("audit", "at bigint", "actor text", "action text", "subject text", "detail text", "source text",
	"request_id text", "acts text")

// timed gives entries of the audit with their time.
func (p *pile) timed(at int64) *pile {
	timed := &pile{table: timedAuditTable}
	for entry := range slices.Chunk(p.rows, p.width()) {
		timed.add(append([]any{at}, entry...)...)
	}
	return timed
}

// auditColumns are in the order in which addAudit gives their values.
const auditColumns = `actor, action, subject, detail, source, request_id, acts`

// addAudit gives no time: the database's clock does, for all replicas alike.
func addAudit(to *pile, entry landfall.AuditEntry) {
	to.add(entry.Actor, entry.Action, entry.Subject, entry.Detail, entry.Source, entry.RequestID, entry.Batch)
}
