package sqlstore

import (
	"context"
	"time"

	"landfall"
)

// PurgeDue reports whether the next purge is due.
func (s *Store) PurgeDue(ctx context.Context) (due bool, err error) {
	err = s.stream(ctx, func(v *view) error {
		return v.one(ctx, `SELECT due_at <= {now} FROM purge_schedule WHERE id = 1`, nil, []any{&due})
	})
	return due, err
}

// StartPurge postpones a purge that is due by a lease. Other servers then see
// it as not due. If this server stops, the purge becomes due again.
func (s *Store) StartPurge(ctx context.Context, lease time.Duration) (bool, error) {
	return s.schedulePurge(ctx, `due_at = {now} + $1 WHERE id = 1 AND due_at <= {now}`, lease)
}

// ExtendPurge renews the lease of a purge.
func (s *Store) ExtendPurge(ctx context.Context, lease time.Duration) error {
	_, err := s.schedulePurge(ctx, `due_at = {now} + $1 WHERE id = 1`, lease)
	return err
}

// EndPurge records that a purge is complete and when the next one is due.
func (s *Store) EndPurge(ctx context.Context, next time.Duration) error {
	_, err := s.schedulePurge(ctx, `due_at = {now} + $1, ended_at = {now} WHERE id = 1`, next)
	return err
}

func (s *Store) schedulePurge(ctx context.Context, set string, next time.Duration) (updated bool, err error) {
	err = s.update(ctx, landfall.Key{}, func(t *tx) error {
		count, err := t.exec(ctx, `UPDATE purge_schedule SET `+set, next.Microseconds())
		updated = count > 0
		return err
	})
	return updated, err
}

// PurgeEnded returns when the last purge was completed.
func (v *view) PurgeEnded(ctx context.Context) (at time.Time, err error) {
	err = v.one(ctx, `SELECT ended_at FROM purge_schedule WHERE id = 1`, nil, []any{instantInto{&at}})
	return at, err
}
