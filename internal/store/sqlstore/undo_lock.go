package sqlstore

import (
	"context"

	"landfall"
	"landfall/internal/store/sqlset"
)

// undoLockQuery finds the accounts of a batch by their processes and locks
// those. It filters by state and not by number, for the same reason as
// importedText.
var undoLockQuery = sqlset.NewQuery(`
	SELECT s.code, held.external, held.id, held.account_number, held.account_created_at, {now}, s.undo_window, held.erased_at IS NOT NULL
	FROM wanted w JOIN supplier s ON s.code = w.supplier
	JOIN process held ON held.supplier_id = s.id AND held.external = w.external
	WHERE held.state = 'imported' ORDER BY held.id {for_update}`, "supplier text", "external text")

// lockForUndo removes the accounts that exist from open.
func (t *tx) lockForUndo(ctx context.Context, open *openUndo) (found []*undoCall, err error) {
	text, args := undoLockQuery.For(t.engine, open.Rows(2, func(args []any, one *undoCall) []any {
		return append(args, one.Key.Supplier, one.Key.External)
	}))
	rows, err := t.query(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var key landfall.Key
		var window int64
		var u undoing
		if err := rows.Scan(&key.Supplier, &key.External, &u.id, &u.number, &u.created, &u.now, &window, &u.erased); err != nil {
			return nil, t.fail(err)
		}
		one := open.ByKey[key]
		u.UndoRequest, u.inTime = one.Wanted.UndoRequest, u.now-u.created <= window
		// A batch may be retried, and decides by what it finds then.
		*one.Wanted = u
		open.Set(one, landfall.UndoOutcome{})
		found = append(found, one)
	}
	return found, t.fail(rows.Err())
}

// lockUndoAccounts locks the accounts and reads how much was posted to them and
// which run created them.
func (t *tx) lockUndoAccounts(ctx context.Context, found []*undoCall) error {
	if len(found) == 0 {
		return nil
	}
	byID := make(map[int64]*undoing, len(found))
	for _, one := range found {
		byID[one.Wanted.id] = one.Wanted
	}
	// Lock in the same order as postings do.
	these, list := sqlset.Among(t.engine, idsOf(found))
	rows, err := t.query(ctx, `SELECT held.id, held.posting_count, held.other_posting_count, coalesce(held.run, '')
		FROM account held WHERE held.id`+these+` ORDER BY held.id {for_update}`, list)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var u undoing
		if err := rows.Scan(&id, &u.posted, &u.others, &u.run); err != nil {
			return t.fail(err)
		}
		byID[id].posted, byID[id].others, byID[id].run = u.posted, u.others, u.run
	}
	return t.fail(rows.Err())
}

// readUndoRecords reads the documents that the accounts would be created from again,
// and notes which are damaged or missing.
func (t *tx) readUndoRecords(ctx context.Context, found []*undoCall) error {
	if len(found) == 0 {
		return nil
	}
	byID := make(map[int64]*undoCall, len(found))
	for _, one := range found {
		byID[one.Wanted.id] = one
		one.Wanted.damaged = true
	}
	these, list := sqlset.Among(t.engine, idsOf(found))
	rows, err := t.query(ctx, `SELECT g.process_id, g.hash, g.document FROM account a
		JOIN staging g ON g.process_id = a.id AND g.revision = a.revision WHERE a.id`+these, list)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id int64
		var hash, kept []byte
		if err := rows.Scan(&id, &hash, &kept); err != nil {
			return t.fail(err)
		}
		one := byID[id]
		_, err := t.sealer.openDocument(one.Key, kept, t.sealer.openHash(one.Key, hash))
		one.Wanted.damaged = err != nil
	}
	return t.fail(rows.Err())
}

// mailed returns which accounts have mails, in any state. Most suppliers send
// none. While an account is locked, no mail is added to it.
func (t *tx) mailed(ctx context.Context, found []*undoCall) (map[int64]bool, error) {
	mailed := map[int64]bool{}
	if len(found) == 0 {
		return mailed, nil
	}
	these, list := sqlset.Among(t.engine, idsOf(found))
	ids, err := collect(ctx, t.txSession, func(scan scanner, id *int64) error { return scan(id) },
		`SELECT DISTINCT m.account_id FROM mail m WHERE m.account_id`+these, list)
	for _, id := range ids {
		mailed[id] = true
	}
	return mailed, err
}

// idsOf returns the ids of accounts.
func idsOf(found []*undoCall) []int64 {
	ids := make([]int64, len(found))
	for i, one := range found {
		ids[i] = one.Wanted.id
	}
	return ids
}
