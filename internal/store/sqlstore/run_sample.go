package sqlstore

import (
	"context"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
)

// SampleRuns records the progress of live runs. Replicas that do so at the same
// moment leave two samples, which does no harm.
func (t *tx) SampleRuns(ctx context.Context, every time.Duration) error {
	if _, err := t.exec(ctx, `INSERT INTO run_sample (run_id, at, state, done)
		SELECT r.id, clock.at, r.state,
			(SELECT CAST(coalesce(sum(l.succeeded + l.failed + l.refused), 0) AS BIGINT) FROM run_slice l WHERE l.run_id = r.id)
		FROM run r CROSS JOIN (SELECT {now} AS at) clock
		WHERE `+whereLive+` AND r.started_at IS NOT NULL
			AND NOT EXISTS (SELECT 1 FROM run_sample s WHERE s.run_id = r.id AND s.at > clock.at - $1)
		ON CONFLICT (run_id, at) DO NOTHING`, every.Microseconds()); err != nil {
		return err
	}
	_, err := t.exec(ctx, `DELETE FROM run_sample WHERE run_id IN
		(SELECT id FROM run WHERE ended_at < (SELECT {now}) - $1
			AND EXISTS (SELECT 1 FROM run_sample s WHERE s.run_id = run.id) ORDER BY id LIMIT 10)`, limits.RunSamples.Microseconds())
	return err
}

// RunSamples returns the progress of a run over time.
func (v *view) RunSamples(ctx context.Context, id string, since time.Time) ([]landfall.RunSample, error) {
	return collect(ctx, v.txSession, func(scan scanner, sample *landfall.RunSample) error {
		return scan(instantInto{&sample.At}, &sample.State, &sample.Done)
	}, `SELECT s.at, s.state, s.done FROM run_sample s JOIN run r ON r.id = s.run_id
		WHERE r.number = $1 AND s.at >= $2 ORDER BY s.at`, id, since.UnixMicro())
}

// InProgress counts the accounts that are being created, by supplier.
func (v *view) InProgress(ctx context.Context) (map[string]int64, error) {
	type counted struct {
		code  string
		count int64
	}
	rows, err := collect(ctx, v.txSession, func(scan scanner, row *counted) error { return scan(&row.code, &row.count) },
		`SELECT s.code, count(*) FROM process p JOIN supplier s ON s.id = p.supplier_id
			WHERE p.state = 'claimed' AND p.claim_until > (SELECT {now}) GROUP BY s.code`)
	found := make(map[string]int64, len(rows))
	for _, row := range rows {
		found[row.code] = row.count
	}
	return found, err
}

// Replicas returns the servers that were seen within a time.
func (v *view) Replicas(ctx context.Context, within time.Duration) ([]landfall.Replica, error) {
	return collect(ctx, v.txSession, func(scan scanner, r *landfall.Replica) error {
		return scan(&r.ID, &r.Host, &r.Version, &r.Doing, instantInto{&r.StartedAt}, instantInto{&r.SeenAt})
	}, `SELECT id, host, version, doing, started_at, seen_at FROM replica WHERE seen_at > (SELECT {now}) - $1 ORDER BY started_at, id`, within.Microseconds())
}

// TouchReplica records that a server is alive.
func (t *tx) TouchReplica(ctx context.Context, replica landfall.Replica) error {
	key := ""
	if t.sealer != nil {
		key = t.sealer.Writer()
	}
	if _, err := t.exec(ctx, `INSERT INTO replica (id, host, version, started_at, seen_at, key_id, doing) VALUES ($1, $2, $3, {now}, {now}, $4, $5)
		ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at, doing = excluded.doing`, replica.ID, replica.Host, replica.Version, key, replica.Doing); err != nil {
		return err
	}
	_, err := t.exec(ctx, `DELETE FROM replica WHERE seen_at < (SELECT {now}) - 86400000000`)
	return err
}

// RemoveReplica records that a server has stopped.
func (t *tx) RemoveReplica(ctx context.Context, id string) error {
	_, err := t.exec(ctx, `DELETE FROM replica WHERE id = $1`, id)
	return err
}
