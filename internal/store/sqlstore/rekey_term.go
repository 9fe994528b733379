package sqlstore

import (
	"context"
	"slices"
	"strings"

	"landfall"
	"landfall/internal/store/sqlset"
)

// rekeyTerms runs one step along the accounts. It indexes those again whose terms
// are not stored as they would be today.
func (s *Store) rekeyTerms(ctx context.Context, at *rekeyState) error {
	after := int64(0)
	if len(at.after) > 0 {
		after, _ = at.after[0].(int64)
	}
	var ids []int64
	err := s.stream(ctx, func(v *view) (err error) {
		ids, err = collect(ctx, v.txSession, func(scan scanner, id *int64) error { return scan(id) },
			`SELECT id FROM account WHERE id > $1 ORDER BY id LIMIT $2`, after, int64(rekeyBatch))
		return err
	})
	if err != nil {
		return err
	}
	due, rows, err := s.dueTerms(ctx, ids)
	if err != nil {
		return err
	}
	if len(due) > 0 {
		if err := s.update(ctx, landfall.Key{}, func(t *tx) error { return t.replaceTerms(ctx, due, rows) }); err != nil {
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

// dueTerms returns the accounts whose terms have to be replaced, and their new
// terms.
func (s *Store) dueTerms(ctx context.Context, ids []int64) (due []int64, rows []termRow, err error) {
	if len(ids) == 0 {
		return nil, nil, nil
	}
	has := map[int64][]string{}
	err = s.stream(ctx, func(v *view) error {
		clear(has)
		these, list := sqlset.Among(v.engine, ids)
		stored, err := collect(ctx, v.txSession, func(scan scanner, row *termRow) error { return scan(&row.account, &row.term) },
			`SELECT account_id, term FROM search_term WHERE account_id`+these, list)
		for _, row := range stored {
			has[row.account] = append(has[row.account], row.term)
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	wanted := map[int64][]termRow{}
	readable := map[int64]bool{}
	if s.termsOf != nil {
		batch, err := s.readableAccounts(ctx, ids)
		if err != nil {
			return nil, nil, err
		}
		for _, one := range batch {
			readable[one.id] = true
		}
		for _, row := range s.termRows(batch) {
			wanted[row.account] = append(wanted[row.account], row)
		}
	}
	current := termPrefix(s.sealer.WriterID())
	for _, id := range ids {
		var terms []string
		for _, row := range wanted[id] {
			terms = append(terms, row.term)
		}
		slices.Sort(terms)
		slices.Sort(has[id])
		replace := !slices.Equal(slices.Compact(terms), has[id])
		// An account that cannot be read, or whose terms no function returns, keeps
		// what was indexed with the current key. Anything else would leave names in
		// the database, or digests of them under the old key.
		if !readable[id] {
			replace = slices.ContainsFunc(has[id], func(term string) bool { return !strings.HasPrefix(term, current) })
		}
		if replace {
			due, rows = append(due, id), append(rows, wanted[id]...)
		}
	}
	return due, rows, nil
}

// replaceTerms replaces the terms of accounts.
func (t *tx) replaceTerms(ctx context.Context, accounts []int64, rows []termRow) error {
	// Since it was read, an account may have been undone or erased. Its terms
	// must not come back afterwards.
	status, err := t.lockImported(ctx, rows)
	if err != nil {
		return err
	}
	these, list := sqlset.Among(t.engine, accounts)
	if _, err := t.exec(ctx, `DELETE FROM search_term WHERE account_id`+these, list); err != nil {
		return err
	}
	terms := sqlset.Rows{Table: termTable}
	for _, row := range rows {
		if status[row.account] == row.created {
			terms.Add(row.account, row.term)
		}
	}
	return t.write(ctx, &terms)
}
