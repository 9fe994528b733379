package sqlstore

import (
	"context"

	"landfall"
	"landfall/internal/store/sqlset"
)

// undoneTable contains what is kept of undone accounts.
var undoneTable = newTable("undone_account", "number text", "process_id bigint", "account_created_at bigint",
	"undone_at bigint", "actor text", "reason text", "run_id text")

// partsOfAccounts lists the tables with rows of accounts, the account last.
// Mails are not included: queued ones are deleted separately, and what became
// of the others is kept, so that nobody is mailed twice.
var partsOfAccounts = []string{
	"customer", "address", "supply_point", "agreement", "meter", "statement_period", "ledger_entry", "note",
	"historical_statement", "instruction", "payment_schedule", "posting_refusal", "target_delivery", "account",
}

// removeUndone deletes locked accounts and records that it did.
func (t *tx) removeUndone(ctx context.Context, gone []*undoCall) error {
	if len(gone) == 0 {
		return nil
	}
	ids := idsOf(gone)
	// Before any row is deleted: the totals of an account are counted from its
	// rows.
	if err := t.restorePending(ctx, ids...); err != nil {
		return err
	}
	if err := t.undeliver(ctx, ids); err != nil {
		return err
	}
	these, list := sqlset.Among(t.engine, ids)
	for _, table := range partsOfAccounts {
		column := "account_id"
		if table == "account" {
			column = "id"
		}
		if _, err := t.exec(ctx, `DELETE FROM `+table+` WHERE `+column+these, list); err != nil {
			return err
		}
	}
	// The identifiers of the staged document stay, those of postings go.
	if _, err := t.exec(ctx, `DELETE FROM account_identifier WHERE process_id`+these+` AND ordinal < 0`, list); err != nil {
		return err
	}
	// The processes return to the state they had before the import.
	count, err := t.exec(ctx, `UPDATE process SET state = 'staged', account_number = NULL, account_created_at = NULL
		WHERE id`+these+` AND state = 'imported'`, list)
	if err != nil {
		return err
	}
	// All of them are locked. If one did not change, the data contradicts what
	// was read, and nothing in the batch is undone.
	if count != int64(len(gone)) {
		return errChanged
	}
	remains, rows, entries := sqlset.Rows{Table: undoneTable}, newAccountRows(t.sealer), sqlset.Rows{Table: auditTable}
	for _, one := range gone {
		u := one.Wanted
		remains.Add(u.number, u.id, u.created, u.now, u.Actor, u.Reason, textArg(u.run))
		event := landfall.Event{Type: landfall.EventUndone, Key: one.Key, AccountNumber: u.number}
		if u.run != "" {
			event.Details = map[string]string{"run": u.run}
		}
		if err := rows.event(u.now, event); err != nil {
			return err
		}
		addAudit(&entries, landfall.AuditEntry{
			Actor: u.Actor, Action: "account.undo", Subject: one.Key.Supplier + "/" + one.Key.External, Detail: u.number + ": " + u.Reason,
			Source: u.Source, RequestID: u.RequestID,
		})
	}
	return t.write(ctx, append(rows.all(), &remains, &entries)...)
}
