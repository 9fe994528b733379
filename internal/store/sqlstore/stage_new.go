package sqlstore

import (
	"context"

	"landfall"
	"landfall/internal/store/engine"
	"landfall/internal/store/sqlset"
)

// What the next accounts that are staged are likely to be: a book is sent once, and
// then sent again when it was mended. Only the way depends on it, never the result.
const (
	expectKnown int32 = iota - 1
	expectNew
	// expectMixed have old friends among them, or had of late: so many batches of
	// strangers have to come before nobody looks any more.
	expectMixed = 16
)

// insertNewText inserts those of one supplier's accounts that nobody has staged before. To
// insert a row that may be there costs PostgreSQL a third more than one that is not,
// since it writes it, looks and confirms it. Between the look of this statement and
// its writing somebody else may be quicker; then it fails, and all of it is done again.
// The look is a question for each row, since a join would be planned while the table is
// empty and then read all of a supplier's accounts for each. The clock is asked once.
const insertNewText = `
	WITH clock AS MATERIALIZED (SELECT {now} AS at)
	INSERT INTO process (supplier_id, external, state, revision, hash, first_staged_at, staged_at, figures)
	SELECT s.id, w.external, 'staged', 1, w.hash, (SELECT at FROM clock), (SELECT at FROM clock), w.figures
	FROM unnest($2::text[], $3::bytea[], $4::text[]) WITH ORDINALITY w (external, hash, figures, place)
	JOIN supplier s ON s.code = $1
	WHERE s.status = 'Ongoing' AND (SELECT p.id FROM process p WHERE p.supplier_id = s.id AND p.external = w.external) IS NULL
	ORDER BY w.place
	RETURNING external, id, staged_at, supplier_id,
		EXISTS (SELECT 1 FROM refusal r WHERE r.supplier_id = process.supplier_id AND r.external = process.external)`

// Rows that are copied are given their keys before. Of many it costs PostgreSQL half as
// much to take them so.
const (
	findNewText = `
	WITH clock AS MATERIALIZED (SELECT {now} AS at)
	SELECT w.external, nextval('process_id_seq'), (SELECT at FROM clock), s.id,
		EXISTS (SELECT 1 FROM refusal r WHERE r.supplier_id = s.id AND r.external = w.external)
	FROM unnest($2::text[]) WITH ORDINALITY w (external, place) JOIN supplier s ON s.code = $1
	WHERE s.status = 'Ongoing' AND (SELECT p.id FROM process p WHERE p.supplier_id = s.id AND p.external = w.external) IS NULL
	ORDER BY w.place`
	// Whoever takes it that all of them are new does not look for any. If one is not,
	// the copy fails.
	reserveIDsText = `
	WITH clock AS MATERIALIZED (SELECT {now} AS at)
	SELECT nextval('process_id_seq'), (SELECT at FROM clock), s.id
	FROM supplier s CROSS JOIN generate_series(1, $2::bigint)
	WHERE s.code = $1 AND s.status = 'Ongoing' AND NOT EXISTS (SELECT 1 FROM refusal r WHERE r.supplier_id = s.id)`
)

// newProcessTable is the processes of such accounts.
var newProcessTable = sqlset.NewCopyTable("process", "id bigint", "supplier_id bigint", "external text", "state text", "revision bigint",
	"hash bytea", "first_staged_at bigint", "staged_at bigint", "figures text")

// stageNew stages accounts that are new, where that is worth a statement of its own, and
// takes them out of open. Whatever it leaves is for upsert.
func (t *tx) stageNew(ctx context.Context, open *openStage, done *stageResult) error {
	supplier, one := soleSupplier(open.batch)
	expected := t.expected.Load()
	if !one || !t.engine.Arrays() || expected == expectKnown {
		return nil
	}
	var err error
	switch {
	case len(open.batch) < sqlset.MinCopy:
		err = t.retryIfNotNew(t.insertNew(ctx, open, done, supplier))
	case expected == expectNew:
		err = t.copyAllNew(ctx, open, done, supplier)
	default:
		err = t.copyNew(ctx, open, done, supplier)
	}
	if err == nil {
		t.expect(expected, len(done.documents.Values)/done.documents.Width(), len(open.batch))
	}
	return err
}

// retryIfNotNew has a batch done again when one of those that were taken for new was not.
func (t *tx) retryIfNotNew(err error) error {
	if engine.NotUnique(err) {
		t.expected.Store(expectMixed)
		return engine.ErrAgain
	}
	return err
}

// expect learns from how many of a batch were new.
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

// insertNew does so with one statement.
func (t *tx) insertNew(ctx context.Context, open *openStage, done *stageResult, supplier string) error {
	externals, hashes, figures := make([]string, len(open.batch)), make([][]byte, len(open.batch)), make([]string, len(open.batch))
	for i, one := range open.batch {
		externals[i], hashes[i], figures[i] = one.key.External, one.wanted.hash, one.wanted.figures
	}
	return t.addNew(ctx, open, done, func(newAccount) {}, insertNewText, supplier, externals, hashes, figures)
}

// copyNew looks, and has those copied that it does not find.
func (t *tx) copyNew(ctx context.Context, open *openStage, done *stageResult, supplier string) error {
	externals := make([]string, len(open.batch))
	for i, one := range open.batch {
		externals[i] = one.key.External
	}
	done.newProcesses.Grow(len(open.batch))
	return t.addNew(ctx, open, done, done.addProcess, findNewText, supplier, externals)
}

// copyAllNew has all of them copied without a look.
func (t *tx) copyAllNew(ctx context.Context, open *openStage, done *stageResult, supplier string) error {
	keys, err := collect(ctx, t.txSession, func(scan scanner, n *newAccount) error { return scan(&n.process, &n.at, &n.supplier) },
		reserveIDsText, supplier, int64(len(open.batch)))
	if err != nil {
		return err
	}
	// There are none where the supplier takes nothing, or where some account was refused
	// before, which has to be found.
	if len(keys) == 0 {
		return t.copyNew(ctx, open, done, supplier)
	}
	done.newProcesses.Grow(len(open.batch))
	for i, one := range open.batch {
		keys[i].stageCall = one
		done.addNew(open, keys[i], false)
		done.addProcess(keys[i])
	}
	return nil
}

// newAccount is an account that nobody has staged before.
type newAccount struct {
	*stageCall
	process, supplier, at int64
}

// addProcess adds the process of a new account.
func (s *stageResult) addProcess(n newAccount) {
	s.at = n.at
	s.newProcesses.Add(n.process, n.supplier, n.key.External, string(landfall.Staged), int64(1), n.wanted.hash, n.at, n.at, n.wanted.figures)
}

// addNew takes down a new account.
func (s *stageResult) addNew(open *openStage, n newAccount, refused bool) {
	open.set(n.stageCall, landfall.StageOutcome{Verdict: landfall.StagedFirst, Revision: 1})
	s.tallies.add(n.supplier, landfall.StatusPending, n.wanted.Figures)
	if refused {
		s.refusedBefore = append(s.refusedBefore, n.key)
	}
	s.add(n.stageCall, n.process, 1, n.at)
}

// addNew takes the accounts that a statement says are new out of open.
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
			return t.note(err)
		}
		n.stageCall = open.byKey[key]
		done.addNew(open, n, refused)
		each(n)
	}
	if err := t.note(rows.Err()); err != nil {
		return err
	}
	return t.note(rows.Close())
}

// soleSupplier gives the supplier that all accounts of a batch are under.
func soleSupplier(batch []*stageCall) (string, bool) {
	first := batch[0].key.Supplier
	for _, one := range batch[1:] {
		if one.key.Supplier != first {
			return "", false
		}
	}
	return first, true
}
