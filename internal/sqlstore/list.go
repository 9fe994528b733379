package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"math"

	"landfall"
)

// lists holds one text per filter. The order is that of the index, so rows
// leave the database as they are read.
var lists = map[landfall.ProcessFilter]string{
	landfall.AllProcesses:      listOf(`p.state <> 'skipped'`),
	landfall.PendingProcesses:  listOf(`p.state IN ('staged', 'claimed')`),
	landfall.ImportedProcesses: listOf(`p.state = 'imported'`),
	landfall.SkippedProcesses:  listOf(`p.state = 'skipped'`),
}

func listOf(condition string) string {
	return `SELECT p.external, p.first_staged_at, p.account_number, p.account_created_at FROM process p
		WHERE p.supplier_id = $1 AND (p.first_staged_at, p.external) > ($2, $3) AND ` + condition + `
		ORDER BY p.first_staged_at, p.external LIMIT $4`
}

// errStopped ends a list whose reader has left the loop.
var errStopped = errors.New("the reader has enough")

// List streams a supplier's processes in the order of first staging.
func (s *Store) List(ctx context.Context, query landfall.ProcessQuery) iter.Seq2[landfall.ProcessEntry, error] {
	return func(yield func(landfall.ProcessEntry, error) bool) {
		// Leaving the loop must end the query, not read the rest of it.
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		err := s.engine.stream(ctx, func(session *session) error {
			return (&view{session}).list(ctx, query, func(entry landfall.ProcessEntry) error {
				if !yield(entry, nil) {
					cancel()
					return errStopped
				}
				return nil
			})
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(landfall.ProcessEntry{}, err)
		}
	}
}

func (v *view) list(ctx context.Context, query landfall.ProcessQuery, each func(landfall.ProcessEntry) error) error {
	var supplier int64
	err := v.one(ctx, `SELECT id FROM supplier WHERE code = $1`, []any{query.Supplier}, []any{&supplier})
	if errors.Is(err, landfall.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	after, external, limit := int64(math.MinInt64), "", int64(math.MaxInt64)
	if query.After != nil {
		after, external = query.After.FirstStagedAt.UnixMicro(), query.After.External
	}
	if query.Limit > 0 {
		limit = int64(query.Limit)
	}
	rows, err := v.query(ctx, lists[query.Filter], supplier, after, external, limit)
	if err != nil {
		return err
	}
	defer rows.Close()
	var first int64
	var number sql.NullString
	var created sql.NullInt64
	for rows.Next() {
		var entry landfall.ProcessEntry
		if err := rows.Scan(&entry.External, &first, &number, &created); err != nil {
			return v.note(err)
		}
		entry.FirstStagedAt = moment(first)
		if number.Valid {
			entry.AccountNumber, entry.AccountCreatedAt = number.String, instant(created)
		}
		if err := each(entry); err != nil {
			return err
		}
	}
	return v.note(rows.Err())
}
