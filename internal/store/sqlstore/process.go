package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"landfall"
)

// currentState is the effective state of a process: a claim whose lease has
// ended does not count.
const currentState = `CASE WHEN p.state = 'claimed' AND p.claim_until <= {now} THEN 'staged' ELSE p.state END`

// whereFree is the condition that a process is not claimed.
const whereFree = `(process.state = 'staged' OR process.state = 'claimed' AND process.claim_until <= {now})`

// remaining is the time left of a lease.
func remaining(micros sql.NullInt64) time.Duration {
	return max(0, time.Duration(micros.Int64)*time.Microsecond)
}

// Process returns the process with a key.
func (v *view) Process(ctx context.Context, key landfall.Key) (landfall.Process, error) {
	process := landfall.Process{Key: key}
	var hash, failure []byte
	var number, reason sql.NullString
	var first, staged int64
	var created, failed sql.NullInt64
	err := v.one(ctx, `SELECT `+currentState+`, p.revision, p.hash, p.first_staged_at, p.staged_at,
			p.account_number, p.account_created_at, p.skip_reason, p.failure, p.failed_at, p.erased_at
		FROM process p JOIN supplier s ON s.id = p.supplier_id
		WHERE s.code = $1 AND p.external = $2`,
		[]any{key.Supplier, key.External},
		[]any{&process.State, &process.Revision, &hash, &first, &staged, &number, &created, &reason,
			v.sealer.scan("process", key.Supplier, key.External).json("failure", &failure), &failed, instantInto{&process.ErasedAt}})
	if err != nil {
		return landfall.Process{}, err
	}
	process.ContentHash = v.sealer.openHash(key, hash)
	process.FirstStagedAt, process.StagedAt = moment(first), moment(staged)
	process.AccountNumber, process.AccountCreatedAt = number.String, instant(created)
	process.SkipReason = reason.String
	process.Failure, err = readFailure(failure, failed)
	return process, err
}

// Revisions returns the staging history, oldest first.
func (v *view) Revisions(ctx context.Context, key landfall.Key) ([]landfall.StagedRevision, error) {
	found, err := collect(ctx, v.txSession, func(scan scanner, r *landfall.StagedRevision) error {
		var hash []byte
		err := scan(&r.Revision, &hash, instantInto{&r.StagedAt}, &r.Document, instantInto{&r.RemovedAt},
			textInto{&r.By.KeyID}, textInto{&r.By.RequestID}, textInto{&r.By.Organisation})
		r.Hash = v.sealer.openHash(key, hash)
		return err
	}, `SELECT g.revision, g.hash, g.staged_at, g.document, g.purged_at, g.key_id, g.request_id, k.organisation
		FROM staging g JOIN process p ON p.id = g.process_id JOIN supplier s ON s.id = p.supplier_id
		LEFT JOIN api_key k ON k.id = g.key_id
		WHERE s.code = $1 AND p.external = $2 ORDER BY g.revision`, key.Supplier, key.External)
	if err != nil {
		return nil, err
	}
	for i := range found {
		r := &found[i]
		if !r.RemovedAt.IsZero() && len(r.Document) == 0 {
			r.Document = nil
			continue
		}
		if r.Document, err = v.sealer.openDocument(key, r.Document, r.Hash); err != nil {
			return nil, documentError(key, r.Revision, err)
		}
	}
	return found, nil
}

// documentError adds to an error the process whose document cannot be used.
func documentError(key landfall.Key, revision int, err error) error {
	return fmt.Errorf("revision %d of %q of supplier %s: %w", revision, key.External, key.Supplier, err)
}

// errAltered means that the database returned another document than was stored.
// Such a document must not be used.
var errAltered = errors.New("the staged document is not the one that was staged")

// Skip marks a process as skipped, or creates one that is nothing but the mark.
func (t *tx) Skip(ctx context.Context, key landfall.Key, reason string) (landfall.ProcessState, error) {
	// A claim may expire between the two statements. Then the process can be
	// marked after all, and another try does it.
	for range 3 {
		marked, err := collect(ctx, t.txSession, readStatus, `UPDATE process
			SET state = 'skipped', skip_reason = $3, claim_token = NULL, claim_until = NULL
			WHERE supplier_id = (SELECT id FROM supplier WHERE code = $1) AND external = $2 AND `+whereFree+
			` RETURNING `+statusColumns, key.Supplier, key.External, reason)
		if err != nil {
			return "", err
		}
		for _, one := range marked {
			var counted tallies
			counted.move(one.supplier, one.status, landfall.StatusSkipped, one.figures)
			return landfall.Skipped, t.tally(ctx, &counted)
		}
		found, err := t.Process(ctx, key)
		switch {
		case errors.Is(err, landfall.ErrNotFound):
			if made, err := t.skipUnstaged(ctx, key, reason); made || err != nil {
				return landfall.Skipped, err
			}
		case err != nil:
			return "", err
		case found.State != landfall.Staged:
			return found.State, landfall.ErrExists
		}
	}
	return "", landfall.ErrUnavailable
}

// FreeClaim ends a claim whose lease has not ended. The claim's token goes with
// it, so its holder can no longer create the account.
func (t *tx) FreeClaim(ctx context.Context, key landfall.Key) error {
	return orIfUnchanged(landfall.ErrNotFound)(t.exec(ctx, `UPDATE process SET state = 'staged', claim_token = NULL, claim_until = NULL
		WHERE supplier_id = (SELECT id FROM supplier WHERE code = $1) AND external = $2 AND state = 'claimed' AND claim_until > {now}`,
		key.Supplier, key.External))
}

// skipUnstaged marks a number under which nothing was staged so far; its
// process has revision 0. It reports whether it set the mark: the account may
// have been staged concurrently.
func (t *tx) skipUnstaged(ctx context.Context, key landfall.Key, reason string) (bool, error) {
	var id int64
	if err := t.one(ctx, `SELECT id FROM supplier WHERE code = $1`, []any{key.Supplier}, []any{&id}); err != nil {
		return false, err
	}
	count, err := t.exec(ctx, `INSERT INTO process
			(supplier_id, external, state, revision, hash, first_staged_at, staged_at, skip_reason)
		VALUES ($1, $2, 'skipped', 0, $3, {now}, {now}, $4) ON CONFLICT DO NOTHING`,
		id, key.External, []byte{}, reason)
	if err != nil || count == 0 {
		return false, err
	}
	var counted tallies
	counted.add(id, landfall.StatusUnstaged, landfall.Figures{Accounts: 1})
	return true, t.tally(ctx, &counted)
}

// Unskip removes the mark. A process that is nothing but its mark is deleted.
func (t *tx) Unskip(ctx context.Context, key landfall.Key) error {
	var counted tallies
	gone, err := collect(ctx, t.txSession, readStatus, `DELETE FROM process
		WHERE supplier_id = (SELECT id FROM supplier WHERE code = $1) AND external = $2 AND state = 'skipped' AND revision = 0
		RETURNING `+statusColumns, key.Supplier, key.External)
	if err != nil {
		return err
	}
	for _, one := range gone {
		counted.subtract(one.supplier, landfall.StatusUnstaged, landfall.Figures{Accounts: 1})
		return t.tally(ctx, &counted)
	}
	// A number may be marked between the two statements. That mark is newer
	// than this call and stays.
	unmarked, err := collect(ctx, t.txSession, readStatus, `UPDATE process SET state = 'staged', skip_reason = NULL
		WHERE supplier_id = (SELECT id FROM supplier WHERE code = $1) AND external = $2 AND state = 'skipped' AND revision > 0
		RETURNING `+statusColumns, key.Supplier, key.External)
	back, err := firstOf(unmarked, err, landfall.ErrNotFound)
	if err != nil {
		return err
	}
	counted.move(back.supplier, landfall.StatusSkipped, back.status, back.figures)
	if err := t.tally(ctx, &counted); err != nil {
		return err
	}
	// Its document may have been purged while it was skipped.
	empty, err := collect(ctx, t.txSession, func(scan scanner, id *int64) error { return scan(id) },
		`SELECT id FROM process WHERE supplier_id = $1 AND external = $2 AND length(hash) = 0`, back.supplier, key.External)
	if err != nil || len(empty) == 0 {
		return err
	}
	return failWithoutDocument(ctx, t, empty)
}

// processStatus is the status of a process, apart from marks, when a statement
// changed it.
type processStatus struct {
	supplier int64
	status   landfall.AccountStatus
	figures  landfall.Figures
}

const statusColumns = `process.supplier_id, process.failed_at IS NOT NULL, process.figures`

func readStatus(scan scanner, one *processStatus) error {
	var failed bool
	err := scan(&one.supplier, &failed, figuresInto{&one.figures})
	one.status = waitingStatus(failed)
	return err
}
