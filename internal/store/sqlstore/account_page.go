package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"landfall"
)

// AccountPage returns an account with one page of each of its long lists.
func (v *view) AccountPage(ctx context.Context, key landfall.Key, excerpt landfall.AccountPageQuery) (landfall.AccountPage, error) {
	account, id, err := v.accountHead(ctx, `s.code = $1 AND p.external = $2`, key.Supplier, key.External)
	if err != nil {
		return landfall.AccountPage{}, err
	}
	for _, load := range []func(context.Context, int64, *landfall.Account) error{v.loadCustomers, v.loadAddresses, v.loadPeriods} {
		if err := load(ctx, id, &account); err != nil {
			return landfall.AccountPage{}, err
		}
	}
	found := landfall.AccountPage{Account: account}
	if err := v.one(ctx, `SELECT ledger_length, note_count, statement_count, instruction_count FROM account WHERE id = $1`, []any{id},
		[]any{&found.LedgerLength, &found.NoteCount, &found.StatementCount, &found.InstructionCount}); err != nil {
		return landfall.AccountPage{}, err
	}
	after, before := pageBounds(excerpt.EntriesBefore, excerpt.Rows, found.LedgerLength)
	found.Ledger, err = collect(ctx, v.txSession, func(scan scanner, entry *landfall.LedgerEntry) error {
		var row owned[landfall.LedgerEntry]
		err := v.readEntry(scan, &row)
		*entry = row.item
		return err
	}, `SELECT `+entryColumns+` FROM ledger_entry WHERE account_id = $1 AND sequence > $2 AND sequence < $3 ORDER BY sequence DESC`, id, after, before)
	if err != nil {
		return landfall.AccountPage{}, err
	}
	if err := v.pageNotes(ctx, id, excerpt, &found); err != nil {
		return landfall.AccountPage{}, err
	}
	return found, v.pageStatements(ctx, id, excerpt, &found)
}

// pageBounds returns the exclusive bounds of a page of a list that is numbered
// from 1.
func pageBounds(before, rows, length int) (after, until int64) {
	if before <= 0 || before > length+1 {
		before = length + 1
	}
	return int64(max(0, before-1-rows)), int64(before)
}

// indexedFrom is the position after which long lists have an index. Most
// accounts have no list that long and pay nothing for the index. The schema
// uses the same number.
const indexedFrom = 200

// indexCondition returns a condition that makes a query for rows after a
// position use that index.
func indexCondition(after int64) string {
	if after >= indexedFrom {
		return ` AND ordinal > ` + strconv.Itoa(indexedFrom)
	}
	return ``
}

// pageExtraText selects the fields of packs, unless they are longer than $2, and
// whether there are any.
const pageExtraText = `CASE WHEN length(CAST(extra AS TEXT)) > $2 THEN NULL ELSE extra END, extra IS NOT NULL`

// pageNotesText selects notes, without bodies that are longer than $2.
const pageNotesText = `SELECT account_id, ordinal, CASE WHEN length(body) > $2 THEN NULL ELSE body END, document_paths, created_at, pinned, unpin_at,
	` + pageExtraText + `, length(body) FROM note WHERE account_id = $1 `

// pageNotes reads notes. It leaves out long bodies and returns only their
// length, because a page of them could be a gigabyte.
func (v *view) pageNotes(ctx context.Context, id int64, excerpt landfall.AccountPageQuery, into *landfall.AccountPage) (err error) {
	read := func(scan scanner, note *landfall.NumberedNote) error {
		var row owned[landfall.Note]
		var bytes sql.NullInt64
		var hasExtra bool
		err := v.readNote(func(columns ...any) error { return scan(append(columns, &hasExtra, &bytes)...) }, &row)
		if hasExtra && row.item.Extra == "" && row.item.ExternalID == "" {
			row.item.Extra = landfall.ExtraTooLong
		}
		note.Note, note.Index, note.Bytes = row.item, int(row.ordinal), v.sealer.noteLength(row.item.Body, int(bytes.Int64))
		return err
	}
	into.Pinned, err = collect(ctx, v.txSession, read, pageNotesText+`AND pinned = TRUE ORDER BY created_at DESC, ordinal DESC LIMIT $3`, id, v.sealer.maxNoteLength(), int64(excerpt.Rows))
	if err != nil {
		return err
	}
	at, index := int64(math.MaxInt64), int64(0)
	if before := excerpt.NotesBefore; before.Index > 0 {
		at, index = before.CreatedAt.UnixMicro(), int64(before.Index)
	}
	into.Notes, err = collect(ctx, v.txSession, read, pageNotesText+`AND (created_at, ordinal) < ($3, $4) ORDER BY created_at DESC, ordinal DESC LIMIT $5`,
		id, v.sealer.maxNoteLength(), at, index, int64(excerpt.Rows)+1)
	if into.MoreNotes = len(into.Notes) > excerpt.Rows; into.MoreNotes {
		into.Notes = into.Notes[:excerpt.Rows]
	}
	return err
}

// pageStatements reads the historical statements and the payment instructions.
func (v *view) pageStatements(ctx context.Context, id int64, excerpt landfall.AccountPageQuery, into *landfall.AccountPage) (err error) {
	after, before := pageBounds(excerpt.StatementsBefore, excerpt.Rows, into.StatementCount)
	read := func(scan scanner, row *owned[landfall.Statement]) error {
		var hasExtra bool
		err := v.readStatement(func(columns ...any) error { return scan(append(columns, &hasExtra)...) }, row)
		if hasExtra && row.item.Extra == "" {
			row.item.Extra = landfall.ExtraTooLong
		}
		return err
	}
	statements, err := collect(ctx, v.txSession, read, `SELECT `+strings.TrimSuffix(statementColumns, "extra")+pageExtraText+
		` FROM historical_statement WHERE account_id = $1 AND ordinal > $3 AND ordinal < $4`+indexCondition(after)+
		` ORDER BY ordinal DESC`, id, v.sealer.maxNoteLength(), after, before)
	if err != nil {
		return err
	}
	for _, one := range statements {
		into.Data.Statements = append(into.Data.Statements, one.item)
		into.StatementIndexes = append(into.StatementIndexes, int(one.ordinal))
	}
	into.Data.Instructions, err = collect(ctx, v.txSession, func(scan scanner, instruction *landfall.Instruction) error {
		var row owned[landfall.Instruction]
		err := v.readInstruction(scan, &row)
		*instruction = row.item
		return err
	}, `SELECT `+instructionColumns+` FROM instruction WHERE account_id = $1 ORDER BY ordinal DESC LIMIT $2`, id, int64(excerpt.Rows))
	return err
}

// KeyByNumber returns the key of the account with a number.
func (v *view) KeyByNumber(ctx context.Context, number string) (key landfall.Key, err error) {
	err = v.one(ctx, `SELECT s.code, p.external FROM process p JOIN supplier s ON s.id = p.supplier_id WHERE p.number = $1 AND p.state = 'imported'`,
		[]any{number}, []any{&key.Supplier, &key.External})
	return key, err
}

// StagingRefusal returns why the last staging of an account was refused.
func (v *view) StagingRefusal(ctx context.Context, key landfall.Key) (landfall.Refusal, error) {
	var text []byte
	var at sql.NullInt64
	refused := landfall.Refusal{Key: key}
	sealed := v.sealer.scan("refusal", key.Supplier, key.External)
	if err := v.one(ctx, `SELECT r.failure, r.at, r.person FROM refusal r JOIN supplier s ON s.id = r.supplier_id WHERE s.code = $1 AND r.external = $2`,
		[]any{key.Supplier, key.External},
		[]any{sealed.json("failure", &text), &at, sealed.json("person", &refused.Document)}); err != nil {
		return landfall.Refusal{}, err
	}
	failure, err := readFailure(text, at)
	if err != nil {
		return landfall.Refusal{}, err
	}
	refused.Failure = *failure
	refused.Failure.AtStaging = true
	return refused, nil
}

// stagedColumns leaves out the document, which is read only where it is shown.
const stagedColumns = `SELECT g.revision, g.hash, g.staged_at, g.key_id, g.request_id, k.organisation`

// stagedFrom includes revisions whose key no longer exists.
const stagedFrom = ` FROM staging g JOIN process p ON p.id = g.process_id JOIN supplier s ON s.id = p.supplier_id
	LEFT JOIN api_key k ON k.id = g.key_id WHERE s.code = $1 AND p.external = $2 `

// Revision returns one staged revision with its document.
func (v *view) Revision(ctx context.Context, key landfall.Key, revision int) (landfall.StagedRevision, error) {
	var kept []byte
	found, err := collect(ctx, v.txSession, func(scan scanner, r *landfall.StagedRevision) error {
		return v.readRevision(key)(func(columns ...any) error { return scan(append(columns, &kept, instantInto{&r.RemovedAt})...) }, r)
	}, stagedColumns+`, g.document, g.purged_at`+stagedFrom+`AND g.revision = $3`, key.Supplier, key.External, int64(revision))
	one, err := firstOf(found, err, landfall.ErrNotFound)
	if err != nil {
		return landfall.StagedRevision{}, err
	}
	if !one.RemovedAt.IsZero() && len(kept) == 0 {
		return one, nil
	}
	if one.Document, err = v.sealer.openDocument(key, kept, one.Hash); err != nil {
		return landfall.StagedRevision{}, documentError(key, revision, err)
	}
	return one, nil
}

// readRevision scans a revision and opens its hash. The hash is sealed if the
// store encrypts, because a short document could be guessed from it.
func (v *view) readRevision(key landfall.Key) func(scanner, *landfall.StagedRevision) error {
	return func(scan scanner, r *landfall.StagedRevision) error {
		var hash []byte
		err := scan(&r.Revision, &hash, instantInto{&r.StagedAt}, textInto{&r.By.KeyID}, textInto{&r.By.RequestID}, textInto{&r.By.Organisation})
		r.Hash = v.sealer.openHash(key, hash)
		return err
	}
}

// History returns what happened to a process, newest first.
func (v *view) History(ctx context.Context, query landfall.HistoryQuery) (history landfall.History, err error) {
	before := int64(math.MaxInt64)
	if !query.Before.IsZero() {
		before = query.Before.UnixMicro()
	}
	key, limit := query.Key, int64(query.Limit)
	history.Revisions, err = collect(ctx, v.txSession, v.readRevision(key), stagedColumns+stagedFrom+
		`AND g.staged_at < $3 ORDER BY g.revision DESC LIMIT $4`, key.Supplier, key.External, before, limit)
	if err != nil {
		return landfall.History{}, err
	}
	history.Events, err = collect(ctx, v.txSession, func(scan scanner, event *landfall.Event) error {
		var details []byte
		event.Key = key
		if err := scan(&event.ID, &event.Type, &event.AccountNumber, instantInto{&event.At}, &details, textInto{&event.By.KeyID},
			textInto{&event.By.RequestID}, textInto{&event.By.Organisation}); err != nil {
			return err
		}
		return json.Unmarshal(details, &event.Details)
	}, `SELECT e.id, e.type, e.account_number, e.at, e.details, e.key_id, e.request_id, k.organisation
		FROM event e LEFT JOIN api_key k ON k.id = e.key_id
		WHERE e.supplier = $1 AND e.external = $2 AND e.at < $3 ORDER BY e.id DESC LIMIT $4`, key.Supplier, key.External, before, limit)
	if err != nil {
		return landfall.History{}, err
	}
	history.Audit, err = collect(ctx, v.txSession, func(scan scanner, entry *landfall.AuditEntry) error {
		return scan(instantInto{&entry.At}, &entry.Actor, &entry.Action, &entry.Subject, &entry.Detail)
	}, `SELECT at, actor, action, subject, detail FROM audit WHERE subject = $1 AND subject <> '' AND at < $2 ORDER BY id DESC LIMIT $3`, // the condition of the index
		key.Supplier+"/"+key.External, before, limit)
	return history, err
}
