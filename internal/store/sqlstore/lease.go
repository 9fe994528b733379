package sqlstore

import (
	"context"
	"encoding/json"
	"errors"

	"landfall"
	"landfall/internal/store/sqlset"
)

// whereClaimed is the condition under which a claim still owns its process.
// Only a claimed process has a token.
const whereClaimed = ` WHERE supplier_id = (SELECT id FROM supplier WHERE code = $1) AND external = $2
	AND claim_token = $3`

// Renew restarts the lease of a claim. A lease that has ended stays ended, even
// if no other claim took the process, because its slot under the limits may be
// in use.
func (s *Store) Renew(ctx context.Context, claim landfall.Claim) error {
	return s.update(ctx, claim.Key, func(t *tx) error {
		renewed, err := t.renew(ctx, claim)
		if err == nil && !renewed {
			err = landfall.ErrFenced
		}
		return err
	})
}

// renew restarts a lease and reports whether there was one.
func (t *tx) renew(ctx context.Context, claim landfall.Claim) (bool, error) {
	if claim.Token == "" {
		return true, nil // it has no lease that could end
	}
	text := `UPDATE process SET claim_until = {now} + $4` + whereClaimed + ` AND claim_until > {now}`
	args := []any{claim.Key.Supplier, claim.Key.External, claim.Token, claim.Lease.Microseconds()}
	if claim.DryRun {
		text = `UPDATE dry_run_lease SET until = {now} + $2 WHERE token = $1 AND until > {now}`
		args = args[2:]
	}
	count, err := t.exec(ctx, text, args...)
	return count > 0, err
}

type (
	// release is the end of a claim without an account, with its failure
	// encoded as it is stored.
	release struct {
		landfall.Claim
		failure any
		event   landfall.Event
	}
	releaseCall = pendingCall[release, struct{}]
	openRelease = pendingCalls[release, struct{}]
)

// Release ends a claim without creating an account.
func (s *Store) Release(ctx context.Context, claim landfall.Claim, attempt landfall.Attempt) error {
	ended, err := newRelease(claim, attempt)
	if err == nil {
		_, err = runVerb(ctx, s, s.releases, claim.Key, releaseWeight, ended)
	}
	return err
}

// newRelease encodes the failure before anything is locked.
func newRelease(claim landfall.Claim, attempt landfall.Attempt) (release, error) {
	ended := release{Claim: claim, event: attempt.Event}
	ended.event.Key, ended.event.By = claim.Key, attempt.By
	if attempt.Failure == nil {
		return ended, nil
	}
	text, err := failureText(*attempt.Failure)
	if err == nil && !storable(text) {
		err = errUnstorable
	}
	ended.failure = text
	return ended, err
}

// releaseWeight is an estimate of the size of a failure with its violations and
// the event.
const releaseWeight = 2 << 10

// releaseQuery frees the processes that claims still hold, and stores the outcome
// of the attempt. A dry run and an optimistic claim hold nothing. Their failure
// is stored only while the process waits with the revision that was tried. For
// an optimistic claim, additionally no other failure may have been stored
// since; nothing else would reveal a release that is sent twice.
var releaseQuery = sqlset.NewQuery(`
	UPDATE process SET state = CASE WHEN w.dry THEN process.state ELSE 'staged' END,
		claim_token = CASE WHEN w.dry THEN process.claim_token END,
		claim_until = CASE WHEN w.dry THEN process.claim_until END,
		previously_failed = process.failed_at IS NOT NULL,
		failure = CAST(w.failure AS {json}), failed_at = CASE WHEN w.failure IS NOT NULL THEN {now} END
	FROM wanted w JOIN supplier s ON s.code = w.supplier
	WHERE process.supplier_id = s.id AND process.external = w.external AND CASE
		WHEN w.dry THEN process.state IN ('staged', 'claimed') AND process.revision = w.revision
		WHEN w.token = '' THEN `+whereUnchanged+` AND coalesce(process.failed_at, 0) = coalesce(w.failed, 0)
		ELSE process.claim_token = w.token END
	RETURNING (SELECT code FROM supplier WHERE id = process.supplier_id), process.external, process.supplier_id,
		process.previously_failed, process.failed_at IS NOT NULL, process.figures`,
	"supplier text", "external text", "token text", "dry boolean", "revision bigint", "failed bigint", "failure text")

// release ends a batch of claims. Nothing is stored on behalf of a key that is
// no longer valid, but its claim is released: the account must not wait for the
// lease to end because the key was revoked.
func (s *Store) release(t *tx, ctx context.Context, batch []*releaseCall) error {
	author := func(r release) landfall.Author { return r.event.By }
	if err := ifAuthorised(&s.keys, author, (*tx).release)(t, ctx, batch); err != nil {
		return err
	}
	for _, one := range batch {
		if errors.Is(one.Err, landfall.ErrRevoked) {
			if err := t.dropClaim(ctx, one.Wanted.Claim); err != nil {
				return err
			}
		}
	}
	return nil
}

// release ends the claims of authors that may still write. Each call has its
// own outcome: a call that was fenced off stores nothing.
func (t *tx) release(ctx context.Context, batch []*releaseCall) error {
	open := sqlset.NewPending(batch)
	text, args := releaseQuery.For(t.engine, open.Rows(7, func(args []any, one *releaseCall) []any {
		w := one.Wanted
		return append(args, w.Key.Supplier, w.Key.External, w.Token, w.DryRun, int64(w.Revision), instantArg(w.FailedAt),
			t.sealer.sealJSON(processFailureLocation, w.failure, w.Key.Supplier, w.Key.External))
	}))
	rows, err := t.returning(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	var counted tallies
	for rows.Next() {
		var key landfall.Key
		var supplier int64
		var before, failed bool
		var figures landfall.Figures
		if err := rows.Scan(&key.Supplier, &key.External, &supplier, &before, &failed, figuresInto{&figures}); err != nil {
			return t.fail(err)
		}
		open.Set(open.ByKey[key], struct{}{})
		counted.move(supplier, waitingStatus(before), waitingStatus(failed), figures)
	}
	if err := t.fail(rows.Err()); err != nil {
		return err
	}
	_ = rows.Close()
	if err := t.tally(ctx, &counted); err != nil {
		return err
	}
	return t.saveReleases(ctx, open)
}

// appendEventsQuery stores the events of attempts with the database's time. The
// rows that pad a batch have no type, which excludes them.
var appendEventsQuery = sqlset.NewQuery(`
	INSERT INTO event (type, supplier, external, account_number, at, details, key_id, request_id)
	SELECT w.type, w.supplier, w.external, '', {now}, CAST(w.details AS {json}), w.key_id, w.request_id
	FROM wanted w WHERE w.type IS NOT NULL {in order}`,
	"type text", "supplier text", "external text", "details text", "key_id text", "request_id text")

// saveReleases sets ErrFenced for the calls that were fenced off, and stores
// the events of the others.
func (t *tx) saveReleases(ctx context.Context, open *openRelease) error {
	kept := sqlset.NewPending(open.Batch)
	for key, one := range open.ByKey {
		// A dry run held no claim, so it cannot be fenced off. The attempt is
		// recorded even if its process has moved on.
		if !one.Wanted.DryRun {
			one.Err = landfall.ErrFenced
			delete(kept.ByKey, key)
		}
	}
	if len(kept.ByKey) == 0 {
		return nil
	}
	var failed error
	text, args := appendEventsQuery.For(t.engine, kept.Rows(6, func(args []any, one *releaseCall) []any {
		event := one.Wanted.event
		details, err := json.Marshal(event.Details)
		if err != nil {
			failed = err
		}
		return append(args, string(event.Type), event.Key.Supplier, event.Key.External, string(details),
			textArg(event.By.KeyID), textArg(event.By.RequestID))
	}))
	if failed != nil {
		return failed
	}
	if _, err := t.exec(ctx, text, args...); err != nil {
		return err
	}
	if err := t.auditAttempts(ctx, kept); err != nil {
		return err
	}
	for _, one := range kept.ByKey {
		if one.Wanted.DryRun {
			if err := t.endDryRunLease(ctx, one.Wanted.Token); err != nil {
				return err
			}
		}
	}
	return nil
}

// auditAttempts records the attempts in the audit.
func (t *tx) auditAttempts(ctx context.Context, kept *openRelease) error {
	var did landfall.AuditBatch
	for _, one := range kept.Batch {
		if kept.ByKey[one.Key] == one {
			event := one.Wanted.event
			did.Add(event.By, string(event.Type), one.Key, event.Details["code"])
		}
	}
	return t.write(ctx, auditRows(&did))
}

// freeClaims ends every claim and every sender's lease, and returns every slice
// of a run. A server that starts on a file has it to itself, so any previous
// holder has ended.
func (t *tx) freeClaims(ctx context.Context) error {
	for _, text := range []string{
		`DELETE FROM dry_run_lease`,
		`UPDATE mail SET due_at = {now} WHERE due_at IS NOT NULL AND state = 'sending'`,
		`UPDATE webhook SET lease_token = NULL, lease_until = NULL WHERE lease_token IS NOT NULL`,
		`UPDATE target SET uncertain_at = {now}, lease_token = NULL, lease_until = NULL WHERE lease_token IS NOT NULL`,
		`UPDATE run_slice SET token = NULL, until = NULL WHERE token IS NOT NULL AND done = FALSE`,
		`UPDATE process SET state = 'staged', claim_token = NULL, claim_until = NULL WHERE state = 'claimed'`,
	} {
		if _, err := t.exec(ctx, text); err != nil {
			return err
		}
	}
	return nil
}
