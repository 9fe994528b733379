package sqlstore

import (
	"context"
	"time"
)

// DeviatingAccounts returns how many accounts differ from what was sent for
// them.
func (v *view) DeviatingAccounts(ctx context.Context, supplier string) (count int64, err error) {
	err = v.one(ctx, `SELECT count(*) FROM (
			SELECT DISTINCT d.external FROM deviation d JOIN supplier s ON s.id = d.supplier_id WHERE s.code = $1 LIMIT 10000
		) AS known`, []any{supplier}, []any{&count})
	return count, err
}

// SignedOffAt returns when each supplier's reconciliation was last signed off.
func (v *view) SignedOffAt(ctx context.Context) (map[string]time.Time, error) {
	type signed struct {
		supplier string
		at       int64
	}
	// One index lookup for each supplier, no matter how many reports it has.
	found, err := collect(ctx, v.txSession, func(scan scanner, s *signed) error { return scan(&s.supplier, &s.at) },
		`SELECT s.code, o.signed_at FROM supplier s JOIN sign_off o ON o.id =
			(SELECT max(l.id) FROM sign_off l WHERE l.supplier_id = s.id)`)
	times := make(map[string]time.Time, len(found))
	for _, one := range found {
		times[one.supplier] = moment(one.at)
	}
	return times, err
}
