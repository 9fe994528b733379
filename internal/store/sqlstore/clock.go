package sqlstore

import (
	"context"
	"slices"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
)

// movedBack lists the instants that something waits for. After the clock was
// set back by $1, each of them that now lies ahead moves back as far, so that
// nothing waits longer than before. An instant that is written while the tables
// are being moved becomes due too early, which only means that a lease ends
// early or something is tried again sooner. What only says when something
// happened stays, and so does what people chose: the windows of runs and the
// ends of API keys.
var movedBack = []string{
	`UPDATE process SET claim_until = claim_until - $1 WHERE state = 'claimed' AND claim_until > {now}`,
	`UPDATE dry_run_lease SET until = until - $1 WHERE until > {now}`,
	`UPDATE run_slice SET until = until - $1 WHERE done = FALSE AND until > {now}`,
	`UPDATE run_slice SET next_at = next_at - $1 WHERE done = FALSE AND next_at > {now}`,
	`UPDATE run SET running_since = running_since - $1 WHERE state IN ('WAITING', 'RUNNING', 'PAUSED') AND running_since > {now}`,
	`UPDATE webhook SET due_at = due_at - $1 WHERE due_at > {now}`,
	`UPDATE webhook SET lease_until = lease_until - $1 WHERE lease_until > {now}`,
	`UPDATE webhook_delivery SET due_at = due_at - $1 WHERE due_at > {now}`,
	`UPDATE target SET due_at = due_at - $1 WHERE due_at > {now}`,
	`UPDATE target SET lease_until = lease_until - $1 WHERE lease_until > {now}`,
	`UPDATE target_delivery SET due_at = due_at - $1 WHERE due_at > {now}`,
	`UPDATE mail SET due_at = due_at - $1 WHERE due_at > {now}`,
	`UPDATE mail_sender SET free_at = free_at - $1 WHERE free_at > {now}`,
	`UPDATE mail_sender SET open_until = open_until - $1 WHERE open_until > {now}`,
	`UPDATE purge_schedule SET due_at = due_at - $1 WHERE due_at > {now}`,
	`UPDATE operator_session SET ends_at = ends_at - $1 WHERE ends_at > {now}`,
	`UPDATE operator_session SET seen_at = seen_at - $1 WHERE seen_at > {now}`,
	`UPDATE api_key SET used_at = used_at - $1 WHERE used_at > {now}`,
	`UPDATE replica SET seen_at = seen_at - $1 WHERE seen_at > {now}`,
}

// movedWithServer lists the instants that servers take from their own clock. It
// is the database's clock only if the database is embedded.
var movedWithServer = []string{
	`UPDATE service_token SET expires_at = expires_at - $1 WHERE expires_at > {now}`,
	`UPDATE token_family SET ends_at = ends_at - $1 WHERE ends_at > {now}`,
	`UPDATE operator SET invitation_ends_at = invitation_ends_at - $1 WHERE invitation_ends_at > {now}`,
}

// toMoveBack returns the statements that move instants of this database.
func (s *Store) toMoveBack() []string {
	if s.db.Embedded() {
		return slices.Concat(movedBack, movedWithServer)
	}
	return movedBack
}

// CheckClock looks at the clock, and moves instants back after it was set back.
// The row that it locks makes sure that only one server does.
func (s *Store) CheckClock(ctx context.Context) (landfall.ClockReading, error) {
	var found landfall.ClockReading
	var jump, moved int64
	err := s.update(ctx, landfall.Key{}, func(t *tx) error {
		var seen, now int64
		found.SetBack = 0
		if err := t.one(ctx, `SELECT held.seen_at, held.jump, held.moved, {now} FROM database_clock held WHERE held.id = 1 {for_update}`, nil,
			[]any{&seen, &jump, &moved, &now}); err != nil {
			return err
		}
		found.Now = moment(now)
		// A small step back is usual, and ends no lease that matters.
		if back := seen - now; back > limits.ClockSlack.Microseconds() {
			found.SetBack = time.Duration(back) * time.Microsecond
			jump, moved = -back, 0
			_, err := t.exec(ctx, `UPDATE database_clock SET seen_at = $1, jumped_at = $1, jump = $2, moved = 0 WHERE id = 1`, now, jump)
			return err
		}
		_, err := t.exec(ctx, `UPDATE database_clock SET seen_at = $1 WHERE id = 1`, now)
		return err
	})
	for err == nil && int(moved) < len(s.toMoveBack()) {
		moved, err = s.moveBack(ctx, moved, -jump)
	}
	return found, err
}

// moveBack moves the instants of one table, unless another server has done so.
func (s *Store) moveBack(ctx context.Context, table, by int64) (next int64, err error) {
	err = s.update(ctx, landfall.Key{}, func(t *tx) error {
		next = table + 1
		count, err := t.exec(ctx, `UPDATE database_clock SET moved = $1 WHERE id = 1 AND moved = $2 AND jump = $3`, next, table, -by)
		if err != nil || count == 0 {
			next = int64(len(s.toMoveBack())) // another server is at it
			return err
		}
		_, err = t.exec(ctx, s.toMoveBack()[table], by)
		return err
	})
	return next, err
}

// RecordClockJump records a jump ahead.
func (s *Store) RecordClockJump(ctx context.Context, by time.Duration) error {
	return s.update(ctx, landfall.Key{}, func(t *tx) error {
		_, err := t.exec(ctx, `UPDATE database_clock SET jumped_at = {now}, jump = $1 WHERE id = 1 AND moved >= $2`,
			by.Microseconds(), int64(len(s.toMoveBack())))
		return err
	})
}

// LastClockJump returns the last jump of the clock.
func (s *Store) LastClockJump(ctx context.Context) (landfall.ClockJump, error) {
	var found landfall.ClockJump
	var by int64
	err := s.stream(ctx, func(v *view) error {
		return v.one(ctx, `SELECT jumped_at, jump FROM database_clock WHERE id = 1`, nil, []any{instantInto{&found.At}, &by})
	})
	found.By = time.Duration(by) * time.Microsecond
	return found, err
}
