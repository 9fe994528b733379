package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"landfall"
	"landfall/internal/lib/calendar"
	"landfall/internal/store/sqlset"
)

// The columns of everything that can be posted, each list beginning with the
// account's id.
const (
	entryColumns = `account_id, transaction_id, sequence, kind, closed, signed, balance, type, entered_on, original_on,
		reason, note, document`
	noteColumns        = `account_id, ordinal, body, document_paths, created_at, pinned, unpin_at, extra`
	statementColumns   = `account_id, ordinal, statement_id, from_on, to_on, issued_on, number, gross_amount, sent_amount, path, extra`
	instructionColumns = `account_id, ordinal, vendor, reference, type, valid_from_on, for_schedules, status, scheme, last_digits, expiry`
)

// The queries for what postings look up. An id that was added several times
// without a check still counts as one entry: the first. The id is compared as a
// range. With an equality, once some id is frequent, PostgreSQL may walk the
// whole ledger of an account by its primary key; only the index of transactions
// has the order used here. The entry found is then read by all three of its
// columns, so that either index leads straight to it and not through all
// entries of the account.
var (
	entriesWanted = newAccountQuery(`SELECT `+entryColumns+` FROM {wanted} JOIN ledger_entry e ON e.account_id = w.id AND e.transaction_id = w.name
			AND e.sequence = (SELECT f.sequence FROM ledger_entry f
				WHERE f.account_id = w.id AND f.transaction_id BETWEEN w.name AND w.name
				ORDER BY f.account_id, f.transaction_id, f.sequence LIMIT 1)
		WHERE e.kind = 'transaction' ORDER BY e.account_id, e.sequence`, "name text")
	notesWanted = newAccountQuery(`SELECT `+noteColumns+` FROM {wanted} JOIN note n ON n.account_id = w.id AND n.digest = w.name
			AND n.ordinal <= 64 ORDER BY n.account_id, n.ordinal`, "name bigint")
	// Of the later notes, only those that matter are read: the first of its
	// kind if no time is sent, and those of the same second otherwise.
	firstNotesWanted = newAccountQuery(`SELECT `+noteColumns+` FROM {wanted} JOIN note n ON n.account_id = w.id AND n.digest = w.name
			AND n.ordinal = (SELECT f.ordinal FROM note f WHERE f.account_id = w.id AND f.digest = w.name AND f.ordinal > 64
				ORDER BY f.account_id, f.digest, f.ordinal LIMIT 1)
		ORDER BY n.account_id, n.ordinal`, "name bigint")
	timedNotesWanted = newAccountQuery(`SELECT `+noteColumns+` FROM {wanted} JOIN note n {by note_created} ON n.account_id = w.id AND n.digest = w.name
			AND n.created_at >= w.second AND n.created_at < w.second + 1000000 AND n.ordinal > 64
		ORDER BY n.account_id, n.ordinal`, "name bigint", "second bigint")
	unwrittenWanted = newAccountQuery(`SELECT `+noteColumns+` FROM {wanted} JOIN note n ON n.account_id = w.id AND n.digest = w.name
			AND n.ordinal > 64 ORDER BY n.account_id, n.ordinal`, "name bigint")
	statementsWanted = newAccountQuery(`SELECT `+statementColumns+` FROM {wanted}
		JOIN historical_statement h ON h.account_id = w.id AND h.statement_id = w.name ORDER BY h.account_id, h.ordinal`,
		"name text")
	instructionsWanted = newAccountQuery(`SELECT `+instructionColumns+` FROM {wanted} JOIN instruction i ON i.account_id = w.id
			AND i.vendor = w.seller AND i.reference = w.name AND i.ordinal <= 16 ORDER BY i.account_id, i.ordinal`,
		"seller text", "name text")
	laterInstructionsWanted = newAccountQuery(`SELECT `+instructionColumns+` FROM {wanted} JOIN instruction i ON i.account_id = w.id
			AND i.vendor = w.seller AND i.reference = w.name AND i.ordinal > 16 ORDER BY i.account_id, i.ordinal`,
		"seller text", "name text")
)

// How many notes and instructions of an account are looked up without an index
// of their own. Few accounts have more; the later rows have an index.
const (
	fewNotes        = 64
	fewInstructions = 16
)

// newAccountQuery declares a query for things that accounts have, each
// identified by the account's id and the given columns. All of them are read at
// once, since the account is locked meanwhile.
func newAccountQuery(text string, columns ...string) sqlset.ListQuery {
	return sqlset.NewListQuery(text, append([]string{"id bigint"}, columns...)...)
}

// owned is an item that belongs to an account.
type owned[T any] struct {
	id      int64 // of the account
	ordinal int64 // in its list
	item    T
}

// lookUp queries for wanted items, a list of ids and names, and gives each item
// found to its account.
func lookUp[T any](
	ctx context.Context, t *tx, query sqlset.ListQuery, wanted []any, read func(scanner, *owned[T]) error, give func(int64, T),
) error {
	if len(wanted) == 0 {
		return nil
	}
	text, args, err := query.For(t.engine, wanted)
	if err != nil {
		return err
	}
	found, err := collect(ctx, t.txSession, read, text, args...)
	for _, one := range found {
		give(one.id, one.item)
	}
	return err
}

// readEntry opens values that are sealed for exactly this entry: a value moved
// to another row would not open.
func (v *view) readEntry(scan scanner, row *owned[landfall.LedgerEntry]) error {
	e := &row.item
	x := &e.Transaction
	own := v.sealer.scan("ledger_entry", &row.id, &e.Sequence)
	// The driver scans types of ours much slower than their underlying types.
	err := scan(&row.id, &x.ID, &e.Sequence, wordInto{(*string)(&e.Kind)}, &e.Closed, (*int64)(&e.Signed), (*int64)(&e.Balance), wordInto{(*string)(&x.Type)},
		dayInto{&x.On}, dayInto{&x.OriginalOn}, own.text("reason", &x.Reason), own.text("note", &x.Note), own.json("document", &x.Document))
	if e.Kind == landfall.TransactionEntry {
		// Signed is its own inverse: only the sign of the amount was changed.
		x.Amount = e.Signed
		x.Amount = x.Signed()
	}
	return err
}

// readNote distinguishes a note without a body from one whose body is empty.
func (v *view) readNote(scan scanner, row *owned[landfall.Note]) error {
	var body sql.NullString
	var paths, extra []byte
	own := v.sealer.scan("note", &row.id, &row.ordinal)
	if err := scan(&row.id, &row.ordinal, own.nullText("body", &body), own.json("document_paths", &paths), instantInto{&row.item.CreatedAt}, &row.item.Pinned,
		instantInto{&row.item.UnpinAt}, own.json("extra", &extra)); err != nil {
		return err
	}
	if err := readExtra(extra, &row.item); err != nil {
		return err
	}
	row.item.Body, row.item.HasBody = body.String, body.String != ""
	if paths == nil {
		return nil
	}
	return json.Unmarshal(paths, &row.item.DocumentPaths)
}

// readStatement opens the path, which is sealed because it may name the
// customer.
func (v *view) readStatement(scan scanner, row *owned[landfall.Statement]) error {
	s := &row.item
	own := v.sealer.scan("historical_statement", &row.id, &row.ordinal)
	var extra []byte
	err := scan(&row.id, &row.ordinal, &s.ID, dayInto{&s.FromOn}, dayInto{&s.ToOn}, dayInto{&s.IssuedOn}, &s.Number, &s.GrossAmount, &s.SentAmount,
		own.text("path", &s.Path), own.json("extra", &extra))
	s.Extra = string(extra)
	return err
}

// readInstruction opens the reference by its vendor, since both are used to
// look it up.
func (v *view) readInstruction(scan scanner, row *owned[landfall.Instruction]) error {
	i := &row.item
	own := v.sealer.scan("instruction", &row.id, &row.ordinal)
	return scan(&row.id, &row.ordinal, &i.Vendor, v.sealer.scan("instruction", &row.id, &i.Vendor).text("reference", &i.Reference), &i.Type,
		dayInto{&i.ValidFromOn}, &i.ForSchedules, &i.Details.Status, &i.Details.Scheme,
		own.text("last_digits", &i.Details.LastDigits), own.text("expiry", &i.Details.Expiry))
}

// dayInto reads what dayArg wrote.
type dayInto struct{ day *calendar.Day }

// Scan implements sql.Scanner.
func (d dayInto) Scan(value any) error {
	var text sql.NullString
	if err := text.Scan(value); err != nil || text.String == "" {
		return err
	}
	var err error
	*d.day, err = storedDay(text.String)
	return err
}

// ScanBytes is what the driver of PostgreSQL calls instead of Scan: it need not
// copy the value for it.
func (d dayInto) ScanBytes(value []byte) error {
	if len(value) == 0 {
		return nil
	}
	var err error
	*d.day, err = storedDay(string(value))
	return err
}

// wordInto reads one of a few words, and copies none that is known.
type wordInto struct{ word *string }

// knownWords are the words of entries in a ledger.
var knownWords = func() map[string]string {
	known := map[string]string{string(landfall.OpeningEntry): string(landfall.OpeningEntry), string(landfall.TransactionEntry): string(landfall.TransactionEntry)}
	for _, kind := range landfall.TransactionTypes {
		known[string(kind)] = string(kind)
	}
	return known
}()

// Scan implements sql.Scanner.
func (w wordInto) Scan(value any) error { return textInto{w.word}.Scan(value) }

// ScanBytes is what the driver of PostgreSQL calls instead of Scan.
func (w wordInto) ScanBytes(value []byte) error {
	var known bool
	if *w.word, known = knownWords[string(value)]; !known {
		*w.word = string(value)
	}
	return nil
}

// textInto reads what textArg wrote.
type textInto struct{ text *string }

// Scan implements sql.Scanner.
func (t textInto) Scan(value any) error {
	var kept sql.NullString
	err := kept.Scan(value)
	*t.text = kept.String
	return err
}

// storedDay parses a stored day. Books closed on the last day of the calendar
// used to be stored as open from the day after it.
func storedDay(text string) (calendar.Day, error) {
	if text == "10000-01-01" {
		return calendar.Last, nil
	}
	return calendar.ParseDay(text)
}

// instantInto reads what instantArg wrote.
type instantInto struct{ at *time.Time }

// Scan implements sql.Scanner.
func (i instantInto) Scan(value any) error {
	var kept sql.NullInt64
	err := kept.Scan(value)
	*i.at = instant(kept)
	return err
}
