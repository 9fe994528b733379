package sqlstore

import (
	"context"

	"landfall"
)

// refusedPage selects the refused deliveries of supplier $1 after the cursor ($3, $4),
// with whether each was refused longer ago than $2.
const refusedPage = `SELECT held.external, held.id, held.reply <> '' AND held.settled_at < (SELECT {now}) - $2 FROM target_delivery held
	WHERE held.supplier_id = $1 AND held.state = 'refused' AND (held.external, held.id) > ($3, $4)
	ORDER BY held.external, held.id LIMIT $5`

// purgeReplies removes what targets said when they refused deliveries, because it may
// repeat what was sent. That a delivery was refused stays.
func purgeReplies(ctx context.Context, s *Store, part *purgePage) (gone landfall.PurgeCounts, next landfall.PurgeCursor, more bool, err error) {
	gone.Failures, next, more, err = s.purgeDue(ctx, part, dueRows{
		page: refusedPage, args: []any{part.supplier, part.keep.Microseconds(), part.from.Name, part.from.Number, int64(purgeBatch)},
		read: func(scan scanner, next *landfall.PurgeCursor) (id int64, due bool, err error) {
			err = scan(&next.Name, &next.Number, &due)
			return next.Number, due, err
		},
		change: func(these string) string {
			return `UPDATE target_delivery SET reply = '' WHERE id IN (SELECT held.id FROM target_delivery held
				WHERE held.id` + these + ` AND held.state = 'refused' {for_update_skip})`
		},
	})
	return gone, next, more, err
}
