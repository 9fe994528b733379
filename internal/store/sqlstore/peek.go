package sqlstore

import (
	"context"
	"database/sql"

	"landfall"
	"landfall/internal/store/engine"
	"landfall/internal/store/sqlset"
)

// Code that only looks at a process writes nothing and blocks nobody. That is
// true of dry runs, which are rolled back, and of optimistic claims, for which
// something is written only if the process has not changed since. It saves two
// versions of a row and of its entry in every index.

// peekQuery reads the state of each process and the document its account would be
// created from.
var peekQuery = sqlset.NewQuery(`
	SELECT w.supplier, w.external, coalesce(s.status, ''), coalesce(s.concurrency_limit, 0), m.name,
		`+currentState+`, p.account_number, p.claim_until - {now}, p.id, p.revision, p.failed_at, p.hash, g.document
	FROM wanted w LEFT JOIN supplier s ON s.code = w.supplier LEFT JOIN team m ON m.name = w.team
	LEFT JOIN process p ON p.supplier_id = s.id AND p.external = w.external
	LEFT JOIN staging g ON g.process_id = p.id AND g.revision = p.revision`,
	"supplier text", "external text", "team text")

// peek answers the calls to which no limit applies, and tells the others to
// count. A granted call is promised nothing, so there is nothing to commit for
// it. A refusal depends on what was read, which must still be true at commit.
func (t *tx) peek(ctx context.Context, batch []*claimCall) error {
	open := sqlset.NewPending(batch)
	counted, err := t.answerPeeks(ctx, open, func(*claimCall) bool { return false })
	if err != nil {
		return err
	}
	for _, one := range counted {
		open.Set(one, landfall.ClaimOutcome{Verdict: claimMustCount})
	}
	for _, one := range batch {
		if one.Outcome.Verdict != landfall.ClaimGranted && one.Outcome.Verdict != claimMustCount {
			return nil
		}
	}
	return engine.ErrUndone
}

// answerPeeks answers the open calls. It returns those to which a limit applies
// unanswered, unless free reports that there is room for one.
func (t *tx) answerPeeks(ctx context.Context, open *openClaim, free func(*claimCall) bool) (counted []*claimCall, err error) {
	text, args := peekQuery.For(t.engine, open.Rows(3, func(args []any, one *claimCall) []any {
		return append(args, one.Key.Supplier, one.Key.External, one.Wanted.Team)
	}))
	rows, err := t.query(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var supplier, external, team, state, number sql.NullString
		var status landfall.SupplierStatus
		var limit int64
		var left, process, revision, failed sql.NullInt64
		var hash, document []byte
		if err := rows.Scan(&supplier, &external, &status, &limit, &team, &state, &number, &left, &process, &revision, &failed, &hash, &document); err != nil {
			return nil, t.fail(err)
		}
		one := open.ByKey[landfall.Key{Supplier: supplier.String, External: external.String}]
		if one == nil {
			continue // padding
		}
		effective := landfall.ProcessState(state.String)
		if one.Wanted.DryRun && effective == landfall.Claimed {
			effective = landfall.Staged // another call is creating it, which does not prevent a dry run
		}
		if verdict := claimVerdict(status, team.Valid, effective); verdict != 0 {
			open.Set(one, landfall.ClaimOutcome{Verdict: verdict, AccountNumber: number.String, LeaseLeft: remaining(left)})
			continue
		}
		if (limit > 0 || one.Wanted.ServiceLimit > 0) && !free(one) {
			counted = append(counted, one)
			continue
		}
		open.Set(one, landfall.ClaimOutcome{Verdict: landfall.ClaimGranted, Claim: landfall.Claim{
			Key: one.Key, Process: process.Int64, Team: one.Wanted.Team, Revision: int(revision.Int64), Document: document,
			Hash: t.sealer.openHash(one.Key, hash), Lease: one.Wanted.Lease, DryRun: one.Wanted.DryRun, FailedAt: instant(failed),
		}})
	}
	return counted, t.fail(rows.Err())
}
