package sqlstore

import (
	"context"
	"slices"

	"landfall"
	"landfall/internal/store/engine"
	"landfall/internal/store/sqlset"
)

// slots counts the live claims against their limits.
type slots struct {
	service  int64                 // live claims of the whole service
	supplier map[string]claimLimit // by code, for suppliers with a limit
	locked   map[string]bool       // by code, whether this transaction may count; "" is the service
}

// claimLimit is the limit of a supplier and the number of its live claims.
type claimLimit struct{ limit, live int64 }

// admits reports whether a call can still be granted.
func (s *slots) admits(one *claimCall) bool {
	if limit := int64(one.Wanted.ServiceLimit); limit > 0 && s.service >= limit {
		return false
	}
	supplier, limited := s.supplier[one.Key.Supplier]
	return !limited || supplier.live < supplier.limit
}

// take counts a claim that this batch grants, so that the next call in it sees
// it.
func (s *slots) take(one *claimCall) {
	s.service++
	if supplier, limited := s.supplier[one.Key.Supplier]; limited {
		supplier.live++
		s.supplier[one.Key.Supplier] = supplier
	}
}

// claimCounted grants claims under limits. Transactions that count the same
// claims run one after the other, and each sees what the previous one granted.
// None waits for another inside the database, where it would keep a connection
// from others: its calls come back.
func (t *tx) claimCounted(ctx context.Context, batch []*claimCall) error {
	found, err := t.lockLimits(ctx, batch)
	if err != nil {
		return err
	}
	var firm, dry []*claimCall
	for _, one := range batch {
		switch {
		case found.busy(one):
			one.Outcome, one.Err = landfall.ClaimOutcome{Verdict: claimMustWait}, nil
		case one.Wanted.DryRun:
			dry = append(dry, one)
		default:
			firm = append(firm, one)
		}
	}
	if len(firm)+len(dry) == 0 {
		return engine.ErrUndone
	}
	if err := t.claimWithinLimits(ctx, firm); err != nil || len(dry) == 0 {
		return err
	}
	if err := t.countClaims(ctx, found); err != nil {
		return err
	}
	return t.peekCounted(ctx, dry, found)
}

// claimWithinLimits grants claims as far as the limits allow.
func (t *tx) claimWithinLimits(ctx context.Context, batch []*claimCall) error {
	open := sqlset.NewPending(batch)
	// Calls that are refused for another reason take no slot, so there may be
	// another round.
	for round := 1; len(open.ByKey) > 0 && round <= 3; round++ {
		if err := t.grant(ctx, countedGrantQuery, open); err != nil {
			return err
		}
		left := len(open.ByKey)
		// Over the limit is the last reason: an imported account is reported as
		// imported.
		if _, err := t.refuseClaims(ctx, open); err != nil {
			return err
		}
		if len(open.ByKey) == left {
			break
		}
	}
	for _, one := range open.ByKey {
		one.Outcome = landfall.ClaimOutcome{Verdict: landfall.ClaimOverLimit}
	}
	t.commitLazilyIfGranted(batch)
	return nil
}

// limitLocks reads the limits of suppliers and tries to lock each supplier that
// has one. The row without a name is for the limit of the whole service. The
// first number keeps these locks apart from others.
var limitLocks = sqlset.NewQuery(`
	SELECT s.code, s.concurrency_limit, s.concurrency_limit = 0 OR {try_lock}(1668047213, CAST(s.id AS INTEGER))
	FROM wanted w JOIN supplier s ON s.code = w.supplier
	UNION ALL SELECT w.supplier, 0, {try_lock}(1668047213, 0) FROM wanted w WHERE w.supplier = ''`, "supplier text")

// lockLimits locks the limits that the calls of a batch count against.
func (t *tx) lockLimits(ctx context.Context, batch []*claimCall) (*slots, error) {
	found := &slots{supplier: map[string]claimLimit{}, locked: map[string]bool{}}
	var codes []string
	for _, one := range batch {
		codes = append(codes, one.Key.Supplier)
		if one.Wanted.ServiceLimit > 0 {
			codes = append(codes, "")
		}
	}
	slices.Sort(codes)
	var rows []any
	for _, code := range slices.Compact(codes) {
		rows = append(rows, code)
	}
	text, args := limitLocks.For(t.engine, rows)
	type lock struct {
		code  string
		limit int64
		taken bool
	}
	locks, err := collect(ctx, t.txSession, func(scan scanner, l *lock) error { return scan(&l.code, &l.limit, &l.taken) }, text, args...)
	for _, l := range locks {
		if l.limit > 0 {
			found.supplier[l.code] = claimLimit{limit: l.limit}
		}
		found.locked[l.code] = l.taken
	}
	return found, err
}

// busy reports whether another transaction counts the same claims right now.
func (s *slots) busy(one *claimCall) bool {
	taken, known := s.locked[one.Key.Supplier]
	return known && !taken || one.Wanted.ServiceLimit > 0 && !s.locked[""]
}

// liveClaims selects the suppliers of all claims that count. A dry run takes a slot
// like a claim does. One whose lease has ended takes none, even if its row was not
// deleted yet.
const liveClaims = `SELECT supplier_id FROM process WHERE state = 'claimed' AND claim_until > {now}
	UNION ALL SELECT supplier_id FROM dry_run_lease WHERE until > {now}`

// countClaims counts live claims. It must be a statement after the one that
// took the locks, or it would not see what the previous holder granted.
func (t *tx) countClaims(ctx context.Context, found *slots) error {
	type count struct {
		code string
		live int64
	}
	counts, err := collect(ctx, t.txSession, func(scan scanner, c *count) error { return scan(&c.code, &c.live) },
		`SELECT s.code, count(*) FROM (`+liveClaims+`) live JOIN supplier s ON s.id = live.supplier_id GROUP BY s.code`)
	for _, c := range counts {
		found.service += c.live
		if supplier, limited := found.supplier[c.code]; limited {
			supplier.live = c.live
			found.supplier[c.code] = supplier
		}
	}
	return err
}
