package sqlstore

import (
	"context"
	"maps"
	"slices"

	"landfall"
)

// slots counts the live claims against their limits.
type slots struct {
	service  int64                 // live claims of the whole service
	supplier map[string]claimLimit // by code, for suppliers with a limit
}

// claimLimit is the limit of a supplier and the number of its live claims.
type claimLimit struct{ limit, live int64 }

// admits reports whether a call can still be granted.
func (s *slots) admits(one *claimCall) bool {
	if limit := int64(one.wanted.ServiceLimit); limit > 0 && s.service >= limit {
		return false
	}
	supplier, limited := s.supplier[one.key.Supplier]
	return !limited || supplier.live < supplier.limit
}

// take counts a claim that this batch grants, so that the next call in it sees
// it.
func (s *slots) take(one *claimCall) {
	s.service++
	if supplier, limited := s.supplier[one.key.Supplier]; limited {
		supplier.live++
		s.supplier[one.key.Supplier] = supplier
	}
}

// claimCounted grants claims under limits. All transactions that count the same
// claims wait for the same lock, and see under it what the previous one
// granted.
func (t *tx) claimCounted(ctx context.Context, batch []*claimCall) error {
	// All transactions take the locks in the order of the supplier codes.
	slices.SortFunc(batch, func(a, b *claimCall) int { return compareKeys(a.key, b.key) })
	found, err := t.countClaims(ctx, batch)
	if err != nil {
		return err
	}
	var firm, dry []*claimCall
	for _, one := range batch {
		if one.wanted.DryRun {
			dry = append(dry, one)
		} else {
			firm = append(firm, one)
		}
	}
	if err := t.claimWithinLimits(ctx, firm, found); err != nil || len(dry) == 0 {
		return err
	}
	return t.peekCounted(ctx, dry, found)
}

// claimWithinLimits grants claims as far as the limits allow.
func (t *tx) claimWithinLimits(ctx context.Context, batch []*claimCall, found *slots) error {
	open := newPendingCalls(batch)
	for len(open.byKey) > 0 {
		// Calls that are refused for another reason take no slot, so there may
		// be another round.
		planned := slots{service: found.service, supplier: maps.Clone(found.supplier)}
		round := &openClaim{batch: batch, byKey: map[landfall.Key]*claimCall{}}
		for _, one := range batch {
			if open.byKey[one.key] == one && planned.admits(one) {
				planned.take(one)
				round.byKey[one.key] = one
			}
		}
		if len(round.byKey) == 0 {
			break
		}
		tried := maps.Clone(round.byKey)
		if err := t.grant(ctx, countedGrantQuery, round, found.take); err != nil {
			return err
		}
		if _, err := t.refuseClaims(ctx, round); err != nil {
			return err
		}
		for key, one := range round.byKey {
			// The process became free at this very moment; report that it was
			// taken.
			one.outcome = landfall.ClaimOutcome{Verdict: landfall.ClaimTaken}
			delete(round.byKey, key)
		}
		maps.DeleteFunc(open.byKey, func(key landfall.Key, _ *claimCall) bool { return tried[key] != nil })
	}
	// Over the limit is the last reason: an imported account is reported as
	// imported.
	if _, err := t.refuseClaims(ctx, open); err != nil {
		return err
	}
	for _, one := range open.byKey {
		one.outcome = landfall.ClaimOutcome{Verdict: landfall.ClaimOverLimit}
	}
	t.commitLazilyIfGranted(batch)
	return nil
}

// countClaims takes the locks, always in the same order, and counts.
func (t *tx) countClaims(ctx context.Context, batch []*claimCall) (*slots, error) {
	if slices.ContainsFunc(batch, func(one *claimCall) bool { return one.wanted.ServiceLimit > 0 }) {
		var id int64
		if err := t.one(ctx, `SELECT held.id FROM claim_counter held {hold}`, nil, []any{&id}); err != nil {
			return nil, err
		}
	}
	found := &slots{supplier: map[string]claimLimit{}}
	codes := map[string]bool{}
	for _, one := range batch { // sorted by code
		code := one.key.Supplier
		if codes[code] {
			continue
		}
		codes[code] = true
		held, err := collect(ctx, t.txSession, func(scan scanner, limit *int64) error { return scan(limit) },
			`SELECT held.concurrency_limit FROM supplier held WHERE held.code = $1 {hold}`, code)
		if err != nil {
			return nil, err
		}
		if len(held) > 0 && held[0] > 0 {
			found.supplier[code] = claimLimit{limit: held[0]}
		}
	}
	type count struct {
		code string
		live int64
	}
	// A dry run takes a slot like a claim does. One whose lease has ended takes
	// none, even if its row was not deleted yet.
	counts, err := collect(ctx, t.txSession, func(scan scanner, c *count) error { return scan(&c.code, &c.live) },
		`SELECT s.code, count(*) FROM (
			SELECT supplier_id FROM process WHERE state = 'claimed' AND claim_until > {now}
			UNION ALL SELECT supplier_id FROM dry_run_lease WHERE until > {now}
		) live JOIN supplier s ON s.id = live.supplier_id GROUP BY s.code`)
	for _, c := range counts {
		found.service += c.live
		if supplier, limited := found.supplier[c.code]; limited {
			supplier.live = c.live
			found.supplier[c.code] = supplier
		}
	}
	return found, err
}
