package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"landfall"
	"landfall/internal/calendar"
)

// The columns of what can be posted, each behind the account's id.
const (
	entryColumns = `account_id, transaction_id, sequence, kind, closed, signed, balance, type, entered_on, original_on,
		reason, note, document`
	noteColumns        = `account_id, body, document_paths, created_at, pinned, unpin_at`
	statementColumns   = `account_id, statement_id, from_on, to_on, issued_on, number, gross_amount, path`
	instructionColumns = `account_id, vendor, reference, type, valid_from_on, for_schedules, status, scheme, last_digits, expiry`
)

// The texts that look up what postings want to see.
var (
	entriesWanted = forSizes(`WITH wanted (id, name) AS (VALUES `, `(CAST($1 AS BIGINT), $2)`, `)
		SELECT `+entryColumns+` FROM wanted w JOIN ledger_entry e ON e.account_id = w.id AND e.transaction_id = w.name
		WHERE e.kind = 'transaction' ORDER BY e.account_id, e.sequence`)
	notesWanted = forSizes(`WITH wanted (id, name) AS (VALUES `, `(CAST($1 AS BIGINT), CAST($2 AS BIGINT))`, `)
		SELECT `+noteColumns+` FROM wanted w JOIN note n ON n.account_id = w.id AND n.digest = w.name
		ORDER BY n.account_id, n.ordinal`)
	statementsWanted = forSizes(`WITH wanted (id, name) AS (VALUES `, `(CAST($1 AS BIGINT), $2)`, `)
		SELECT `+statementColumns+` FROM wanted w JOIN historical_statement h ON h.account_id = w.id AND h.statement_id = w.name
		ORDER BY h.account_id, h.ordinal`)
	instructionsWanted = forSizes(`WITH wanted (id) AS (VALUES `, `(CAST($1 AS BIGINT))`, `)
		SELECT `+instructionColumns+` FROM wanted w JOIN instruction i ON i.account_id = w.id
		ORDER BY i.account_id, i.ordinal`)
)

// owned is something an account has.
type owned[T any] struct {
	id   int64 // of the account
	item T
}

// lookUp runs a query for any number of wanted things, as many at a time as it
// is prepared for, and hands what it finds to the account it belongs to.
func lookUp[T any](
	ctx context.Context, t *tx, texts map[int]string, width int, wanted []any,
	read func(scanner, *owned[T]) error, give func(int64, T),
) error {
	for len(wanted) > 0 {
		count := min(len(wanted)/width, longestBatch)
		size := sizeFor(count)
		args := pad(append(make([]any, 0, width*size), wanted[:count*width]...), width*size)
		found, err := collect(ctx, t.session, read, texts[size], args...)
		if err != nil {
			return err
		}
		for _, one := range found {
			give(one.id, one.item)
		}
		wanted = wanted[count*width:]
	}
	return nil
}

func readEntry(scan scanner, row *owned[landfall.LedgerEntry]) error {
	e := &row.item
	x := &e.Transaction
	err := scan(&row.id, &x.ID, &e.Sequence, &e.Kind, &e.Closed, &e.Signed, &e.Balance, &x.Type,
		dayInto{&x.On}, dayInto{&x.OriginalOn}, &x.Reason, &x.Note, &x.Document)
	if e.Kind == landfall.TransactionEntry {
		// Signed undoes itself: only the sign of the amount was changed.
		x.Amount = e.Signed
		x.Amount = x.Signed()
	}
	return err
}

func readNote(scan scanner, row *owned[landfall.Note]) error {
	var body sql.NullString
	var paths []byte
	if err := scan(&row.id, &body, &paths, instantInto{&row.item.CreatedAt}, &row.item.Pinned,
		instantInto{&row.item.UnpinAt}); err != nil {
		return err
	}
	row.item.Body, row.item.HasBody = body.String, body.Valid
	if paths == nil {
		return nil
	}
	return json.Unmarshal(paths, &row.item.DocumentPaths)
}

func readStatement(scan scanner, row *owned[landfall.Statement]) error {
	s := &row.item
	return scan(&row.id, &s.ID, dayInto{&s.FromOn}, dayInto{&s.ToOn}, dayInto{&s.IssuedOn}, &s.Number, &s.GrossAmount, &s.Path)
}

func readInstruction(scan scanner, row *owned[landfall.Instruction]) error {
	i := &row.item
	return scan(&row.id, &i.Vendor, &i.Reference, &i.Type, dayInto{&i.ValidFromOn}, &i.ForSchedules,
		&i.Details.Status, &i.Details.Scheme, &i.Details.LastDigits, &i.Details.Expiry)
}

// dayInto reads what dayArg wrote.
type dayInto struct{ day *calendar.Day }

// Scan takes a column's value.
func (d dayInto) Scan(value any) error {
	var text sql.NullString
	if err := text.Scan(value); err != nil || text.String == "" {
		return err
	}
	var err error
	*d.day, err = calendar.ParseDay(text.String)
	return err
}

// instantInto reads what instantArg wrote.
type instantInto struct{ at *time.Time }

// Scan takes a column's value.
func (i instantInto) Scan(value any) error {
	var kept sql.NullInt64
	err := kept.Scan(value)
	*i.at = instant(kept)
	return err
}
