package sqlstore

import (
	"context"

	"landfall"
	"landfall/internal/store/sqlset"
)

// dueRows is a table of which a purge changes the rows that are due.
type dueRows struct {
	page string // selects purgeBatch rows after a cursor
	args []any  // of page
	// read reads a row of a page, moves the cursor to it and reports whether it is due.
	read func(scan scanner, next *landfall.PurgeCursor) (id int64, due bool, err error)
	// change returns the statement that changes the rows with these ids, if they are
	// still due.
	change func(these string) string
}

// purgeDue reads a page without a lock and changes what was due on it. It returns how
// many rows that were, and whether there may be another page.
func (s *Store) purgeDue(ctx context.Context, part *purgePage, rows dueRows) (gone int, next landfall.PurgeCursor, more bool, err error) {
	var ids []int64
	looked := 0
	err = s.stream(ctx, func(v *view) error {
		ids, looked = nil, 0
		_, err := collect(ctx, v.txSession, func(scan scanner, _ *struct{}) error {
			id, due, err := rows.read(scan, &next)
			if looked++; due {
				ids = append(ids, id)
			}
			return err
		}, rows.page, rows.args...)
		return err
	})
	if err != nil {
		return 0, landfall.PurgeCursor{}, false, err
	}
	gone = len(ids)
	if gone > 0 && !part.dry {
		err = s.update(ctx, landfall.Key{}, func(t *tx) error {
			these, list := sqlset.Among(t.engine, ids)
			count, err := t.exec(ctx, rows.change(these), list)
			gone = int(count)
			return err
		})
	}
	return gone, next, looked == purgeBatch, err
}
