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

// settlement is what became of some members of a slice, on its way into the
// database.
type settlement struct {
	slice    landfall.RunSlice
	wanted   *landfall.Settlement
	creates  map[int]*createCall  // by ordinal
	releases map[int]*releaseCall // as well
	settled  landfall.SettleResult
	err      error // of this settlement alone
}

// SettleSlice writes what became of some members of a slice.
func (s *Store) SettleSlice(ctx context.Context, slice landfall.RunSlice, wanted landfall.Settlement) (landfall.SettleResult, error) {
	mine := &settlement{slice: slice, wanted: &wanted, creates: map[int]*createCall{}, releases: map[int]*releaseCall{}}
	weight := releaseWeight * (len(wanted.Failed) + len(wanted.Refused) + len(wanted.Released))
	for i := range wanted.Created {
		one := &wanted.Created[i]
		if err := writable(&one.Creation.Account); err != nil {
			return landfall.SettleResult{}, err
		}
		ready, err := s.prepared(&one.Creation)
		if err != nil {
			return landfall.SettleResult{}, err
		}
		weight += creationWeight(&one.Creation.Account)
		mine.creates[one.Ordinal] = &createCall{key: one.Creation.Claim.Key, wanted: ready}
	}
	for _, one := range wanted.Failed {
		ended, err := newRelease(one.Claim, one.Attempt)
		if err != nil {
			return landfall.SettleResult{}, err
		}
		mine.releases[one.Ordinal] = &releaseCall{key: one.Claim.Key, wanted: ended}
	}
	err := s.settlements.Do(ctx, &engine.Call{
		Tenant: tenant(ctx, landfall.Key{Supplier: slice.Run.Plan.Supplier}), Weight: weight, Work: mine,
	})
	if err == nil {
		err = mine.err
	}
	if err != nil {
		return landfall.SettleResult{}, translate(err)
	}
	return mine.settled, nil
}

// settleAll settles what travels in one transaction; the slices are different.
func (s *Store) settleAll(ctx context.Context, et *engine.Tx, calls []*engine.Call) error {
	t := s.tx(et)
	for _, one := range calls {
		work := one.Work.(*settlement) //nolint:forcetypeassert // SettleSlice made it
		// A group that fell is run again, and what an earlier try said does not
		// count.
		work.err = nil
		err := s.settle(ctx, t, work)
		if errors.Is(err, landfall.ErrFenced) || errors.Is(err, landfall.ErrRevoked) {
			work.err, err = err, nil // that was found before anything was written
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// claims gives everything that a settlement holds.
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

// standingSlice is what a settlement finds.
type standingSlice struct {
	run, now int64
	stop     bool
}

// settle first asks for the key on whose behalf the run acts: once that is revoked,
// nothing is made in its name.
func (s *Store) settle(ctx context.Context, t *tx, work *settlement) error {
	dead, err := t.revoked(ctx, &s.keys, []string{work.slice.Run.ActsFor.KeyID})
	if err != nil {
		return err
	}
	if len(dead) > 0 {
		// What it held is free again: accounts shall not wait for a lease
		// because a key was revoked.
		return errors.Join(t.releaseAll(ctx, work.claims()), landfall.ErrRevoked)
	}
	found, err := t.holdSlice(ctx, work.slice)
	if err != nil {
		return err
	}
	// A settlement whose answer was lost is sent again: what has its outcome
	// already is left alone.
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
	return t.keepTally(ctx, work.slice, tally)
}

// holdSlice keeps everybody else from a slice, or answers ErrFenced when it is
// no longer its holder's.
func (t *tx) holdSlice(ctx context.Context, slice landfall.RunSlice) (standingSlice, error) {
	// Whether the run is to stop is read along: its workers hear of it with their
	// next batch and have nothing else to ask.
	var found standingSlice
	err := t.one(ctx, `SELECT held.run_id, {now}, r.state <> 'RUNNING' OR r.cancelling = TRUE OR r.reason <> ''
			OR coalesce(r.not_after < {now}, FALSE) OR s.status <> 'Ongoing'
		FROM run_slice held JOIN run r ON r.id = held.run_id JOIN supplier s ON s.id = r.supplier_id
		WHERE r.number = $1 AND held.slice = $2 AND held.token = $3 AND held.until > {now} {hold}`,
		[]any{slice.Run.ID, int64(slice.Number), slice.Token}, []any{&found.run, &found.now, &found.stop})
	if errors.Is(err, landfall.ErrNotFound) {
		return found, landfall.ErrFenced
	}
	return found, err
}

// openMembers says which of the members a settlement is about have no outcome.
func (t *tx) openMembers(ctx context.Context, run int64, work *settlement) (map[int]bool, error) {
	// The members of a slice are numbered through, so one range covers them, and the
	// statement is the same however many there are.
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

// settleCreated writes accounts as Create does. Where there is none afterwards
// the member stays open.
func (s *Store) settleCreated(ctx context.Context, t *tx, work *settlement, open map[int]bool, tally *runOutcomes) error {
	var batch []*createCall
	for _, one := range work.wanted.Created {
		call := work.creates[one.Ordinal]
		// A member that has its outcome already is created by nobody again, and the
		// answer of an earlier try must not be taken for one of this.
		call.outcome = landfall.CreateOutcome{Verdict: landfall.CreateFenced}
		if open[one.Ordinal] {
			batch = append(batch, call)
		}
	}
	slices.SortFunc(batch, func(a, b *createCall) int { return compareKeys(a.key, b.key) })
	together := sqlset.MaxBatch
	if t.engine.Arrays() {
		together = longestGroup
	}
	create := s.create
	if work.slice.Run.Plan.DryRun {
		create = s.dryRun
	}
	for part := range slices.Chunk(batch, together) {
		if err := create(t, ctx, part); err != nil {
			return err
		}
	}
	work.settled.Created = make([]landfall.CreateOutcome, len(work.wanted.Created))
	for i, one := range work.wanted.Created {
		outcome := work.creates[one.Ordinal].outcome
		work.settled.Created[i] = outcome
		if outcome.Verdict == landfall.Created || outcome.Verdict == landfall.CreateRolledBack {
			tally.add(one.Ordinal, "succeeded")
		}
	}
	return nil
}

// settleFailed ends claims as Release does, and keeps the failures that are
// outcomes for the run as well.
func (t *tx) settleFailed(ctx context.Context, work *settlement, open map[int]bool, tally *runOutcomes) error {
	var batch []*releaseCall
	for _, one := range work.wanted.Failed {
		if open[one.Ordinal] {
			batch = append(batch, work.releases[one.Ordinal])
		}
	}
	slices.SortFunc(batch, func(a, b *releaseCall) int { return compareKeys(a.key, b.key) })
	for part := range slices.Chunk(batch, sqlset.MaxBatch) {
		if err := t.release(ctx, part); err != nil {
			return err
		}
	}
	for _, one := range work.wanted.Failed {
		call := work.releases[one.Ordinal]
		// A failure after which it is tried again is no outcome: the member stays
		// open.
		if !open[one.Ordinal] || !one.Final || call.err != nil {
			continue
		}
		tally.add(one.Ordinal, "failed")
		tally.failures.Add(tally.run, one.Claim.Key.External, tally.now, call.wanted.failure)
	}
	return nil
}

// unclaims gives claims back as if they had never been.
var unclaims = sqlset.NewQuery(`
	UPDATE process SET state = 'staged', claim_token = NULL, claim_until = NULL
	FROM wanted w JOIN supplier s ON s.code = w.supplier
	WHERE process.supplier_id = s.id AND process.external = w.external AND process.claim_token = w.token`,
	"supplier text", "external text", "token text")

// withoutToken says that a claim holds nothing that could be let go.
func withoutToken(claim landfall.Claim) bool { return claim.Token == "" }

// releaseAll goes in the order of the keys, as everybody does who locks several.
func (t *tx) releaseAll(ctx context.Context, claims []landfall.Claim) error {
	claims = slices.DeleteFunc(slices.Clone(claims), withoutToken)
	slices.SortFunc(claims, func(a, b landfall.Claim) int { return compareKeys(a.Key, b.Key) })
	for part := range slices.Chunk(claims, sqlset.MaxBatch) {
		// A run is a rehearsal or it is none, so the first claim speaks for all of
		// them.
		if part[0].DryRun {
			for _, claim := range part {
				if err := t.endRehearsal(ctx, claim.Token); err != nil {
					return err
				}
			}
			continue
		}
		var rows []any
		for _, claim := range part {
			rows = append(rows, claim.Key.Supplier, claim.Key.External, claim.Token)
		}
		text, args := unclaims.For(t.engine, rows)
		if _, err := t.exec(ctx, text, args...); err != nil {
			return err
		}
	}
	return nil
}
