package sqlstore

import (
	"context"
	"math"
	"slices"
	"strings"

	"landfall"
	"landfall/internal/store/sqlset"
)

const (
	// indexBatch is how many accounts are read together.
	indexBatch = 400
	// indexEntries is how many entries of the audit are read together. One may list
	// many accounts.
	indexEntries = 50
	// indexRows is about how many terms one transaction writes. On SQLite all other
	// writers wait until they are written.
	indexRows = 1000
)

// termTable contains the terms by which accounts are found.
var termTable = newTable("search_term", "term text", "supplier_id bigint", "account_id bigint").SkipExisting("term, supplier_id, account_id")

// indexedAccount is an account, or a refusal with a negative id, with its terms.
type indexedAccount struct {
	id, supplier int64
	version      int64 // its revision, or when it was refused
	readable     bool
	terms        []string
	phones       []string // those of phone numbers
}

// IndexTerms indexes a batch of accounts that were staged or refused since the last
// one. Staging and refusing write no terms: the caller would wait for it. Which accounts
// were staged is in the audit, where every staging is.
func (s *Store) IndexTerms(ctx context.Context) (step landfall.IndexStep, err error) {
	if s.termsOf == nil {
		return step, nil
	}
	s.indexing.Lock()
	defer s.indexing.Unlock()
	if s.logged, err = s.pollWatermark(ctx, "audit", s.logged); err != nil {
		return step, err
	}
	step.Newest = s.logged.Newest
	refused, err := s.indexRefused(ctx)
	if err != nil {
		return step, err
	}
	var before, after int64 // the last entry whose accounts are indexed
	var ids []int64
	err = s.stream(ctx, func(v *view) error {
		if before, err = v.indexState(ctx, ``); err != nil {
			return err
		}
		// Stop at the watermark: a transaction that has not committed yet may
		// add an entry with a lower id, which the indexer would never come back
		// to.
		ids, after, err = v.stagedSince(ctx, before, s.logged.Complete)
		return err
	})
	if err != nil {
		return step, err
	}
	step.Accounts, step.More = refused, refused > 0
	if after == before {
		return step, nil
	}
	for ids := range slices.Chunk(ids, indexBatch) {
		batch, err := s.stagedAccounts(ctx, ids)
		if err != nil {
			return step, err
		}
		written, err := s.writeTerms(ctx, batch, before)
		if err != nil || !written {
			step.More = true
			return step, err // another server has indexed these
		}
		step.Accounts += len(batch)
	}
	step.More = true
	return step, s.update(ctx, landfall.Key{}, func(t *tx) error {
		now, err := t.indexState(ctx, `{for_update}`)
		if err == nil && now == before {
			_, err = t.exec(ctx, `UPDATE search_index SET audit_after = $1`, after)
		}
		return err
	})
}

// indexStateText reads the one row that contains the position of all replicas. Whoever
// writes or removes the terms of an account that was staged locks it, so that no terms
// are written after the account was erased.
const indexStateText = `SELECT held.audit_after FROM search_index held `

// indexState reads up to which entry of the audit accounts are indexed.
func (v *view) indexState(ctx context.Context, hold string) (auditAfter int64, err error) {
	err = v.one(ctx, indexStateText+hold, nil, []any{&auditAfter})
	return auditAfter, err
}

// stagedEntriesText reads the entries of the audit that may contain stagings.
const stagedEntriesText = auditEntry + ` FROM audit a WHERE a.id > $1 AND a.id <= $2 ORDER BY a.id LIMIT $3`

// stagedSince returns the accounts that the next entries of the audit say were staged.
func (v *view) stagedSince(ctx context.Context, before, complete int64) (ids []int64, after int64, err error) {
	entries, err := collect(ctx, v.txSession, func(scan scanner, entry *landfall.AuditEntry) error { return scan(auditInto(entry)...) },
		stagedEntriesText, before, complete, int64(indexEntries))
	if err != nil {
		return nil, before, err
	}
	// Ids have gaps. All entries up to the watermark have been seen, even if the
	// last ids are missing.
	after = max(before, complete)
	if len(entries) == indexEntries {
		after = entries[indexEntries-1].ID
	}
	var wanted []any
	for _, entry := range entries {
		if len(wanted) >= 2*indexBatch {
			break // the rest with the next step
		}
		for _, act := range entry.Expand() {
			if supplier, external, is := strings.Cut(act.Subject, "/"); is && act.Action == "account.stage" {
				wanted = append(wanted, supplier, external)
			}
		}
		if len(wanted) >= 2*indexBatch {
			after = entry.ID
		}
	}
	for part := range slices.Chunk(wanted, 2*sqlset.MaxBatch) {
		text, args := stagedKeysQuery.For(v.engine, part)
		some, err := collect(ctx, v.txSession, func(scan scanner, id *int64) error { return scan(id) }, text, args...)
		if err != nil {
			return nil, before, err
		}
		ids = append(ids, some...)
	}
	slices.Sort(ids)
	return slices.Compact(ids), after, nil
}

// stagedKeysQuery looks accounts up by key.
var stagedKeysQuery = sqlset.NewQuery(`SELECT p.id FROM wanted w JOIN supplier s ON s.code = w.supplier
	JOIN process p ON p.supplier_id = s.id AND p.external = w.external`, "supplier text", "external text")

// stagedAccounts reads the documents that accounts are found by and computes their
// terms. An account that cannot be read has none, is found by its numbers only, and does
// not stop the others from being indexed.
func (s *Store) stagedAccounts(ctx context.Context, ids []int64) (batch []indexedAccount, err error) {
	err = s.stream(ctx, func(v *view) (err error) {
		var large []int64
		if batch, large, err = s.readStaged(ctx, v, ids, shownDocument); err != nil {
			return err
		}
		// Large documents are read one at a time.
		for _, id := range large {
			one, _, err := s.readStaged(ctx, v, []int64{id}, math.MaxInt64)
			if err != nil {
				return err
			}
			batch = append(batch, one...)
		}
		return nil
	})
	return batch, err
}

// readStaged reads accounts with documents up to a size, and returns which have larger
// ones.
func (s *Store) readStaged(ctx context.Context, v *view, ids []int64, most int64) (batch []indexedAccount, large []int64, err error) {
	these, list := sqlset.Among(v.engine, ids)
	_, err = collect(ctx, v.txSession, func(scan scanner, _ *struct{}) error {
		var one indexedAccount
		var key landfall.Key
		var region string
		var hash, kept []byte
		if err := scan(&one.id, &one.supplier, &one.version, &key.Supplier, &key.External, &region, &hash, &kept); err != nil {
			return err
		}
		if kept == nil {
			large = append(large, one.id)
			return nil
		}
		if document, err := v.sealer.openDocument(key, kept, v.sealer.openHash(key, hash)); err == nil {
			one.readable = true
			one.terms, one.phones = s.encodedTerms(document, region)
		}
		batch = append(batch, one)
		return nil
	}, `SELECT p.id, p.supplier_id, p.revision, s.code, p.external, s.region, p.hash, CASE WHEN length(g.document) <= $2 THEN g.document END
		FROM process p JOIN supplier s ON s.id = p.supplier_id JOIN staging g ON g.process_id = p.id AND g.revision = p.revision
		WHERE p.id`+these+` AND length(p.hash) > 0 AND p.erased_at IS NULL`, list, most)
	return batch, large, err
}

// encodedTerms returns the terms of a document as they are stored, and which of them are
// of phone numbers.
func (s *Store) encodedTerms(document []byte, region string) (all, phones []string) {
	for _, term := range s.termsOf(document, region, s.terms.ExactOnly()) {
		// A term that a database would refuse is left out. The account is found by
		// its other terms, and the indexer does not get stuck.
		if forms := s.terms.Encode(term); len(forms) > 0 && storable(forms[0]) {
			if all = append(all, forms[0]); term.Kind == landfall.TermPhone {
				phones = append(phones, forms[0])
			}
		}
	}
	return all, phones
}

// termParts divides accounts so that each part has about indexRows terms.
func termParts(batch []indexedAccount) (all [][]indexedAccount) {
	first, rows := 0, 0
	for i := range batch {
		if rows += len(batch[i].terms); rows >= indexRows || i == len(batch)-1 {
			all, first, rows = append(all, batch[first:i+1]), i+1, 0
		}
	}
	return all
}

// writeTerms replaces the terms of accounts. It returns false if another server has
// indexed them meanwhile.
func (s *Store) writeTerms(ctx context.Context, batch []indexedAccount, before int64) (written bool, err error) {
	for _, part := range termParts(batch) {
		err := s.update(ctx, landfall.Key{}, func(t *tx) error {
			now, err := t.indexState(ctx, `{for_update}`)
			if written = err == nil && now == before; !written {
				return err
			}
			return t.replaceTerms(ctx, part)
		})
		if err != nil || !written {
			return false, err
		}
	}
	return true, nil
}

// replaceTerms replaces the terms of accounts, as far as they were neither staged again
// nor erased nor purged since they were read. The caller has locked the index.
func (t *tx) replaceTerms(ctx context.Context, part []indexedAccount) error {
	ids := make([]int64, len(part))
	for i, one := range part {
		ids[i] = one.id
	}
	these, list := sqlset.Among(t.engine, ids)
	current := map[int64]int64{}
	if _, err := collect(ctx, t.txSession, func(scan scanner, _ *struct{}) error {
		var id, revision int64
		err := scan(&id, &revision)
		current[id] = revision
		return err
	}, `SELECT p.id, p.revision FROM process p WHERE p.id`+these+` AND p.erased_at IS NULL AND length(p.hash) > 0`, list); err != nil {
		return err
	}
	part = slices.DeleteFunc(slices.Clone(part), func(one indexedAccount) bool { return current[one.id] != one.version })
	return t.saveTerms(ctx, part)
}

// saveTerms writes the terms of accounts in place of the former ones.
func (t *tx) saveTerms(ctx context.Context, part []indexedAccount) error {
	var ids []int64
	terms := sqlset.Rows{Table: termTable}
	for _, one := range part {
		ids = append(ids, one.id)
		for _, term := range one.terms {
			terms.Add(term, one.supplier, one.id)
		}
	}
	if err := t.deleteTerms(ctx, ids); err != nil {
		return err
	}
	return t.write(ctx, &terms)
}

// deleteTerms deletes the terms of accounts.
func (t *tx) deleteTerms(ctx context.Context, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	these, list := sqlset.Among(t.engine, ids)
	_, err := t.exec(ctx, `DELETE FROM search_term WHERE account_id`+these, list)
	return err
}

// indexRefused indexes a batch of refused accounts and returns how many there were.
func (s *Store) indexRefused(ctx context.Context) (int, error) {
	var batch []indexedAccount
	err := s.stream(ctx, func(v *view) (err error) {
		batch, err = collect(ctx, v.txSession, func(scan scanner, one *indexedAccount) error {
			var key landfall.Key
			var region string
			var sealed, document []byte
			if err := scan(&one.id, &one.supplier, &one.version, &key.Supplier, &key.External, &region, &sealed); err != nil {
				return err
			}
			// What cannot be read is not found by its terms.
			if err := v.sealer.scan("refusal", key.Supplier, key.External).open("person", sealed, &document); err == nil && document != nil {
				one.terms, _ = s.encodedTerms(document, region)
			}
			return nil
		}, `SELECT r.id, r.supplier_id, r.at, s.code, r.external, s.region, r.person FROM refusal r JOIN supplier s ON s.id = r.supplier_id
			WHERE r.indexed = FALSE ORDER BY r.id LIMIT $1`, int64(indexBatch))
		return err
	})
	if err != nil {
		return 0, err
	}
	for _, part := range termParts(batch) {
		if err := s.update(ctx, landfall.Key{}, func(t *tx) error { return t.saveRefusedTerms(ctx, part) }); err != nil {
			return 0, err
		}
	}
	return len(batch), nil
}

// saveRefusedTerms writes the terms of refusals that were not changed since they were
// read. The update locks them: whoever deletes one deletes its terms afterwards.
func (t *tx) saveRefusedTerms(ctx context.Context, part []indexedAccount) error {
	var saved []indexedAccount
	for _, one := range part {
		// The person may have been purged since.
		count, err := t.exec(ctx, `UPDATE refusal SET indexed = TRUE WHERE id IN (SELECT held.id FROM refusal held
			WHERE held.id = $1 AND held.at = $2 AND held.indexed = FALSE AND (held.person IS NOT NULL OR $3 = FALSE) {for_update_skip})`,
			one.id, one.version, len(one.terms) > 0)
		if err != nil {
			return err
		}
		if count > 0 {
			one.id = -one.id
			saved = append(saved, one)
		}
	}
	return t.saveTerms(ctx, saved)
}
