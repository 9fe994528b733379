package sqlstore

import (
	"context"
	"iter"
	"math"
	"strconv"
	"time"

	"landfall"
	"landfall/internal/store/sqlset"
)

const (
	// wholeBatch is how many whole accounts are read at a time.
	wholeBatch = 200
	// wholeBytes is how much of them is read at a time, not counting the last
	// row.
	wholeBytes = 1 << 20
	// unpackedFactor is a guess how much longer a document is than its packed
	// form.
	unpackedFactor = 6
	// smallRecord is how long a packed record may be that is read together with
	// the head of its account. Most are shorter; a batch of longer ones would need
	// too much memory.
	smallRecord = 4 << 10
	// fewEntries is for how many entries of a ledger there is room from the start.
	fewEntries = 16
)

// wholeHead is an account without its lists, with its packed record.
type wholeHead struct {
	landfall.WholeAccount
	id   int64
	hash []byte
	size int64 // of the packed record
	kept []byte
	// unreadable says why the record cannot be read.
	unreadable error
}

var smallRecordText = strconv.Itoa(smallRecord)

// headColumns are the columns of a wholeHead, of process p, account a and
// revision g.
var headColumns = `SELECT p.id, p.external, p.account_number, p.account_created_at, p.first_staged_at, p.erased_at, a.revision, a.currency,
	a.balance, a.open_from_on, a.ledger_length, a.note_count, a.statement_count, a.instruction_count, g.hash, length(g.document),
	CASE WHEN length(g.document) <= ` + smallRecordText + ` THEN g.document END, ` + worstDelivery

const headTables = ` JOIN account a ON a.id = p.id JOIN staging g ON g.process_id = a.id AND g.revision = a.revision`

// changedSince is the condition that an account has an event after another one.
const changedSince = ` AND EXISTS (SELECT 1 FROM event e WHERE e.supplier = $8 AND e.external = p.external AND e.id > $9)`

// wholeList selects a part of the list of imported accounts.
func (v *view) wholeList(ctx context.Context, query landfall.WholeAccountQuery, limit int, until int64) (list string, args []any, err error) {
	supplier, now, err := v.supplierNow(ctx, query.Supplier)
	if err != nil {
		return ``, nil, err
	}
	from, upTo := landfall.ProcessCursor{FirstStagedAt: time.UnixMicro(math.MinInt64)}, landfall.ProcessCursor{FirstStagedAt: time.UnixMicro(math.MaxInt64)}
	if query.After != nil {
		from = *query.After
	}
	if query.UpTo != nil {
		upTo = *query.UpTo
	}
	condition := imported + ` AND (p.first_staged_at, p.external) <= ($6, $7)`
	args = []any{supplier, from.FirstStagedAt.UnixMicro(), from.External, int64(limit), min(until, now), upTo.FirstStagedAt.UnixMicro(), upTo.External}
	if query.Changed {
		condition, args = condition+changedSince, append(args, query.Supplier, query.ChangedAfter)
	}
	return `(` + listed(condition, `p.id, p.erased_at, `) + `) AS p`, args, nil
}

// WholeAccountPage returns where a page of limit accounts ends, if there are
// more.
func (v *view) WholeAccountPage(ctx context.Context, query landfall.WholeAccountQuery, limit int) (*landfall.ProcessCursor, error) {
	list, args, err := v.wholeList(ctx, query, limit+1, math.MaxInt64)
	if err != nil {
		return nil, ignoreNotFound(err)
	}
	last, err := collect(ctx, v.txSession, func(scan scanner, cursor *landfall.ProcessCursor) error {
		return scan(instantInto{&cursor.FirstStagedAt}, &cursor.External)
	}, `SELECT p.first_staged_at, p.external FROM `+list+` ORDER BY p.first_staged_at, p.external LIMIT 2 OFFSET `+strconv.Itoa(limit-1), args...)
	if err != nil || len(last) < 2 {
		return nil, err
	}
	return &last[0], nil
}

// readHead scans the head of an account of a supplier.
func readHead(supplier string) func(scanner, *wholeHead) error {
	return func(scan scanner, h *wholeHead) error {
		h.Key.Supplier = supplier
		var openFrom string
		if err := scan(&h.id, &h.Key.External, &h.Number, instantInto{&h.CreatedAt}, instantInto{&h.FirstStagedAt}, instantInto{&h.ErasedAt},
			&h.Revision, &h.Currency, (*int64)(&h.Balance), &openFrom, &h.Lengths.Entries, &h.Lengths.Notes, &h.Lengths.Statements,
			&h.Lengths.Instructions, &h.hash, &h.size, &h.kept, (*string)(&h.Delivery)); err != nil {
			return err
		}
		var err error
		h.OpenFromOn, err = storedDay(openFrom)
		return err
	}
}

// WholeAccounts streams a supplier's created accounts with their records. It
// reads a few at a time, as many as fit into memory, each time in a short
// transaction. While some are sent, the next ones are unpacked and others read.
func (s *Store) WholeAccounts(ctx context.Context, query landfall.WholeAccountQuery) iter.Seq2[landfall.WholeAccount, error] {
	return func(yield func(landfall.WholeAccount, error) bool) {
		ended := make(chan struct{})
		read, unpacked := make(chan readBatch[*wholeHead], 1), make(chan readBatch[*wholeHead], 1)
		reader := runAsync(func() struct{} {
			defer close(read)
			s.readWhole(ctx, query, func(batch readBatch[*wholeHead]) bool { return passOn(read, batch, ended) })
			return struct{}{}
		})
		unpacker := runAsync(func() struct{} {
			defer close(unpacked)
			for batch := range read {
				s.unpackWhole(batch.rows, query.Fingerprint)
				if !passOn(unpacked, batch, ended) {
					break
				}
			}
			return struct{}{}
		})
		// Neither may outlive the list, even if it ends early.
		defer func() {
			close(ended)
			reader()
			unpacker()
		}()
		for batch := range unpacked {
			if batch.err != nil {
				yield(landfall.WholeAccount{}, batch.err)
				return
			}
			if !s.yieldWhole(batch.rows, query.Fingerprint, yield) {
				return
			}
		}
	}
}

// passOn passes a batch on. It reports false if the list has ended.
func passOn[T any](to chan<- T, batch T, ended <-chan struct{}) bool {
	select {
	case to <- batch:
		return true
	case <-ended:
		return false
	}
}

// readWhole reads a list until its end or an error, which is in the last batch, or
// until a batch is not taken.
func (s *Store) readWhole(ctx context.Context, query landfall.WholeAccountQuery, take func(readBatch[*wholeHead]) bool) {
	// Accounts that are staged after the list began are not part of it;
	// otherwise a slowly read list might never end.
	until := int64(math.MaxInt64)
	for {
		var batch readBatch[*wholeHead]
		batch.err = s.stream(ctx, func(v *view) (err error) {
			batch.rows, until, err = v.wholePage(ctx, query, until)
			return ignoreNotFound(err)
		})
		last := len(batch.rows) - 1
		if batch.err == nil && last < 0 {
			return
		}
		if batch.err == nil {
			query.After = &landfall.ProcessCursor{FirstStagedAt: batch.rows[last].FirstStagedAt, External: batch.rows[last].Key.External}
		}
		if !take(batch) || batch.err != nil {
			return
		}
	}
}

// unpackWhole unpacks the records of a batch, as many as fit into memory: a record
// may be a thousand times as long as its packed form. The others are unpacked when
// they are wanted.
func (s *Store) unpackWhole(batch []*wholeHead, fingerprint func([]byte) (string, error)) {
	room := wholeBytes
	for _, head := range batch {
		if room <= 0 {
			break
		}
		head.unreadable = head.unpack(s.sealer, fingerprint)
		room -= len(head.Record)
	}
}

// yieldWhole yields the accounts of a batch. It reports whether all were taken.
func (s *Store) yieldWhole(batch []*wholeHead, fingerprint func([]byte) (string, error), yield func(landfall.WholeAccount, error) bool) bool {
	for i, head := range batch {
		batch[i] = nil // it is not needed once it was yielded
		if head.unreadable == nil {
			head.unreadable = head.unpack(s.sealer, fingerprint)
		}
		if !yield(head.WholeAccount, head.unreadable) || head.unreadable != nil {
			return false
		}
	}
	return true
}

// unpack opens the record of an account, unless it was erased or is open.
func (h *wholeHead) unpack(sealing *sealer, fingerprint func([]byte) (string, error)) (err error) {
	if len(h.kept) == 0 {
		return nil
	}
	if h.Record, err = sealing.openDocument(h.Key, h.kept, sealing.openHash(h.Key, h.hash)); err != nil {
		return documentError(h.Key, h.Revision, err)
	}
	h.kept = nil
	if fingerprint != nil {
		h.Fingerprint, err = fingerprint(h.Record)
	}
	return err
}

// wholePage reads the next accounts of a list: as many as fit into memory. It
// returns none only at the end of the list.
func (v *view) wholePage(ctx context.Context, query landfall.WholeAccountQuery, until int64) ([]*wholeHead, int64, error) {
	list, args, err := v.wholeList(ctx, query, wholeBatch, until)
	if err != nil {
		return nil, until, err
	}
	until = args[4].(int64) //nolint:forcetypeassert // see wholeList
	heads, err := collect(ctx, v.txSession, readHead(query.Supplier), headColumns+` FROM `+list+headTables+` ORDER BY p.first_staged_at, p.external`, args...)
	if err != nil {
		return nil, until, err
	}
	room := int64(wholeBytes)
	batch := make([]*wholeHead, 0, len(heads))
	for i := range heads {
		if room -= heads[i].size * unpackedFactor; room < 0 && i > 0 {
			break
		}
		batch = append(batch, &heads[i])
	}
	return batch, until, v.loadWhole(ctx, batch)
}

// WholeAccount returns one account with its record.
func (v *view) WholeAccount(ctx context.Context, key landfall.Key) (landfall.WholeAccount, error) {
	found, err := collect(ctx, v.txSession, readHead(key.Supplier), headColumns+` FROM process p`+headTables+`
		JOIN supplier s ON s.id = p.supplier_id WHERE s.code = $1 AND p.external = $2`, key.Supplier, key.External)
	head, err := firstOf(found, err, landfall.ErrNotFound)
	if err != nil {
		return landfall.WholeAccount{}, err
	}
	if err := v.loadWhole(ctx, []*wholeHead{&head}); err != nil {
		return landfall.WholeAccount{}, err
	}
	err = head.unpack(v.sealer, nil)
	return head.WholeAccount, err
}

// loadWhole reads the packed records of accounts that are not small, and the
// beginnings of the lists.
func (v *view) loadWhole(ctx context.Context, batch []*wholeHead) error {
	if len(batch) == 0 {
		return nil
	}
	byID := make(map[int64]*wholeHead, len(batch))
	var large, entries, noted, billed, instructed []int64
	for _, head := range batch {
		byID[head.id] = head
		if head.Lengths.Entries > 0 {
			head.Lists.Entries = make([]landfall.LedgerEntry, 0, min(head.Lengths.Entries, fewEntries))
		}
		if head.size > smallRecord {
			large = append(large, head.id)
		}
		for _, list := range []struct {
			length int
			ids    *[]int64
		}{{head.Lengths.Entries, &entries}, {head.Lengths.Notes, &noted}, {head.Lengths.Statements, &billed}, {head.Lengths.Instructions, &instructed}} {
			if list.length > 0 {
				*list.ids = append(*list.ids, head.id)
			}
		}
	}
	if len(large) > 0 {
		these, list := sqlset.Among(v.engine, large)
		if _, err := collect(ctx, v.txSession, func(scan scanner, _ *struct{}) error {
			var id int64
			var kept []byte
			err := scan(&id, &kept)
			byID[id].kept = kept
			return err
		}, `SELECT a.id, g.document FROM account a JOIN staging g ON g.process_id = a.id AND g.revision = a.revision WHERE a.id`+these, list); err != nil {
			return err
		}
	}
	if err := readLists(ctx, v, entries, entryList, v.readEntry, func(id int64, entry landfall.LedgerEntry) {
		byID[id].Lists.Entries = append(byID[id].Lists.Entries, entry)
	}); err != nil {
		return err
	}
	if err := readLists(ctx, v, noted, noteList, v.readNote, func(id int64, note landfall.Note) {
		byID[id].Lists.Notes = append(byID[id].Lists.Notes, note)
	}); err != nil {
		return err
	}
	if err := readLists(ctx, v, billed, statementList, v.readStatement, func(id int64, statement landfall.Statement) {
		byID[id].Lists.Statements = append(byID[id].Lists.Statements, statement)
	}); err != nil {
		return err
	}
	return readLists(ctx, v, instructed, instructionList, v.readInstruction, func(id int64, instruction landfall.Instruction) {
		byID[id].Lists.Instructions = append(byID[id].Lists.Instructions, instruction)
	})
}

// accountList is how a list of accounts is read: its columns, table and the
// column that numbers it.
type accountList struct {
	columns, table, order string
	indexedLater          bool // rows after indexedFrom have an index of their own
}

var (
	entryList       = accountList{entryColumns, "ledger_entry", "sequence", false}
	noteList        = accountList{noteColumns, "note", "ordinal", true}
	statementList   = accountList{statementColumns, "historical_statement", "ordinal", true}
	instructionList = accountList{instructionColumns, "instruction", "ordinal", false}
)

// readLists reads the beginnings of the lists of accounts. It reads at most
// indexedFrom rows of each, and stops when it has read enough: then some lists
// are incomplete or empty.
func readLists[T any](ctx context.Context, v *view, ids []int64, list accountList, read func(scanner, *owned[T]) error, give func(int64, T)) error {
	if len(ids) == 0 {
		return nil
	}
	these, among := sqlset.Among(v.engine, ids)
	return readRows(ctx, v, read, func(row *owned[T]) { give(row.id, row.item) },
		`SELECT `+list.columns+` FROM `+list.table+` WHERE account_id`+these+` AND `+list.order+` <= $2 ORDER BY account_id, `+list.order,
		among, int64(indexedFrom))
}

// readRows reads rows until they have enough bytes.
func readRows[T any](ctx context.Context, v *view, read func(scanner, *owned[T]) error, give func(*owned[T]), text string, args ...any) error {
	rows, err := v.query(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for room := wholeBytes; room > 0 && rows.Next(); {
		var row owned[T]
		if err := read(rows.Scan, &row); err != nil {
			return v.fail(err)
		}
		give(&row)
		room -= bytesOf(&row.item)
	}
	return v.fail(rows.Err())
}

// bytesOf estimates the memory of an item of a list.
func bytesOf(item any) int {
	const row = 200
	switch item := item.(type) {
	case *landfall.LedgerEntry:
		return row + len(item.Transaction.Document) + len(item.Transaction.Note)
	case *landfall.Note:
		bytes := row + len(item.Body)
		for _, path := range item.DocumentPaths {
			bytes += len(path)
		}
		return bytes
	}
	return row
}

// AccountLists returns the next items of the lists of an account.
func (v *view) AccountLists(ctx context.Context, query landfall.AccountListsQuery) (found landfall.AccountLists, err error) {
	var id int64
	if err := v.one(ctx, `SELECT p.id FROM process p JOIN supplier s ON s.id = p.supplier_id
		WHERE s.code = $1 AND p.external = $2 AND p.account_created_at = $3`, []any{query.Key.Supplier, query.Key.External, query.CreatedAt.UnixMicro()},
		[]any{&id}); err != nil {
		return landfall.AccountLists{}, err
	}
	after, upTo := query.After, query.UpTo
	if found.Entries, err = readPart(ctx, v, id, entryList, after.Entries, upTo.Entries, v.readEntry); err != nil {
		return landfall.AccountLists{}, err
	}
	if found.Notes, err = readPart(ctx, v, id, noteList, after.Notes, upTo.Notes, v.readNote); err != nil {
		return landfall.AccountLists{}, err
	}
	if found.Statements, err = readPart(ctx, v, id, statementList, after.Statements, upTo.Statements, v.readStatement); err != nil {
		return landfall.AccountLists{}, err
	}
	found.Instructions, err = readPart(ctx, v, id, instructionList, after.Instructions, upTo.Instructions, v.readInstruction)
	return found, err
}

func readPart[T any](ctx context.Context, v *view, id int64, list accountList, after, upTo int, read func(scanner, *owned[T]) error) (items []T, err error) {
	if after >= upTo {
		return nil, nil
	}
	later := ``
	if list.indexedLater {
		later = indexCondition(int64(after))
	}
	err = readRows(ctx, v, read, func(row *owned[T]) { items = append(items, row.item) }, `SELECT `+list.columns+` FROM `+list.table+
		` WHERE account_id = $1 AND `+list.order+` > $2 AND `+list.order+` <= $3`+later+` ORDER BY `+list.order+` LIMIT $4`,
		id, int64(after), int64(upTo), int64(wholeBatch*5))
	return items, err
}
