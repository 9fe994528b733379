package sqlstore

import (
	"context"

	"landfall"
	"landfall/internal/store/sqlset"
)

// rekeyTerms runs one step along the accounts. It indexes those again that have
// search terms in the clear.
func (s *Store) rekeyTerms(ctx context.Context, at *rekeyState) error {
	after := int64(0)
	if len(at.after) > 0 {
		after, _ = at.after[0].(int64)
	}
	var ids, due []int64
	var batch []indexedAccount
	number := func(scan scanner, id *int64) error { return scan(id) }
	err := s.stream(ctx, func(v *view) (err error) {
		if ids, err = collect(ctx, v.txSession, number, `SELECT id FROM account WHERE id > $1 ORDER BY id LIMIT $2`, after, int64(rekeyBatch)); err != nil || len(ids) == 0 {
			return err
		}
		these, list := sqlset.Among(v.engine, ids)
		due, err = collect(ctx, v.txSession, number, `SELECT DISTINCT account_id FROM search_term WHERE account_id`+these+` AND `+plainTermCondition, list)
		// If no function returns an account's terms, terms in the clear are
		// only removed. Leaving them would leave names in the database.
		if err == nil && len(due) > 0 && s.termsOf != nil {
			batch, err = v.indexedAccounts(ctx, due)
		}
		return err
	})
	if err != nil {
		return err
	}
	if len(due) > 0 {
		rows := s.termRows(batch)
		err := s.update(ctx, landfall.Key{}, func(t *tx) error { return t.replaceTerms(ctx, due, rows) })
		if err != nil {
			return err
		}
	}
	at.seen, at.encrypted = at.seen+int64(len(ids)), at.encrypted+int64(len(due))
	if len(ids) < rekeyBatch {
		at.table, at.after = at.table+1, nil
		return nil
	}
	at.after = []any{ids[len(ids)-1]}
	return nil
}

// plainTermCondition is the condition for terms from before there was a key.
// All digests begin with the same character, and no kind of term does.
const plainTermCondition = `(term < '=' OR term >= '>')`

// replaceTerms replaces the terms of accounts that are stored in the clear.
func (t *tx) replaceTerms(ctx context.Context, accounts []int64, rows []termRow) error {
	// Since it was read, an account may have been undone or erased. Its terms
	// must not come back afterwards.
	status, err := t.lockImported(ctx, rows)
	if err != nil {
		return err
	}
	these, list := sqlset.Among(t.engine, accounts)
	if _, err := t.exec(ctx, `DELETE FROM search_term WHERE account_id`+these+` AND `+plainTermCondition, list); err != nil {
		return err
	}
	terms := sqlset.Rows{Table: termTable}
	for _, row := range rows {
		if status[row.account] == row.number {
			terms.Add(row.account, row.term)
		}
	}
	return t.write(ctx, &terms)
}
