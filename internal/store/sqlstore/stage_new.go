package sqlstore

import (
	"context"

	"landfall"
	"landfall/internal/store/engine"
	"landfall/internal/store/sqlset"
)

// What the next staged accounts are likely to be. A supplier sends all accounts
// once, and then again after corrections. Only the method depends on it, never
// the result.
const (
	expectKnown int32 = iota - 1
	expectNew
	// expectMixed means that some accounts were staged before, or were until
	// recently. It is the number of batches with only new accounts that must
	// follow before no check is made.
	expectMixed = 16
)

// insertNewText inserts those of one supplier's accounts that were never
// staged. Inserting a row that may exist costs PostgreSQL a third more than one
// that does not, since it writes the row, checks and confirms it. If another
// transaction inserts a row between this statement's check and its write, the
// statement fails and the whole batch is retried. The check is a subquery for
// each row: a join would be planned while the table is empty and then read all
// accounts of a supplier for each row. The clock is read once.
const insertNewText = `
	WITH clock AS MATERIALIZED (SELECT {now} AS at)
	INSERT INTO process (supplier_id, external, state, revision, hash, first_staged_at, staged_at, figures, delivery)
	SELECT s.id, w.external, 'staged', 1, w.hash, (SELECT at FROM clock), (SELECT at FROM clock), w.figures, nullif(w.delivery, '')
	FROM unnest($2::text[], $3::bytea[], $4::text[], $5::text[]) WITH ORDINALITY w (external, hash, figures, delivery, place)
	JOIN supplier s ON s.code = $1
	WHERE s.status = 'Ongoing' AND (SELECT p.id FROM process p WHERE p.supplier_id = s.id AND p.external = w.external) IS NULL
	ORDER BY w.place
	RETURNING external, id, staged_at, supplier_id,
		EXISTS (SELECT 1 FROM refusal r WHERE r.supplier_id = process.supplier_id AND r.external = process.external)`

// Rows to be copied get their ids first. For many rows, this costs PostgreSQL
// half as much.
const (
	findNewText = `
	WITH clock AS MATERIALIZED (SELECT {now} AS at)
	SELECT w.external, nextval('process_id_seq'), (SELECT at FROM clock), s.id,
		EXISTS (SELECT 1 FROM refusal r WHERE r.supplier_id = s.id AND r.external = w.external)
	FROM unnest($2::text[]) WITH ORDINALITY w (external, place) JOIN supplier s ON s.code = $1
	WHERE s.status = 'Ongoing' AND (SELECT p.id FROM process p WHERE p.supplier_id = s.id AND p.external = w.external) IS NULL
	ORDER BY w.place`
	// reserveIDsText assumes that all accounts are new and checks none. If one
	// is not, the copy fails.
	reserveIDsText = `
	WITH clock AS MATERIALIZED (SELECT {now} AS at)
	SELECT nextval('process_id_seq'), (SELECT at FROM clock), s.id
	FROM supplier s CROSS JOIN generate_series(1, $2::bigint)
	WHERE s.code = $1 AND s.status = 'Ongoing' AND NOT EXISTS (SELECT 1 FROM refusal r WHERE r.supplier_id = s.id)`
)

// newProcessTable contains the processes of new accounts, written by COPY.
var newProcessTable = sqlset.NewCopyTable("process", "id bigint", "supplier_id bigint", "external text", "state text", "revision bigint",
	"hash bytea", "first_staged_at bigint", "staged_at bigint", "figures text", "delivery text")

// stageNew stages new accounts, where a separate statement is worth it, and
// removes them from open. The rest is left to upsert.
func (t *tx) stageNew(ctx context.Context, open *openStage, done *stageResult) error {
	supplier, one := soleSupplier(open.Batch)
	expected := t.expected.Load()
	if !one || !t.engine.Arrays() || expected == expectKnown {
		return nil
	}
	var err error
	switch {
	case len(open.Batch) < sqlset.MinCopy:
		err = t.retryIfNotNew(t.insertNew(ctx, open, done, supplier))
	case expected == expectNew:
		err = t.copyAllNew(ctx, open, done, supplier)
	default:
		err = t.copyNew(ctx, open, done, supplier)
	}
	if err == nil {
		t.expect(expected, len(done.documents.Values)/done.documents.Width(), len(open.Batch))
	}
	return err
}

// retryIfNotNew makes a batch run again if an account that was assumed new was
// not.
func (t *tx) retryIfNotNew(err error) error {
	if engine.NotUnique(err) {
		t.expected.Store(expectMixed)
		return engine.ErrAgain
	}
	return err
}

// expect updates the expectation by how many of a batch were new.
func (t *tx) expect(before int32, fresh, all int) {
	switch {
	case fresh == 0:
		t.expected.Store(expectKnown)
	case fresh < all:
		t.expected.Store(expectMixed)
	case before > expectNew && all >= sqlset.MinCopy:
		t.expected.Store(before - 1)
	}
}

// insertNew inserts the new accounts with one statement.
func (t *tx) insertNew(ctx context.Context, open *openStage, done *stageResult, supplier string) error {
	count := len(open.Batch)
	externals, hashes, figures, deliveries := make([]string, count), make([][]byte, count), make([]string, count), make([]string, count)
	for i, one := range open.Batch {
		externals[i], hashes[i], figures[i], deliveries[i] = one.Key.External, one.Wanted.hash, one.Wanted.figures, one.Wanted.By.Delivery
	}
	return t.addNew(ctx, open, done, func(newAccount) {}, insertNewText, supplier, externals, hashes, figures, deliveries)
}

// copyNew checks which accounts are new and adds those to be copied.
func (t *tx) copyNew(ctx context.Context, open *openStage, done *stageResult, supplier string) error {
	externals := make([]string, len(open.Batch))
	for i, one := range open.Batch {
		externals[i] = one.Key.External
	}
	done.newProcesses.Grow(len(open.Batch))
	return t.addNew(ctx, open, done, done.addProcess, findNewText, supplier, externals)
}

// copyAllNew adds all accounts to be copied, without a check.
func (t *tx) copyAllNew(ctx context.Context, open *openStage, done *stageResult, supplier string) error {
	keys, err := collect(ctx, t.txSession, func(scan scanner, n *newAccount) error { return scan(&n.process, &n.at, &n.supplier) },
		reserveIDsText, supplier, int64(len(open.Batch)))
	if err != nil {
		return err
	}
	// There are no ids if the supplier accepts nothing, or if it has refusals,
	// which must be looked up.
	if len(keys) == 0 {
		return t.copyNew(ctx, open, done, supplier)
	}
	done.newProcesses.Grow(len(open.Batch))
	for i, one := range open.Batch {
		keys[i].stageCall = one
		done.addNew(open, keys[i], false)
		done.addProcess(keys[i])
	}
	return nil
}

// newAccount is an account that was never staged before.
type newAccount struct {
	*stageCall
	process, supplier, at int64
}

// addProcess adds the process of a new account.
func (s *stageResult) addProcess(n newAccount) {
	s.at = n.at
	s.newProcesses.Add(n.process, n.supplier, n.Key.External, string(landfall.Staged), int64(1), n.Wanted.hash, n.at, n.at, n.Wanted.figures,
		textArg(n.Wanted.By.Delivery))
}

// addNew records a new account.
func (s *stageResult) addNew(open *openStage, n newAccount, refused bool) {
	open.Set(n.stageCall, landfall.StageOutcome{Verdict: landfall.StagedFirst, Revision: 1})
	s.tallies.add(n.supplier, landfall.StatusPending, n.Wanted.Figures)
	if refused {
		s.refusedBefore = append(s.refusedBefore, n.Key)
	}
	s.add(n.stageCall, n.process, 1, n.at)
}

// addNew records the accounts that a statement returns as new, and removes them
// from open.
func (t *tx) addNew(ctx context.Context, open *openStage, done *stageResult, each func(newAccount), text, supplier string, columns ...any) error {
	rows, err := t.returning(ctx, text, append([]any{supplier}, columns...)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	key := landfall.Key{Supplier: supplier}
	var refused bool
	for rows.Next() {
		var n newAccount
		if err := rows.Scan(&key.External, &n.process, &n.at, &n.supplier, &refused); err != nil {
			return t.fail(err)
		}
		n.stageCall = open.ByKey[key]
		done.addNew(open, n, refused)
		each(n)
	}
	if err := t.fail(rows.Err()); err != nil {
		return err
	}
	return t.fail(rows.Close())
}

// soleSupplier returns the supplier of a batch if all its accounts have the
// same one.
func soleSupplier(batch []*stageCall) (string, bool) {
	first := batch[0].Key.Supplier
	for _, one := range batch[1:] {
		if one.Key.Supplier != first {
			return "", false
		}
	}
	return first, true
}
