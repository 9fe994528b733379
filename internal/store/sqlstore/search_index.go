package sqlstore

import (
	"context"
	"database/sql"
	"slices"

	"landfall"
	"landfall/internal/store/sqlset"
)

const (
	// indexBatch is how many accounts, or events, are looked at together.
	indexBatch = 400
	// indexRows is how many terms go into one transaction: on SQLite everybody
	// else waits until they are written.
	indexRows = 1000
)

// termTable is what accounts are found by.
var termTable = newTable("search_term", "account_id bigint", "term text").SkipExisting("account_id, term")

// IndexTerms indexes a batch of accounts that were created since the last one. Creating
// an account writes no terms: writing them costs more than half as much as creating the
// account, and the caller would wait for it.
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
	var before, after int64 // the last event whose account is entered
	var batch []indexedAccount
	err = s.stream(ctx, func(v *view) error {
		if before, err = v.indexState(ctx, ``); err != nil {
			return err
		}
		// Not beyond the watermark: a transaction that is still under way may bring an
		// event with a lower number, which the indexer would never come back to.
		var ids []int64
		ids, after, err = v.newAccounts(ctx, before, s.logged.Complete)
		if err == nil && len(ids) > 0 {
			batch, err = v.indexedAccounts(ctx, ids)
		}
		return err
	})
	if err != nil || after == before {
		return step, err
	}
	// A long batch is entered in parts: what is entered already is left alone,
	// and the clerk only goes on when all of it is.
	rows := s.termRows(batch)
	// Once in any case: a batch that is found by nothing has no rows, and the clerk
	// would look at it for ever.
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

// indexStateText reads the one row that says how far all replicas are.
const indexStateText = `SELECT held.event_after FROM search_index held `

// indexState reads how far the terms are entered; whoever writes holds it.
func (v *view) indexState(ctx context.Context, hold string) (eventAfter int64, err error) {
	err = v.one(ctx, indexStateText+hold, nil, []any{&eventAfter})
	return eventAfter, err
}

// createdEventsText reads events with the accounts they are about, each looked up by its key.
// By their numbers they would be found as well, but a PostgreSQL that has looked at its
// tables while everything was staged and nothing created believes that next to no
// process has a number, and goes through all that do for each batch of a long run.
const createdEventsText = `SELECT e.id, e.type, e.account_number, p.id, p.account_number
	FROM event e LEFT JOIN supplier s ON s.code = e.supplier
	LEFT JOIN process p ON p.supplier_id = s.id AND p.external = e.external
	WHERE e.id > $1 AND e.id <= $2 ORDER BY e.id LIMIT $3`

// newAccounts gives the accounts that the next events say were created, and are
// still there.
func (v *view) newAccounts(ctx context.Context, before, complete int64) (ids []int64, after int64, err error) {
	events, err := collect(ctx, v.txSession, func(scan scanner, event *int64) error {
		var kind landfall.EventType
		var told string
		var id sql.NullInt64
		var number sql.NullString
		err := scan(event, &kind, &told, &id, &number)
		// Another number is another account's, which has an event of its own.
		if err == nil && kind == landfall.EventImportCompleted && number.Valid && number.String == told {
			ids = append(ids, id.Int64)
		}
		return err
	}, createdEventsText, before, complete, int64(indexBatch))
	if err != nil || len(events) == 0 {
		return nil, before, err
	}
	after = events[len(events)-1]
	// Numbers of events have gaps. All there are up to the mark have been seen, also
	// where the last ones are missing.
	if len(events) < indexBatch {
		after = max(after, complete)
	}
	slices.Sort(ids)
	return ids, after, nil
}

// writeTerms writes terms and, with the last of a batch, how far the clerk is. It
// reports false when somebody else has done the same meanwhile.
func (t *tx) writeTerms(ctx context.Context, rows []termRow, before, after int64, last bool) (bool, error) {
	now, err := t.indexState(ctx, `{hold}`)
	if err != nil || now != before {
		return false, err
	}
	standing, err := t.lockImported(ctx, rows)
	if err != nil {
		return false, err
	}
	terms := sqlset.Rows{Table: termTable}
	for _, row := range rows {
		if standing[row.account] == row.number {
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

// lockImported holds the processes of accounts and gives their numbers, so
// that nobody takes an account back, or what is personal of it away, between
// the look and the writing.
func (t *tx) lockImported(ctx context.Context, rows []termRow) (map[int64]string, error) {
	var ids []int64
	for _, row := range rows {
		if len(ids) == 0 || ids[len(ids)-1] != row.account {
			ids = append(ids, row.account)
		}
	}
	ids = slices.Compact(ids)
	standing := make(map[int64]string, len(ids))
	if len(ids) == 0 {
		return standing, nil
	}
	these, list := sqlset.Among(t.engine, ids)
	found, err := collect(ctx, t.txSession, func(scan scanner, one *owned[string]) error { return scan(&one.id, &one.item) },
		importedText(these), list)
	for _, one := range found {
		standing[one.id] = one.item
	}
	return standing, err
}

// importedText asks for the state and not for a number: there is an index of all
// processes with one, and PostgreSQL would now and then take that.
func importedText(among string) string {
	return `SELECT held.id, held.account_number FROM process held
		WHERE held.id` + among + ` AND held.state = 'imported' AND held.erased_at IS NULL ORDER BY held.id {hold}`
}
