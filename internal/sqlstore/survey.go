package sqlstore

import (
	"context"
	"time"
)

// DeviatingAccounts says how many accounts are not what was sent for them.
func (v *view) DeviatingAccounts(ctx context.Context, supplier string) (count int64, err error) {
	err = v.one(ctx, `SELECT count(*) FROM (
			SELECT DISTINCT d.external FROM deviation d JOIN supplier s ON s.id = d.supplier_id WHERE s.code = $1 LIMIT 10000
		) AS known`, []any{supplier}, []any{&count})
	return count, err
}

// ClaimsAlive says how many accounts are being created, by supplier.
func (v *view) ClaimsAlive(ctx context.Context) (map[string]int64, error) {
	type claimed struct {
		supplier string
		count    int64
	}
	found, err := collect(ctx, v.session, func(scan scanner, c *claimed) error { return scan(&c.supplier, &c.count) },
		`SELECT s.code, count(*) FROM process p JOIN supplier s ON s.id = p.supplier_id
			WHERE p.state = 'claimed' AND p.claim_until > (SELECT {now}) GROUP BY s.code`)
	counts := make(map[string]int64, len(found))
	for _, one := range found {
		counts[one.supplier] = one.count
	}
	return counts, err
}

// SignedOffAt says when the reconciliation of each supplier was signed off last.
func (v *view) SignedOffAt(ctx context.Context) (map[string]time.Time, error) {
	type signed struct {
		supplier string
		at       int64
	}
	// One look into the index for each supplier, however many reports it has.
	found, err := collect(ctx, v.session, func(scan scanner, s *signed) error { return scan(&s.supplier, &s.at) },
		`SELECT s.code, o.signed_at FROM supplier s JOIN sign_off o ON o.id =
			(SELECT max(l.id) FROM sign_off l WHERE l.supplier_id = s.id)`)
	times := make(map[string]time.Time, len(found))
	for _, one := range found {
		times[one.supplier] = moment(one.at)
	}
	return times, err
}
