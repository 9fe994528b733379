package sqlstore

import (
	"context"

	"landfall"
)

// undoneTable is what remains of accounts.
var undoneTable = newTable("undone_account", "number text", "process_id bigint", "account_created_at bigint",
	"undone_at bigint", "actor text", "reason text", "run_id text")

// back makes processes what they were before they were imported.
var back = forSizes(batchSizes, `UPDATE process SET state = 'staged', account_number = NULL, account_created_at = NULL
	WHERE state = 'imported' AND id IN (`, `$1`, `)`)

// partsOfAccounts are the tables with rows of accounts, the account last. Mails
// are not among them: those that wait are withdrawn, and what became of the
// others stays known, so that nobody is written to twice.
var partsOfAccounts = []string{
	"customer", "address", "supply_point", "agreement", "meter", "statement_period", "ledger_entry", "note",
	"historical_statement", "instruction", "payment_schedule", "search_term", "account",
}

// removals takes the rows of accounts away, a table at a time.
var removals = func() []map[int]string {
	texts := make([]map[int]string, len(partsOfAccounts))
	for i, table := range partsOfAccounts {
		column := "account_id"
		if table == "account" {
			column = "id"
		}
		texts[i] = forSizes(batchSizes, `DELETE FROM `+table+` WHERE `+column+` IN (`, `$1`, `)`)
	}
	return texts
}()

// takeBack removes accounts that are held and writes down that it did.
func (t *tx) takeBack(ctx context.Context, gone []*undoCall) error {
	if len(gone) == 0 {
		return nil
	}
	ids := make([]int64, len(gone))
	for i, one := range gone {
		ids[i] = one.wanted.id
	}
	// Before any row is gone: what an account comes to is counted from its rows.
	if err := t.uncount(ctx, ids...); err != nil {
		return err
	}
	size, args := idArgs(gone)
	for _, removal := range removals {
		if _, err := t.exec(ctx, removal[size], args...); err != nil {
			return err
		}
	}
	count, err := t.exec(ctx, back[size], args...)
	if err != nil {
		return err
	}
	// All of them are held. One that did not move contradicts what was found, and
	// then nothing of the batch is taken back.
	if count != int64(len(gone)) {
		return errMoved
	}
	remains, rows, entries := pile{table: undoneTable}, newAccountRows(t.safe), pile{table: auditTable}
	for _, one := range gone {
		u := one.wanted
		remains.add(u.number, u.id, u.created, u.now, u.Actor, u.Reason, textArg(u.madeIn))
		event := landfall.Event{Type: landfall.EventUndone, Key: one.key, AccountNumber: u.number}
		if u.madeIn != "" {
			event.Details = map[string]string{"run": u.madeIn}
		}
		if err := rows.event(u.now, event); err != nil {
			return err
		}
		addAudit(&entries, landfall.AuditEntry{
			Actor: u.Actor, Action: "account.undo", Subject: one.key.Supplier + "/" + one.key.External, Detail: u.number + ": " + u.Reason,
			Source: u.Source, RequestID: u.RequestID,
		})
	}
	return t.write(ctx, append(rows.piles(), &remains, &entries)...)
}
