package sqlstore

import (
	"context"

	"landfall"
	"landfall/internal/store/sqlset"
)

// stagedPurge says which documents of the processes under a condition are
// removed.
type stagedPurge struct {
	condition string // of the index that is walked
	due       string // the documents are no longer needed
	documents string // which of them
	// forget clears the hashes of locked processes, and does what else is
	// necessary when their documents are removed.
	forget func(ctx context.Context, t *tx, ids []int64) error
}

const (
	// withoutAccount is the condition that the documents of a process without
	// an account are no longer needed: there are some, the account is not being
	// created, and it was staged, tried or undone longer ago than $2.
	withoutAccount = `length(held.hash) > 0 AND (held.state <> 'claimed' OR held.claim_until <= {now})
		AND CASE WHEN held.failed_at > held.staged_at THEN held.failed_at ELSE held.staged_at END < (SELECT {now}) - $2
		AND NOT EXISTS (SELECT 1 FROM undone_account u WHERE u.process_id = held.id AND u.undone_at >= (SELECT {now}) - $2)`
	// supersededLong is the condition that an account was created longer ago
	// than $2 and has documents that were superseded before that. The document
	// it was created from is its record and stays.
	supersededLong = `held.revision > 1 AND held.account_created_at < (SELECT {now}) - $2 AND EXISTS (SELECT 1 FROM staging g
		WHERE g.process_id = held.id AND g.revision < held.revision AND g.purged_at IS NULL)`
	superseded = ` AND revision < (SELECT p.revision FROM process p WHERE p.id = staging.process_id)`
)

// The conditions of the indexes of processes.
const (
	importedStaged = `held.account_number IS NOT NULL`
	pendingStaged  = `held.account_number IS NULL AND held.skip_reason IS NULL`
	skippedStaged  = `held.skip_reason IS NOT NULL`
)

// page walks the index of the processes under a condition. It is in the
// order of first staging, so recently staged processes are not read.
func (p stagedPurge) page() string {
	return `SELECT held.id, held.first_staged_at, held.external, ` + p.due + ` FROM process held
		WHERE held.supplier_id = $1 AND ` + p.condition + ` AND (held.first_staged_at, held.external) > ($3, $4)
			AND held.first_staged_at < (SELECT {now}) - $2
		ORDER BY held.first_staged_at, held.external LIMIT $5`
}

// purgeStaged purges the documents of the processes under a condition.
func purgeStaged(which stagedPurge) purgeStep {
	page := which.page()
	return func(ctx context.Context, s *Store, part *purgePage) (gone landfall.PurgeCounts, next landfall.PurgeCursor, more bool, err error) {
		var due []int64
		looked := 0
		err = s.stream(ctx, func(v *view) error {
			due, looked = nil, 0
			_, err := collect(ctx, v.txSession, func(scan scanner, _ *struct{}) error {
				var id int64
				var old bool
				if err := scan(&id, &next.At, &next.Name, &old); err != nil {
					return err
				}
				if looked++; old {
					due = append(due, id)
				}
				return nil
			}, page, part.supplier, part.keep.Microseconds(), part.from.At, part.from.Name, int64(purgeBatch))
			if err != nil || !part.dry || len(due) == 0 {
				return err
			}
			these, list := sqlset.Among(v.engine, due)
			return v.one(ctx, `SELECT count(*) FROM staging WHERE process_id`+these+` AND purged_at IS NULL`+which.documents, []any{list}, []any{&gone.Documents})
		})
		if err != nil {
			return landfall.PurgeCounts{}, landfall.PurgeCursor{}, false, err
		}
		if len(due) > 0 && !part.dry {
			err = s.update(ctx, landfall.Key{}, func(t *tx) (err error) {
				gone.Documents, err = t.purgeDocuments(ctx, which, part, due)
				return err
			})
		}
		return gone, next, looked == purgeBatch, err
	}
}

// purgeDocuments removes the documents of processes that are not locked. A
// concurrent staging or claim of one of them waits, and finds it without a
// hash.
func (t *tx) purgeDocuments(ctx context.Context, which stagedPurge, part *purgePage, due []int64) (int, error) {
	these, list := sqlset.Among(t.engine, due)
	held, err := collect(ctx, t.txSession, func(scan scanner, id *int64) error { return scan(id) },
		`SELECT held.id FROM process held WHERE held.id`+these+` AND `+which.condition+` AND `+which.due+` ORDER BY held.id {for_update_skip}`,
		list, part.keep.Microseconds())
	if err != nil || len(held) == 0 {
		return 0, err
	}
	if which.forget != nil {
		if err := which.forget(ctx, t, held); err != nil {
			return 0, err
		}
	}
	these, list = sqlset.Among(t.engine, held)
	count, err := t.exec(ctx, `UPDATE staging SET document = `+emptyBytes+`, purged_at = {now} WHERE process_id`+these+` AND purged_at IS NULL`+which.documents, list)
	return int(count), err
}

// clearHash allows the same document to be staged again, should that become
// possible: a staging whose hash equals the hash of the process changes
// nothing.
func clearHash(ctx context.Context, t *tx, ids []int64) error {
	these, list := sqlset.Among(t.engine, ids)
	if _, err := t.exec(ctx, `UPDATE process SET hash = `+emptyBytes+` WHERE id`+these, list); err != nil {
		return err
	}
	return t.forgetPeople(ctx, ids)
}

// forgetPeople removes what was derived from documents that are removed. The indexer
// waits, and then finds them gone.
func (t *tx) forgetPeople(ctx context.Context, ids []int64) error {
	if _, err := t.indexState(ctx, `{for_update}`); err != nil {
		return err
	}
	if err := t.deleteTerms(ctx, ids); err != nil {
		return err
	}
	return t.deleteIdentifiers(ctx, ids)
}

// documentGone is that failure. It says nothing personal and is never sealed.
var documentGone = func() string {
	text, err := failureText(landfall.Failure{Code: landfall.CodeProcessUnknown, Detail: landfall.DocumentRemoved})
	if err != nil {
		panic(err) // it is a constant
	}
	return text
}()

// failWithoutDocument is for accounts that were never created. Each fails
// because its document is missing, so that it appears wherever failures are
// listed.
func failWithoutDocument(ctx context.Context, t *tx, ids []int64) error {
	these, list := sqlset.Among(t.engine, ids)
	var moved tallies
	_, err := collect(ctx, t.txSession, func(scan scanner, _ *struct{}) error {
		var supplier int64
		var before bool
		var figures landfall.Figures
		err := scan(&supplier, &before, figuresInto{&figures})
		moved.move(supplier, waitingStatus(before), landfall.StatusFailed, figures)
		return err
	}, `UPDATE process SET hash = `+emptyBytes+`, failure = CAST($2 AS {json}), previously_failed = failed_at IS NOT NULL, failed_at = {now},
			state = 'staged', claim_token = NULL, claim_until = NULL
		WHERE id`+these+` RETURNING supplier_id, previously_failed, figures`, list, documentGone)
	if err != nil {
		return err
	}
	if err := t.forgetPeople(ctx, ids); err != nil {
		return err
	}
	return t.tally(ctx, &moved)
}
