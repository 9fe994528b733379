package sqlstore

import (
	"context"

	"landfall"
	"landfall/internal/store/sqlset"
)

// refusedPage selects the refused deliveries of supplier $1 after the cursor ($3, $4),
// with whether each was refused longer ago than $2.
const refusedPage = `SELECT held.external, held.id, held.reply <> '' AND held.settled_at < (SELECT {now}) - $2 FROM target_delivery held
	WHERE held.supplier_id = $1 AND held.state = 'refused' AND (held.external, held.id) > ($3, $4)
	ORDER BY held.external, held.id LIMIT $5`

// purgeReplies removes what targets said when they refused deliveries, because it may
// repeat what was sent. That a delivery was refused stays.
func purgeReplies(ctx context.Context, s *Store, part *purgePage) (gone landfall.PurgeCounts, next landfall.PurgeCursor, more bool, err error) {
	var due []int64
	looked := 0
	err = s.stream(ctx, func(v *view) error {
		due, looked = nil, 0
		_, err := collect(ctx, v.txSession, func(scan scanner, _ *struct{}) error {
			var old bool
			if err := scan(&next.Name, &next.Number, &old); err != nil {
				return err
			}
			if looked++; old {
				due = append(due, next.Number)
			}
			return nil
		}, refusedPage, part.supplier, part.keep.Microseconds(), part.from.Name, part.from.Number, int64(purgeBatch))
		return err
	})
	if err != nil {
		return landfall.PurgeCounts{}, landfall.PurgeCursor{}, false, err
	}
	gone.Failures = len(due)
	if len(due) > 0 && !part.dry {
		err = s.update(ctx, landfall.Key{}, func(t *tx) error {
			these, list := sqlset.Among(t.engine, due)
			count, err := t.exec(ctx, `UPDATE target_delivery SET reply = '' WHERE id IN (SELECT held.id FROM target_delivery held
				WHERE held.id`+these+` AND held.state = 'refused' {for_update_skip})`, list)
			gone.Failures = int(count)
			return err
		})
	}
	return gone, next, looked == purgeBatch, err
}
