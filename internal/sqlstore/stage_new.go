package sqlstore

import (
	"context"

	"landfall"
	"landfall/internal/engine"
)

// What the next accounts that are staged are likely to be: a book is sent once, and
// then sent again when it was mended. Only the way depends on it, never the result.
const (
	newcomers int32 = iota
	oldFriends
)

// welcoming inserts those of one supplier's accounts that nobody has staged before. To
// insert a row that may be there costs PostgreSQL a third more than one that is not,
// since it writes it, looks and confirms it. Between the look of this statement and
// its writing somebody else may be quicker; then it fails, and all of it is done again.
// The look is a question for each row, since a join would be planned while the table is
// empty and then read all of a supplier's accounts for each. The clock is asked once.
const welcoming = `
	WITH clock AS MATERIALIZED (SELECT {now} AS at)
	INSERT INTO process (supplier_id, external, state, revision, hash, first_staged_at, staged_at, figures)
	SELECT s.id, w.external, 'staged', 1, w.hash, (SELECT at FROM clock), (SELECT at FROM clock), w.figures
	FROM unnest($2::text[], $3::bytea[], $4::text[]) WITH ORDINALITY w (external, hash, figures, place)
	JOIN supplier s ON s.code = $1
	WHERE s.status = 'Ongoing' AND (SELECT p.id FROM process p WHERE p.supplier_id = s.id AND p.external = w.external) IS NULL
	ORDER BY w.place
	RETURNING external, id, staged_at, supplier_id,
		EXISTS (SELECT 1 FROM refusal r WHERE r.supplier_id = process.supplier_id AND r.external = process.external)`

// welcome stages accounts that are new, where that is worth a statement of its own, and
// takes them out of open. Whatever it leaves is for upsert.
func (t *tx) welcome(ctx context.Context, open *openStage, done *staged) error {
	supplier, one := soleSupplier(open.batch)
	if !one || !t.engine.Arrays() || t.expected.Load() != newcomers {
		return nil
	}
	externals, hashes, figures := make([]string, len(open.batch)), make([][]byte, len(open.batch)), make([]string, len(open.batch))
	for i, one := range open.batch {
		externals[i], hashes[i], figures[i] = one.key.External, one.wanted.hash, one.wanted.figures
	}
	err := t.inserted(ctx, open, done, supplier, externals, hashes, figures)
	if engine.NotUnique(err) {
		return engine.ErrAgain
	}
	if err == nil && len(done.kept.rows) == 0 {
		t.expected.Store(oldFriends)
	}
	return err
}

// inserted is welcome once it is decided.
func (t *tx) inserted(ctx context.Context, open *openStage, done *staged, supplier string, wanted ...any) error {
	rows, err := t.returning(ctx, welcoming, append([]any{supplier}, wanted...)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	key := landfall.Key{Supplier: supplier}
	var process, at, id int64
	var refused bool
	for rows.Next() {
		if err := rows.Scan(&key.External, &process, &at, &id, &refused); err != nil {
			return t.note(err)
		}
		one := open.byKey[key]
		open.settle(one, landfall.StageOutcome{Verdict: landfall.StagedFirst, Revision: 1})
		done.counted.add(id, landfall.StandsPending, one.wanted.Figures)
		if refused {
			done.forgive = append(done.forgive, one.key)
		}
		done.add(one, process, 1, at)
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
