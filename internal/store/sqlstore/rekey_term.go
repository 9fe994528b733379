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
	} else if err := s.rekeyRefused(ctx); err != nil {
		return err
	}
	step, err := s.CorrectTerms(ctx, after)
	if err != nil {
		return err
	}
	at.seen, at.encrypted = at.seen+int64(step.Seen), at.encrypted+int64(step.Corrected)
	at.after = []any{step.Next}
	if step.Done {
		at.table, at.after = at.table+1, nil
	}
	return nil
}

// CorrectTerms indexes the accounts again whose terms are not stored as they would be
// today.
func (s *Store) CorrectTerms(ctx context.Context, after int64) (step landfall.TermsStep, err error) {
	ids, err := s.processesAfter(ctx, after, rekeyBatch)
	if err != nil {
		return step, err
	}
	due, err := s.dueTerms(ctx, ids)
	if err != nil {
		return step, err
	}
	for _, part := range termParts(due) {
		if err := s.update(ctx, landfall.Key{}, func(t *tx) error {
			if _, err := t.indexState(ctx, `{for_update}`); err != nil {
				return err
			}
			return t.replaceTerms(ctx, part)
		}); err != nil {
			return step, err
		}
	}
	step = landfall.TermsStep{Seen: len(ids), Corrected: len(due), Done: len(ids) < rekeyBatch}
	if !step.Done {
		step.Next = ids[len(ids)-1]
	}
	return step, nil
}

// processesAfter returns the ids of the next processes.
func (s *Store) processesAfter(ctx context.Context, after int64, most int) (ids []int64, err error) {
	err = s.stream(ctx, func(v *view) (err error) {
		ids, err = collect(ctx, v.txSession, func(scan scanner, id *int64) error { return scan(id) },
			`SELECT id FROM process WHERE id > $1 ORDER BY id LIMIT $2`, after, int64(most))
		return err
	})
	return ids, err
}

// rekeyRefused indexes all refused accounts again.
func (s *Store) rekeyRefused(ctx context.Context) error {
	if s.termsOf == nil {
		return nil
	}
	s.indexing.Lock()
	defer s.indexing.Unlock()
	for after := int64(0); ; {
		var ids []int64
		if err := s.update(ctx, landfall.Key{}, func(t *tx) (err error) {
			ids, err = collect(ctx, t.txSession, func(scan scanner, id *int64) error { return scan(id) },
				`UPDATE refusal SET indexed = FALSE WHERE id IN (SELECT id FROM refusal WHERE id > $1 ORDER BY id LIMIT $2) RETURNING id`, after, int64(rekeyBatch))
			return err
		}); err != nil {
			return err
		}
		for count := -1; count != 0; {
			var err error
			if count, err = s.indexRefused(ctx); err != nil {
				return err
			}
		}
		if len(ids) < rekeyBatch {
			return nil
		}
		after = slices.Max(ids)
	}
}

// dueTerms returns the accounts whose terms have to be replaced, with their new terms.
func (s *Store) dueTerms(ctx context.Context, ids []int64) (due []indexedAccount, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	has, err := s.storedTerms(ctx, ids)
	if err != nil {
		return nil, err
	}
	var batch []indexedAccount
	if s.termsOf != nil {
		if batch, err = s.stagedAccounts(ctx, ids); err != nil {
			return nil, err
		}
	}
	current := s.termPrefix()
	known := map[int64]bool{}
	for _, one := range batch {
		known[one.id] = true
		old := has[one.id]
		replace := !one.hasTerms(old)
		// An account that cannot be read keeps what was indexed with the current key.
		// Anything else would leave names in the database, or digests of them under
		// the old key.
		if !one.readable {
			replace = slices.ContainsFunc(old, func(term string) bool { return !strings.HasPrefix(term, current) })
		}
		if replace {
			due = append(due, one)
		}
	}
	return due, s.dropUnknownTerms(ctx, has, known, current)
}

// storedTerms returns the terms that are stored for accounts.
func (s *Store) storedTerms(ctx context.Context, ids []int64) (has map[int64][]string, err error) {
	err = s.stream(ctx, func(v *view) error {
		has = map[int64][]string{}
		these, list := sqlset.Among(v.engine, ids)
		_, err := collect(ctx, v.txSession, func(scan scanner, row *termMatch) error {
			err := scan(&row.account, &row.term)
			has[row.account] = append(has[row.account], row.term)
			return err
		}, `SELECT account_id, term FROM search_term WHERE account_id`+these, list)
		return err
	})
	return has, err
}

// hasTerms reports whether an account's terms are the stored ones.
func (a *indexedAccount) hasTerms(stored []string) bool {
	return slices.Equal(slices.Compact(slices.Sorted(slices.Values(a.terms))), slices.Sorted(slices.Values(stored)))
}

// termPrefix is how the terms of the current key begin. Terms in the clear have no
// such beginning.
func (s *Store) termPrefix() string {
	if s.sealer == nil {
		return ""
	}
	return termPrefix(s.sealer.WriterID())
}

// dropUnknownTerms removes the terms of accounts that no function returns terms for,
// unless they were indexed with the current key.
func (s *Store) dropUnknownTerms(ctx context.Context, has map[int64][]string, known map[int64]bool, current string) error {
	var gone []int64
	for id, terms := range has {
		if !known[id] && slices.ContainsFunc(terms, func(term string) bool { return !strings.HasPrefix(term, current) }) {
			gone = append(gone, id)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return s.update(ctx, landfall.Key{}, func(t *tx) error { return t.deleteTerms(ctx, gone) })
}
