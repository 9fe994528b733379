package sqlstore

import (
	"context"

	"landfall"
)

// Postings reads what was posted to an account: the rows with a delivery. Nothing
// is collected, because an account can have any number of them.
func (v *view) Postings(ctx context.Context, key landfall.Key, each func(landfall.PostedItem) error) (landfall.PostedAccount, error) {
	found := landfall.PostedAccount{Key: key}
	var id int64
	if err := v.one(ctx, `SELECT a.id, p.account_created_at, a.posting_count FROM account a JOIN process p ON p.id = a.id
		JOIN supplier s ON s.id = p.supplier_id WHERE s.code = $1 AND p.external = $2`, []any{key.Supplier, key.External},
		[]any{&id, instantInto{&found.CreatedAt}, &found.Postings}); err != nil || found.Postings == 0 {
		return found, err
	}
	if err := eachPosted(ctx, v, id, noteColumns, "note", "ordinal", v.readNote, func(delivery string, note *landfall.Note) error {
		return each(landfall.PostedItem{Kind: landfall.PostingNotes, Delivery: delivery, Note: note})
	}); err != nil {
		return found, err
	}
	if err := eachPosted(ctx, v, id, entryColumns, "ledger_entry", "sequence", v.readEntry, func(delivery string, entry *landfall.LedgerEntry) error {
		return each(landfall.PostedItem{Kind: landfall.PostingTransactions, Delivery: delivery, Transaction: &entry.Transaction})
	}); err != nil {
		return found, err
	}
	if err := eachPosted(ctx, v, id, statementColumns, "historical_statement", "ordinal", v.readStatement, func(delivery string, statement *landfall.Statement) error {
		return each(landfall.PostedItem{Kind: landfall.PostingStatements, Delivery: delivery, Statement: statement})
	}); err != nil {
		return found, err
	}
	return found, eachPosted(ctx, v, id, instructionColumns, "instruction", "ordinal", v.readInstruction, func(delivery string, instruction *landfall.Instruction) error {
		return each(landfall.PostedItem{Kind: landfall.PostingInstruction, Delivery: delivery, Instruction: instruction})
	})
}

// eachPosted reads the posted rows of one table.
func eachPosted[T any](
	ctx context.Context, v *view, id int64, columns, table, order string, read func(scanner, *owned[T]) error, give func(string, *T) error,
) error {
	rows, err := v.query(ctx, `SELECT `+columns+`, delivery FROM `+table+` WHERE account_id = $1 AND delivery IS NOT NULL ORDER BY `+order, id)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var row owned[T]
		var delivery string
		if err := read(func(into ...any) error { return rows.Scan(append(into, &delivery)...) }, &row); err != nil {
			return v.fail(err)
		}
		if err := give(delivery, &row.item); err != nil {
			return err
		}
	}
	return v.fail(rows.Err())
}
