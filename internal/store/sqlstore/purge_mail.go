package sqlstore

import (
	"context"

	"landfall"
	"landfall/internal/store/sqlset"
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
	var due []int64
	err = s.stream(ctx, func(v *view) (err error) {
		due, err = collect(ctx, v.txSession, func(scan scanner, id *int64) error {
			err := scan(id, &next.At)
			next.Number = *id
			return err
		}, settledMails, part.code, part.keep.Microseconds(), part.from.At, part.from.Number, int64(purgeBatch))
		return err
	})
	if err != nil {
		return landfall.PurgeCounts{}, landfall.PurgeCursor{}, false, err
	}
	gone.Mails = len(due)
	if len(due) > 0 && !part.dry {
		err = s.update(ctx, landfall.Key{}, func(t *tx) error {
			these, list := sqlset.Among(t.engine, due)
			count, err := t.exec(ctx, `UPDATE mail SET recipient = 'gone ' || CAST(id AS TEXT), reply = '', purged_at = {now}
				WHERE id IN (SELECT held.id FROM mail held WHERE held.id`+these+` AND held.due_at IS NULL AND held.purged_at IS NULL {for_update_skip})`, list)
			gone.Mails = int(count)
			return err
		})
	}
	return gone, next, len(due) == purgeBatch, err
}
