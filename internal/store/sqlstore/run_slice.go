package sqlstore

import (
	"context"
	"crypto/rand"
	"errors"
	"iter"
	"slices"
	"time"

	"landfall"
)

// TakeSlice claims the next free slice of a run. It locks the run meanwhile, so
// that the work in progress can be counted and no slice is started while the
// run is being stopped.
func (s *Store) TakeSlice(ctx context.Context, request landfall.SliceRequest) (landfall.RunSlice, error) {
	var slice landfall.RunSlice
	err := s.update(ctx, landfall.Key{}, func(t *tx) error {
		run, err := t.Run(ctx, request.Run)
		if err != nil {
			return err
		}
		slice = landfall.RunSlice{Run: run, Token: rand.Text(), Lease: request.Lease, Concurrency: request.Concurrency}
		// A run that is ending has no work to give out.
		if run.State != landfall.RunRunning || run.Stopping() || run.WindowOver() {
			return landfall.ErrNotFound
		}
		if err := t.limitConcurrency(ctx, &slice); err != nil {
			return err
		}
		return t.takeSlice(ctx, &slice)
	})
	if err != nil {
		return landfall.RunSlice{}, err
	}
	return slice, nil
}

// limitConcurrency limits a slice's concurrency to what the run and its
// supplier allow, and reads the quotas of the organisation.
func (t *tx) limitConcurrency(ctx context.Context, slice *landfall.RunSlice) error {
	var underWay, limit int64
	// Only slices with a current lease count as in progress; those of a dead
	// worker do not. A supplier that is not open yields no row, and so no work.
	q := &slice.Quotas
	err := t.one(ctx, `SELECT s.concurrency_limit,
			(SELECT CAST(coalesce(sum(l.width), 0) AS BIGINT) FROM run_slice l
				WHERE l.run_id = r.id AND l.done = FALSE AND l.token IS NOT NULL AND l.until > {now}),
			coalesce(o.requests_per_second, 0), coalesce(o.bytes_per_day, 0), coalesce(o.revisions_per_account, 0),
			coalesce(o.tokens_per_minute, 0), coalesce(o.concurrent_creations, 0)
		FROM run r JOIN supplier s ON s.id = r.supplier_id LEFT JOIN api_key k ON k.id = r.key_id
		LEFT JOIN organisation o ON o.name = k.organisation
		WHERE r.number = $1 AND s.status = 'Ongoing'`, []any{slice.Run.ID},
		[]any{&limit, &underWay, &q.RequestsPerSecond, &q.BytesPerDay, &q.RevisionsPerAccount, &q.TokensPerMinute, &q.ConcurrentCreations})
	if err != nil {
		return err
	}
	if limit > 0 {
		slice.Concurrency = min(slice.Concurrency, int(limit))
	}
	if most := slice.Run.Plan.Concurrency; most > 0 {
		slice.Concurrency = min(slice.Concurrency, most-int(underWay))
	}
	if slice.Concurrency <= 0 {
		return landfall.ErrNotFound
	}
	return nil
}

// takeSlice gives a slice its number, token and members.
func (t *tx) takeSlice(ctx context.Context, slice *landfall.RunSlice) error {
	run, err := t.runKey(ctx, slice.Run.ID)
	if err != nil {
		return err
	}
	taken, err := t.returning(ctx, `UPDATE run_slice SET token = $2, until = {now} + $3, width = $4
		WHERE run_id = $1 AND slice = (SELECT l.slice FROM run_slice l WHERE l.run_id = $1 AND l.done = FALSE
			AND (l.token IS NULL OR l.until <= {now}) AND l.next_at <= {now} ORDER BY l.slice LIMIT 1)
		RETURNING slice, tries`, run, slice.Token, slice.Lease.Microseconds(), int64(slice.Concurrency))
	if err != nil {
		return err
	}
	defer taken.Close()
	if !taken.Next() {
		return errors.Join(t.fail(taken.Err()), landfall.ErrNotFound)
	}
	if err := taken.Scan(&slice.Number, &slice.Tries); err != nil {
		return t.fail(err)
	}
	if err := t.fail(taken.Close()); err != nil {
		return err
	}
	// The slice may have been started by a worker that died. Members it settled
	// have an outcome and are not given out again.
	first := int64(slice.Number) * landfall.SliceSize
	slice.Members, err = collect(ctx, t.txSession, func(scan scanner, m *landfall.RunMember) error {
		m.Key.Supplier = slice.Run.Plan.Supplier
		return scan(&m.Ordinal, &m.Key.External, &m.Bytes)
	}, `SELECT m.ordinal, p.external, coalesce(length(g.document), 0) FROM run_member m JOIN process p ON p.id = m.process_id
		LEFT JOIN staging g ON g.process_id = p.id AND g.revision = p.revision
		WHERE m.run_id = $1 AND m.ordinal >= $2 AND m.ordinal < $3 AND m.outcome IS NULL ORDER BY m.ordinal`,
		run, first, first+landfall.SliceSize)
	return err
}

// whereSlice is the condition that a slice still belongs to its holder.
const whereSlice = ` WHERE run_id = (SELECT id FROM run WHERE number = $1) AND slice = $2 AND token = $3 AND until > {now}`

// ReturnSlice returns a slice, to be taken again after a pause.
func (s *Store) ReturnSlice(ctx context.Context, slice landfall.RunSlice, pause time.Duration) error {
	// A slice returned without a pause, as when the service stops, did not fail
	// and does not count as a try.
	again := int64(0)
	if pause > 0 {
		again = 1
	}
	return s.update(ctx, landfall.Key{}, func(t *tx) error {
		_, err := t.exec(ctx, `UPDATE run_slice SET token = NULL, until = NULL, next_at = {now} + $4, tries = tries + $5`+whereSlice,
			slice.Run.ID, int64(slice.Number), slice.Token, pause.Microseconds(), again)
		return err
	})
}

// RenewSlice renews the leases of a slice and of claims.
func (s *Store) RenewSlice(ctx context.Context, slice landfall.RunSlice, claims []landfall.Claim) error {
	// In the order in which stagings lock them.
	claims = slices.SortedFunc(slices.Values(claims), func(a, b landfall.Claim) int { return a.Key.Compare(b.Key) })
	return s.update(ctx, landfall.Key{}, func(t *tx) error {
		if err := orIfUnchanged(landfall.ErrFenced)(t.exec(ctx, `UPDATE run_slice SET until = {now} + $4`+whereSlice,
			slice.Run.ID, int64(slice.Number), slice.Token, slice.Lease.Microseconds())); err != nil {
			return err
		}
		for _, claim := range claims {
			// Ignore a claim that now belongs to another worker. It is fenced
			// off when it is settled, and need not affect the rest of the
			// slice.
			if _, err := t.renew(ctx, claim); err != nil {
				return err
			}
		}
		return nil
	})
}

// ClaimSlice claims many processes at once.
func (s *Store) ClaimSlice(ctx context.Context, requests []landfall.ClaimRequest) ([]landfall.ClaimOutcome, error) {
	if len(requests) == 0 {
		return nil, nil
	}
	keys := make([]landfall.Key, len(requests))
	for i, request := range requests {
		keys[i] = request.Key
	}
	outcomes, err := s.claimGroup(ctx, keys, requests)
	if err != nil {
		return nil, err
	}
	return outcomes, s.unpackSlice(ctx, outcomes)
}

// maxUnpackedBytes limits the memory for the documents of one call. Nearly all
// accounts are a thousand times smaller.
const maxUnpackedBytes = 32 << 20

// unpackSlice gives claims their documents. If a document is not the one that
// was staged, it is left empty: the attempt then fails, and that is recorded
// like every other failure. Claims that would need too much memory at once are
// released, and so are those whose document was purged.
func (s *Store) unpackSlice(ctx context.Context, outcomes []landfall.ClaimOutcome) error {
	var back []landfall.Claim
	bytes := 0
	for i := range outcomes {
		claim := &outcomes[i].Claim
		switch {
		case outcomes[i].Verdict != landfall.ClaimGranted:
		// Check before the next document and not after it: the first one always
		// fits, or a very large one could never be created.
		case bytes > maxUnpackedBytes:
			back = append(back, *claim)
			outcomes[i] = landfall.ClaimOutcome{Verdict: landfall.ClaimOverLimit}
		case purged(claim):
			back = append(back, *claim)
			outcomes[i] = landfall.ClaimOutcome{Verdict: landfall.ClaimDocumentRemoved}
		default:
			claim.Document, _ = s.sealer.openDocument(claim.Key, claim.Document, claim.Hash)
			bytes += len(claim.Document)
		}
	}
	back = slices.DeleteFunc(back, withoutToken)
	if len(back) == 0 {
		return nil
	}
	return s.update(ctx, landfall.Key{}, func(t *tx) error { return t.releaseAll(ctx, back) })
}

// claimGroup counts only where there is a limit, because counting makes claims
// of different callers wait for each other.
func (s *Store) claimGroup(ctx context.Context, keys []landfall.Key, requests []landfall.ClaimRequest) ([]landfall.ClaimOutcome, error) {
	var outcomes []landfall.ClaimOutcome
	if requests[0].ServiceLimit > 0 || requests[0].Limited {
		outcomes = slices.Repeat([]landfall.ClaimOutcome{{Verdict: claimMustCount}}, len(requests))
	} else {
		kind := s.groupClaims
		if requests[0].DryRun || requests[0].Optimistic {
			kind = s.groupPeeks
		}
		var err error
		if outcomes, err = runGroup(ctx, s, kind, keys, claimWeight, requests); err != nil {
			return nil, err
		}
	}
	return outcomes, s.countRest(ctx, keys, requests, outcomes)
}

// countRest claims under limits what has to be counted, and replaces those
// outcomes.
func (s *Store) countRest(ctx context.Context, keys []landfall.Key, requests []landfall.ClaimRequest, outcomes []landfall.ClaimOutcome) error {
	return whileBusy(ctx, func() (busy bool, err error) {
		var places []int
		var counted []landfall.ClaimRequest
		var countedKeys []landfall.Key
		for i, outcome := range outcomes {
			if outcome.Verdict == claimMustCount || outcome.Verdict == claimMustWait {
				places, counted, countedKeys = append(places, i), append(counted, requests[i]), append(countedKeys, keys[i])
			}
		}
		if len(counted) == 0 {
			return false, nil
		}
		more, err := runGroup(ctx, s, s.groupCounted, countedKeys, claimWeight, counted)
		for i, outcome := range more {
			outcomes[places[i]] = outcome
			busy = busy || outcome.Verdict == claimMustWait
		}
		return busy, err
	})
}

// RunFailures streams the accounts that failed in a run.
func (s *Store) RunFailures(ctx context.Context, query landfall.RunFailureQuery) iter.Seq2[landfall.FailedProcess, error] {
	after := query.After
	return inBatches(query.Limit, func(limit int) (rows []landfall.FailedProcess, err error) {
		err = s.stream(ctx, func(v *view) (err error) {
			var run int64
			var gone bool
			if err := v.one(ctx, `SELECT id, purged_at IS NOT NULL FROM run WHERE number = $1`, []any{query.Run}, []any{&run, &gone}); err != nil {
				return ignoreNotFound(err)
			}
			// Check on every page: a part of the list must not pass for all of it.
			if gone {
				return landfall.ErrRunPurged
			}
			rows, err = collect(ctx, v.txSession, v.readFailed("run_failure", run), `SELECT f.external, f.failure, f.at FROM run_failure f
				WHERE f.run_id = $1 AND f.external > $2 ORDER BY f.external LIMIT $3`, run, after, int64(limit))
			return err
		})
		if len(rows) > 0 {
			after = rows[len(rows)-1].External
		}
		return rows, err
	})
}

// RunCreated streams the keys of the accounts that a run created. An account
// that was undone and created again is a different account, which belongs to
// another run or to none.
func (s *Store) RunCreated(ctx context.Context, id string) iter.Seq2[landfall.Key, error] {
	type created struct {
		ordinal int64
		key     landfall.Key
	}
	after := int64(-1)
	batches := inBatches(0, func(limit int) (rows []created, err error) {
		err = s.stream(ctx, func(v *view) (err error) {
			rows, err = collect(ctx, v.txSession, func(scan scanner, c *created) error {
				return scan(&c.ordinal, &c.key.Supplier, &c.key.External)
			}, `SELECT m.ordinal, s.code, p.external FROM run r JOIN run_member m ON m.run_id = r.id
				JOIN account a ON a.id = m.process_id AND a.run = r.number
				JOIN process p ON p.id = m.process_id JOIN supplier s ON s.id = p.supplier_id
				WHERE r.number = $1 AND m.ordinal > $2 AND m.outcome = 'succeeded' ORDER BY m.ordinal LIMIT $3`, id, after, int64(limit))
			return err
		})
		if len(rows) > 0 {
			after = rows[len(rows)-1].ordinal
		}
		return rows, err
	})
	return func(yield func(landfall.Key, error) bool) {
		for row, err := range batches {
			if !yield(row.key, err) {
				return
			}
		}
	}
}
