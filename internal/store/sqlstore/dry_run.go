package sqlstore

import (
	"context"
	"crypto/rand"

	"landfall"
	"landfall/internal/store/sqlset"
)

// A dry run is a creation that is rolled back. It claims nothing: it reads the
// document that it would create the account from, and does its work inside one
// transaction, where no other transaction sees it. Only if claims are counted
// does it insert a row into dry_run_lease until it ends, so that the limits
// apply to it too.

// peekCounted is like peek, but under the locks of the limits. Each call that
// the limits admit gets a token that counts until the attempt or its lease
// ends.
func (t *tx) peekCounted(ctx context.Context, batch []*claimCall, found *slots) error {
	open := sqlset.NewPending(batch)
	var admitted []*claimCall
	over, err := t.answerPeeks(ctx, open, func(one *claimCall) bool {
		if !found.admits(one) {
			return false
		}
		found.take(one)
		admitted = append(admitted, one)
		return true
	})
	if err != nil {
		return err
	}
	for _, one := range over {
		open.Set(one, landfall.ClaimOutcome{Verdict: landfall.ClaimOverLimit})
	}
	// Delete the leases of dry runs that never finished. Every batch of counted
	// dry runs does this, so the table never has more than a few rows.
	if _, err := t.exec(ctx, `DELETE FROM dry_run_lease WHERE until <= {now}`); err != nil {
		return err
	}
	for _, one := range admitted {
		claim := &one.Outcome.Claim
		claim.Token = rand.Text()
		if _, err := t.exec(ctx, `INSERT INTO dry_run_lease (token, supplier_id, until)
			SELECT $1, id, {now} + $2 FROM supplier WHERE code = $3`,
			claim.Token, claim.Lease.Microseconds(), one.Key.Supplier); err != nil {
			return err
		}
	}
	return nil
}

// dryRunQueries imports processes for dry runs, even if they are claimed, because
// no other transaction ever sees the result.
var dryRunQueries = withRollback(newCreateQueries(`process.state IN ('staged', 'claimed')`))

// withRollback leaves out events, sums and the audit, which do not depend on the
// content of an account. The database can only reject the account's own rows.
func withRollback(how createQueries) createQueries {
	how.rolledBack = true
	return how
}

func (s *Store) dryRun(t *tx, ctx context.Context, batch []*createCall) error {
	return t.createAndRollBack(ctx, s.draw, batch)
}

// createAndRollBack does everything that create does for a batch of dry runs,
// rolls it back, and records in the same transaction which of them would have
// succeeded.
func (t *tx) createAndRollBack(ctx context.Context, draw func() (string, error), batch []*createCall) error {
	const savepoint = "dry_run"
	if _, err := t.exec(ctx, "SAVEPOINT "+savepoint); err != nil {
		return err
	}
	if err := t.create(ctx, dryRunQueries, draw, batch); err != nil {
		return err
	}
	if _, err := t.exec(ctx, "ROLLBACK TO SAVEPOINT "+savepoint); err != nil {
		return err
	}
	return t.saveDryRuns(ctx, batch)
}

// clearFailureQuery clears the failure of a process after a successful dry run,
// provided that the revision is still the one that was tried.
var clearFailureQuery = sqlset.NewQuery(`
	UPDATE process SET failure = NULL, failed_at = NULL
	FROM wanted w JOIN supplier s ON s.code = w.supplier
	WHERE process.supplier_id = s.id AND process.external = w.external AND process.revision = w.revision
		AND process.state IN ('staged', 'claimed') AND process.failed_at IS NOT NULL
	RETURNING process.supplier_id, process.figures`,
	"supplier text", "external text", "revision bigint")

// saveDryRuns records the outcomes of dry runs and ends their leases.
func (t *tx) saveDryRuns(ctx context.Context, batch []*createCall) error {
	passed := sqlset.NewPending(batch)
	rows := newAccountRows(t.sealer)
	for _, one := range batch {
		if err := t.endDryRunLease(ctx, one.Wanted.Claim.Token); err != nil {
			return err
		}
		if one.Outcome.Verdict != landfall.Created {
			delete(passed.ByKey, one.Key)
			continue
		}
		event := landfall.Event{Type: landfall.EventDryRunCompleted, Key: one.Key, By: one.Wanted.By, Details: runDetails(one.Wanted.Creation)}
		if err := rows.event(one.Outcome.At.UnixMicro(), event); err != nil {
			return err
		}
		rows.audit.Add(one.Wanted.By, string(event.Type), one.Key, "")
		one.Outcome = landfall.CreateOutcome{Verdict: landfall.CreateRolledBack}
		if one.Wanted.Claim.FailedAt.IsZero() {
			delete(passed.ByKey, one.Key)
		}
	}
	if len(passed.ByKey) > 0 {
		text, args := clearFailureQuery.For(t.engine, passed.Rows(3, func(args []any, one *createCall) []any {
			return append(args, one.Key.Supplier, one.Key.External, int64(one.Wanted.Claim.Revision))
		}))
		recovered, err := collect(ctx, t.txSession, func(scan scanner, one *owned[landfall.Figures]) error {
			return scan(&one.id, figuresInto{&one.item})
		}, text, args...)
		if err != nil {
			return err
		}
		for _, one := range recovered {
			rows.tallies.move(one.id, landfall.StatusFailed, landfall.StatusPending, one.item)
		}
	}
	return t.write(ctx, rows.all()...)
}

// endDryRunLease ends the lease of a counted dry run; others have none.
func (t *tx) endDryRunLease(ctx context.Context, token string) error {
	if token == "" {
		return nil
	}
	_, err := t.exec(ctx, `DELETE FROM dry_run_lease WHERE token = $1`, token)
	return err
}
