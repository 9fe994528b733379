package sqlstore

import (
	"context"
	"errors"
	"math"
	"slices"

	"landfall"
	"landfall/internal/store/engine"
	"landfall/internal/store/sqlset"
)

// settlement contains the outcomes of some members of a slice, to be written.
type settlement struct {
	slice    landfall.RunSlice
	wanted   *landfall.Settlement
	creates  map[int]*createCall  // by ordinal
	releases map[int]*releaseCall // by ordinal
	settled  landfall.SettleResult
	err      error // of this settlement alone
}

// SettleSlice writes the outcomes of some members of a slice.
func (s *Store) SettleSlice(ctx context.Context, slice landfall.RunSlice, wanted landfall.Settlement) (landfall.SettleResult, error) {
	mine := &settlement{slice: slice, wanted: &wanted, creates: map[int]*createCall{}, releases: map[int]*releaseCall{}}
	weight := releaseWeight * (len(wanted.Failed) + len(wanted.Refused) + len(wanted.Released))
	for i := range wanted.Created {
		one := &wanted.Created[i]
		if err := writable(&one.Creation.Account); err != nil {
			return landfall.SettleResult{}, err
		}
		ready, err := s.prepareCreation(&one.Creation)
		if err != nil {
			return landfall.SettleResult{}, err
		}
		weight += creationWeight(&one.Creation.Account)
		mine.creates[one.Ordinal] = &createCall{Key: one.Creation.Claim.Key, Wanted: ready}
	}
	for _, one := range wanted.Failed {
		ended, err := newRelease(one.Claim, one.Attempt)
		if err != nil {
			return landfall.SettleResult{}, err
		}
		mine.releases[one.Ordinal] = &releaseCall{Key: one.Claim.Key, Wanted: ended}
	}
	err := s.settlements.Do(ctx, &engine.Call{
		Tenant: s.tenant(landfall.Key{Supplier: slice.Run.Plan.Supplier}), Weight: weight, Work: mine,
	})
	if err == nil {
		err = mine.err
	}
	if err != nil {
		return landfall.SettleResult{}, translate(err)
	}
	return mine.settled, nil
}

// settleAll writes the settlements of one transaction. Their slices are
// different. Each locks its slice first, then the accounts that it creates, those
// that failed and those that it releases, each group in the order of their keys.
// A staging of the same accounts in the same moment can therefore deadlock with
// it on PostgreSQL. PostgreSQL ends one of the two after a second and the engine
// runs it again.
func (s *Store) settleAll(ctx context.Context, et *engine.Tx, calls []*engine.Call) error {
	t := s.tx(et)
	for _, one := range calls {
		work := one.Work.(*settlement) //nolint:forcetypeassert // SettleSlice made it
		// A failed batch is run again. Discard the error of an earlier try.
		work.err = nil
		err := s.settle(ctx, t, work)
		if errors.Is(err, landfall.ErrFenced) || errors.Is(err, landfall.ErrRevoked) {
			work.err, err = err, nil // found before anything was written
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *settlement) claims() []landfall.Claim {
	claims := slices.Clone(w.wanted.Released)
	for _, one := range w.wanted.Created {
		claims = append(claims, one.Creation.Claim)
	}
	for _, one := range w.wanted.Failed {
		claims = append(claims, one.Claim)
	}
	return claims
}

// lockedSlice is the state of a slice as a settlement finds it.
type lockedSlice struct {
	run, now int64
	stop     bool
}

// settle first checks the key on whose behalf the run acts. Once that is
// revoked, nothing more is created in its name.
func (s *Store) settle(ctx context.Context, t *tx, work *settlement) error {
	dead, err := t.revoked(ctx, &s.keys, []string{work.slice.Run.ActsFor.KeyID})
	if err != nil {
		return err
	}
	if len(dead) > 0 {
		// Release the claims: accounts must not wait for a lease because a key
		// was revoked.
		return errors.Join(t.releaseAll(ctx, work.claims()), landfall.ErrRevoked)
	}
	found, err := t.lockSlice(ctx, work.slice)
	if err != nil {
		return err
	}
	// A settlement whose response was lost is sent again. Members that have an
	// outcome already stay unchanged.
	open, err := t.openMembers(ctx, found.run, work)
	if err != nil {
		return err
	}
	tally := newRunOutcomes(found)
	if err := s.settleCreated(ctx, t, work, open, tally); err != nil {
		return err
	}
	if err := t.settleFailed(ctx, work, open, tally); err != nil {
		return err
	}
	for _, ordinal := range work.wanted.Refused {
		if open[ordinal] {
			tally.add(ordinal, "refused")
		}
	}
	if err := t.releaseAll(ctx, work.wanted.Released); err != nil {
		return err
	}
	work.settled.Stop = found.stop
	return t.saveOutcomes(ctx, work.slice, tally)
}

// lockSlice locks a slice. It returns ErrFenced if the slice no longer belongs
// to the caller.
func (t *tx) lockSlice(ctx context.Context, slice landfall.RunSlice) (lockedSlice, error) {
	// Also read whether the run is to stop: its workers learn of it with their
	// next batch and need not ask separately.
	var found lockedSlice
	err := t.one(ctx, `SELECT held.run_id, {now}, r.state <> 'RUNNING' OR r.cancelling = TRUE OR r.reason <> ''
			OR coalesce(r.not_after < {now}, FALSE) OR s.status <> 'Ongoing'
		FROM run_slice held JOIN run r ON r.id = held.run_id JOIN supplier s ON s.id = r.supplier_id
		WHERE r.number = $1 AND held.slice = $2 AND held.token = $3 AND held.until > {now} {for_update}`,
		[]any{slice.Run.ID, int64(slice.Number), slice.Token}, []any{&found.run, &found.now, &found.stop})
	if errors.Is(err, landfall.ErrNotFound) {
		return found, landfall.ErrFenced
	}
	return found, err
}

// openMembers returns which members of a settlement have no outcome yet.
func (t *tx) openMembers(ctx context.Context, run int64, work *settlement) (map[int]bool, error) {
	// The members of a slice have consecutive ordinals, so one range covers
	// them and the statement is always the same.
	first, last := math.MaxInt, -1
	about := func(ordinal int) { first, last = min(first, ordinal), max(last, ordinal) }
	for _, one := range work.wanted.Created {
		about(one.Ordinal)
	}
	for _, one := range work.wanted.Failed {
		about(one.Ordinal)
	}
	for _, ordinal := range work.wanted.Refused {
		about(ordinal)
	}
	if last < 0 {
		return nil, nil
	}
	ordinals, err := collect(ctx, t.txSession, func(scan scanner, ordinal *int) error { return scan(ordinal) },
		`SELECT ordinal FROM run_member WHERE run_id = $1 AND ordinal >= $2 AND ordinal <= $3 AND outcome IS NULL`,
		run, int64(first), int64(last))
	open := make(map[int]bool, len(ordinals))
	for _, ordinal := range ordinals {
		open[ordinal] = true
	}
	return open, err
}

// settleCreated writes accounts as Create does. A member whose account was not
// created stays open.
func (s *Store) settleCreated(ctx context.Context, t *tx, work *settlement, open map[int]bool, tally *runOutcomes) error {
	var batch []*createCall
	for _, one := range work.wanted.Created {
		call := work.creates[one.Ordinal]
		// A member that has an outcome is not created again. Reset the outcome,
		// so that one from an earlier try is not mistaken for this one.
		call.Outcome = landfall.CreateOutcome{Verdict: landfall.CreateFenced}
		if open[one.Ordinal] {
			batch = append(batch, call)
		}
	}
	sqlset.SortCalls(batch)
	create := s.create
	if work.slice.Run.Plan.DryRun {
		create = s.dryRun
	}
	for part := range slices.Chunk(batch, sqlset.BatchSize(t.engine, sqlset.MaxGroup)) {
		if err := create(t, ctx, part); err != nil {
			return err
		}
	}
	work.settled.Created = make([]landfall.CreateOutcome, len(work.wanted.Created))
	for i, one := range work.wanted.Created {
		outcome := work.creates[one.Ordinal].Outcome
		work.settled.Created[i] = outcome
		if outcome.Verdict == landfall.Created || outcome.Verdict == landfall.CreateRolledBack {
			tally.add(one.Ordinal, "succeeded")
		}
	}
	return nil
}

// settleFailed ends claims as Release does. It also stores the failures that
// are final outcomes with the run.
func (t *tx) settleFailed(ctx context.Context, work *settlement, open map[int]bool, tally *runOutcomes) error {
	var batch []*releaseCall
	for _, one := range work.wanted.Failed {
		if open[one.Ordinal] {
			batch = append(batch, work.releases[one.Ordinal])
		}
	}
	sqlset.SortCalls(batch)
	for part := range slices.Chunk(batch, sqlset.MaxBatch) {
		if err := t.release(ctx, part); err != nil {
			return err
		}
	}
	for _, one := range work.wanted.Failed {
		call := work.releases[one.Ordinal]
		// A failure that will be retried is no outcome: the member stays open.
		if !open[one.Ordinal] || !one.Final || call.Err != nil {
			continue
		}
		tally.add(one.Ordinal, "failed")
		tally.failures.Add(tally.run, one.Claim.Key.External, tally.now, call.Wanted.failure)
	}
	return nil
}

// unclaimQuery releases claims as if they had never been made.
var unclaimQuery = sqlset.NewQuery(`
	UPDATE process SET state = 'staged', claim_token = NULL, claim_until = NULL
	FROM wanted w JOIN supplier s ON s.code = w.supplier
	WHERE process.supplier_id = s.id AND process.external = w.external AND process.claim_token = w.token`,
	"supplier text", "external text", "token text")

// withoutToken reports whether a claim has nothing to release.
func withoutToken(claim landfall.Claim) bool { return claim.Token == "" }

// releaseAll locks in the order of the keys, as all code that locks several
// does.
func (t *tx) releaseAll(ctx context.Context, claims []landfall.Claim) error {
	claims = slices.DeleteFunc(slices.Clone(claims), withoutToken)
	slices.SortFunc(claims, func(a, b landfall.Claim) int { return a.Key.Compare(b.Key) })
	for part := range slices.Chunk(claims, sqlset.MaxBatch) {
		// Either all claims of a run are for a dry run or none, so the first
		// one decides.
		if part[0].DryRun {
			for _, claim := range part {
				if err := t.endDryRunLease(ctx, claim.Token); err != nil {
					return err
				}
			}
			continue
		}
		var rows []any
		for _, claim := range part {
			rows = append(rows, claim.Key.Supplier, claim.Key.External, claim.Token)
		}
		text, args := unclaimQuery.For(t.engine, rows)
		if _, err := t.exec(ctx, text, args...); err != nil {
			return err
		}
	}
	return nil
}
