package sqlstore

import (
	"context"

	"landfall"
)

// settledMails selects the mails of a supplier that were settled longer ago
// than $2. Purged mails leave the index it uses.
const settledMails = `SELECT held.id, held.settled_at FROM mail held
	WHERE held.supplier = $1 AND held.due_at IS NULL AND held.purged_at IS NULL
		AND held.settled_at < (SELECT {now}) - $2 AND (held.settled_at, held.id) > ($3, $4)
	ORDER BY held.settled_at, held.id LIMIT $5`

// purgeMails removes the recipients of mails and what the mail server replied.
// That a mail existed, when, and what became of it stays, so that nobody is
// mailed twice.
func purgeMails(ctx context.Context, s *Store, part *purgePage) (gone landfall.PurgeCounts, next landfall.PurgeCursor, more bool, err error) {
	gone.Mails, next, more, err = s.purgeDue(ctx, part, dueRows{
		page: settledMails, args: []any{part.code, part.keep.Microseconds(), part.from.At, part.from.Number, int64(purgeBatch)},
		read: func(scan scanner, next *landfall.PurgeCursor) (id int64, due bool, err error) {
			err = scan(&next.Number, &next.At)
			return next.Number, true, err
		},
		change: func(these string) string {
			return `UPDATE mail SET recipient = 'gone ' || CAST(id AS TEXT), reply = '', purged_at = {now}
				WHERE id IN (SELECT held.id FROM mail held WHERE held.id` + these + ` AND held.due_at IS NULL AND held.purged_at IS NULL {for_update_skip})`
		},
	})
	return gone, next, more, err
}
