package sqlstore

import (
	"context"
	"database/sql"
	"slices"

	"landfall"
	"landfall/internal/store/sqlset"
)

const (
	// indexBatch is how many accounts, or events, are read together.
	indexBatch = 400
	// indexRows is how many terms one transaction writes. On SQLite all other
	// writers wait until they are written.
	indexRows = 1000
)

// termTable contains the terms by which accounts are found.
var termTable = newTable("search_term", "account_id bigint", "term text").SkipExisting("account_id, term")

// IndexTerms indexes a batch of accounts that were created since the last one.
// Creating an account writes no terms: writing them costs more than half as
// much as creating the account, and the caller would wait for it.
func (s *Store) IndexTerms(ctx context.Context) (step landfall.IndexStep, err error) {
	if s.termsOf == nil {
		return step, nil
	}
	s.indexing.Lock()
	defer s.indexing.Unlock()
	if s.logged, err = s.Watermark(ctx, s.logged); err != nil {
		return step, err
	}
	step.Newest = s.logged.Newest
	var before, after int64 // the last event whose account is indexed
	var ids []int64
	var batch []indexedAccount
	err = s.stream(ctx, func(v *view) error {
		if before, err = v.indexState(ctx, ``); err != nil {
			return err
		}
		// Stop at the watermark: a transaction that has not committed yet may
		// add an event with a lower id, which the indexer would never come back
		// to.
		ids, after, err = v.newAccounts(ctx, before, s.logged.Complete)
		return err
	})
	if err == nil && after != before {
		batch, err = s.readableAccounts(ctx, ids)
	}
	if err != nil || after == before {
		return step, err
	}
	// A long batch is written in parts. Terms that exist already stay
	// unchanged, and the position advances only with the last part.
	rows := s.termRows(batch)
	// Run at least once: a batch without any terms has no rows, and the indexer
	// would read it again for ever.
	for first := true; first || len(rows) > 0; first = false {
		part := rows[:min(len(rows), indexRows)]
		rows = rows[len(part):]
		last := len(rows) == 0
		moved := false
		err := s.update(ctx, landfall.Key{}, func(t *tx) (err error) {
			moved, err = t.writeTerms(ctx, part, before, after, last)
			return err
		})
		if err != nil {
			return step, err
		}
		step.More = true
		if !moved {
			return step, nil // another server has indexed these
		}
	}
	step.Accounts = len(batch)
	return step, nil
}

// indexStateText reads the one row that contains the position of all replicas.
const indexStateText = `SELECT held.event_after FROM search_index held `

// indexState reads up to which event accounts are indexed. Writers lock the
// row.
func (v *view) indexState(ctx context.Context, hold string) (eventAfter int64, err error) {
	err = v.one(ctx, indexStateText+hold, nil, []any{&eventAfter})
	return eventAfter, err
}

// createdEventsText reads events with the accounts they are about, looked up by
// key. Looking them up by account number would work as well, but if PostgreSQL
// analyzed its tables while everything was staged and nothing created, it
// believes that hardly any process has a number, and for each batch of a long
// run it reads all that do.
const createdEventsText = `SELECT e.id, e.type, e.account_number, p.id, p.account_number
	FROM event e LEFT JOIN supplier s ON s.code = e.supplier
	LEFT JOIN process p ON p.supplier_id = s.id AND p.external = e.external
	WHERE e.id > $1 AND e.id <= $2 ORDER BY e.id LIMIT $3`

// newAccounts returns the accounts whose creation the next events report and
// that still exist.
func (v *view) newAccounts(ctx context.Context, before, complete int64) (ids []int64, after int64, err error) {
	events, err := collect(ctx, v.txSession, func(scan scanner, event *int64) error {
		var kind landfall.EventType
		var told string
		var id sql.NullInt64
		var number sql.NullString
		err := scan(event, &kind, &told, &id, &number)
		// An account that was undone and created again is indexed by its first
		// event, and once more by its second, which adds nothing.
		if err == nil && kind == landfall.EventImportCompleted && number.Valid && number.String == told {
			ids = append(ids, id.Int64)
		}
		return err
	}, createdEventsText, before, complete, int64(indexBatch))
	if err != nil || len(events) == 0 {
		return nil, before, err
	}
	after = events[len(events)-1]
	// Event ids have gaps. All events up to the watermark have been seen, even
	// if the last ids are missing.
	if len(events) < indexBatch {
		after = max(after, complete)
	}
	slices.Sort(ids)
	return slices.Compact(ids), after, nil
}

// writeTerms writes terms and, with the last part of a batch, the new position.
// It returns false if another server has indexed the batch meanwhile.
func (t *tx) writeTerms(ctx context.Context, rows []termRow, before, after int64, last bool) (bool, error) {
	now, err := t.indexState(ctx, `{hold}`)
	if err != nil || now != before {
		return false, err
	}
	status, err := t.lockImported(ctx, rows)
	if err != nil {
		return false, err
	}
	terms := sqlset.Rows{Table: termTable}
	for _, row := range rows {
		if status[row.account] == row.created {
			terms.Add(row.account, row.term)
		}
	}
	if err := t.write(ctx, &terms); err != nil {
		return false, err
	}
	if last {
		_, err = t.exec(ctx, `UPDATE search_index SET event_after = $1`, after)
	}
	return true, err
}

// lockImported locks the processes of accounts and returns when the accounts were
// created, so that no account is undone, created again or erased between reading
// and writing.
func (t *tx) lockImported(ctx context.Context, rows []termRow) (map[int64]int64, error) {
	var ids []int64
	for _, row := range rows {
		if len(ids) == 0 || ids[len(ids)-1] != row.account {
			ids = append(ids, row.account)
		}
	}
	ids = slices.Compact(ids)
	status := make(map[int64]int64, len(ids))
	if len(ids) == 0 {
		return status, nil
	}
	these, list := sqlset.Among(t.engine, ids)
	found, err := collect(ctx, t.txSession, func(scan scanner, one *owned[int64]) error { return scan(&one.id, &one.item) },
		importedText(these), list)
	for _, one := range found {
		status[one.id] = one.item
	}
	return status, err
}

// importedText filters by state and not by account number: there is an index of
// all processes with a number, and PostgreSQL would sometimes choose it.
func importedText(among string) string {
	return `SELECT held.id, held.account_created_at FROM process held
		WHERE held.id` + among + ` AND held.state = 'imported' AND held.erased_at IS NULL ORDER BY held.id {hold}`
}
