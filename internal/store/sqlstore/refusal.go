package sqlstore

import (
	"context"
	"errors"
	"slices"

	"landfall"
	"landfall/internal/store/engine"
	"landfall/internal/store/sqlset"
)

type (
	refusal struct {
		landfall.Refusal
		text, person string
	}
	refusalCall = pendingCall[refusal, struct{}]
)

// Refuse records why a staging was refused.
func (s *Store) Refuse(ctx context.Context, wanted landfall.Refusal) error {
	kept := landfall.Failure{Code: wanted.Failure.Code, Detail: wanted.Failure.Detail}
	for _, violation := range wanted.Failure.Violations {
		// The detail is dropped: what is wrong with a value may reveal
		// something about it.
		kept.Violations = append(kept.Violations, landfall.Violation{Code: violation.Code, Attr: violation.Attr})
	}
	text, err := failureText(kept)
	if err != nil {
		return err
	}
	for _, text := range []string{wanted.Key.Supplier, wanted.Key.External, text, string(wanted.Document)} {
		if !storable(text) {
			return errUnstorable
		}
	}
	_, err = runVerb(ctx, s, s.refusals, wanted.Key, len(text)+len(wanted.Document), refusal{wanted, text, string(wanted.Document)})
	return err
}

// insertRefusalsQuery stores the refusals of a batch. An account that exists or
// is marked as skipped is not blocked by a refusal, so none is stored. An account that
// was staged before is found by what was staged.
var insertRefusalsQuery = sqlset.NewQuery(`
	INSERT INTO refusal (supplier_id, external, at, failure, key_id, request_id, person)
	SELECT s.id, w.external, {now}, w.failure, w.key_id, w.request_id, CASE WHEN p.id IS NULL THEN w.person END
	FROM wanted w JOIN supplier s ON s.code = w.supplier
	LEFT JOIN process p ON p.supplier_id = s.id AND p.external = w.external
	WHERE p.account_number IS NULL AND p.skip_reason IS NULL {in order}
	ON CONFLICT (supplier_id, external) DO UPDATE
	SET at = excluded.at, failure = excluded.failure, key_id = excluded.key_id, request_id = excluded.request_id,
		person = excluded.person, indexed = FALSE`,
	"supplier text", "external text", "failure json", "key_id text", "request_id text", "person json")

// refuseStaging returns no outcomes. A refusal for an unknown supplier joins no
// row and is not stored.
func (t *tx) refuseStaging(ctx context.Context, batch []*refusalCall) error {
	text, args := insertRefusalsQuery.For(t.engine, sqlset.NewPending(batch).Rows(6, func(args []any, one *refusalCall) []any {
		by := one.Wanted.By
		return append(args, one.Key.Supplier, one.Key.External,
			t.sealer.sealJSON(refusalLocation, one.Wanted.text, one.Key.Supplier, one.Key.External), textArg(by.KeyID), textArg(by.RequestID),
			t.sealer.sealJSON(refusedPersonLocation, textArg(one.Wanted.person), one.Key.Supplier, one.Key.External))
	}))
	_, err := t.exec(ctx, text, args...)
	// After PostgreSQL was killed, its counter of ids may be behind. The next try takes
	// the next ids.
	if engine.NotUnique(err) {
		return errors.Join(engine.ErrAgain, err)
	}
	return err
}

// deleteRefusalsQuery deletes the refusals of accounts that are staged now.
var deleteRefusalsQuery = sqlset.NewQuery(`
	DELETE FROM refusal WHERE (supplier_id, external) IN
		(SELECT s.id, w.external FROM wanted w JOIN supplier s ON s.code = w.supplier) RETURNING -id`, "supplier text", "external text")

// deleteRefusals is called only with keys that had a refusal. Usually there are
// none.
func (t *tx) deleteRefusals(ctx context.Context, keys []landfall.Key) error {
	for part := range slices.Chunk(keys, sqlset.MaxBatch) {
		var rows []any
		for _, key := range part {
			rows = append(rows, key.Supplier, key.External)
		}
		text, args := deleteRefusalsQuery.For(t.engine, rows)
		gone, err := collect(ctx, t.txSession, func(scan scanner, id *int64) error { return scan(id) }, text, args...)
		if err == nil {
			err = t.deleteTerms(ctx, gone)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
