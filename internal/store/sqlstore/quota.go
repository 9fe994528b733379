package sqlstore

import (
	"context"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
)

const (
	quotaColumns        = `requests_per_second, bytes_per_day, revisions_per_account, tokens_per_minute, concurrent_creations`
	organisationColumns = `o.name, o.disabled, o.requests_per_second, o.bytes_per_day, o.revisions_per_account,
		o.tokens_per_minute, o.concurrent_creations, o.created_at`
)

// organisationTargets returns the scan targets of organisationColumns, except
// for the last.
func organisationTargets(o *landfall.Organisation) []any {
	q := &o.Quotas
	return []any{&o.Name, &o.Disabled, &q.RequestsPerSecond, &q.BytesPerDay, &q.RevisionsPerAccount,
		&q.TokensPerMinute, &q.ConcurrentCreations}
}

// SetQuotas replaces the quotas of an organisation.
func (t *tx) SetQuotas(ctx context.Context, name string, quotas landfall.Quotas) error {
	return orIfUnchanged(landfall.ErrNotFound)(t.exec(ctx, `UPDATE organisation SET requests_per_second = $2, bytes_per_day = $3,
		revisions_per_account = $4, tokens_per_minute = $5, concurrent_creations = $6 WHERE name = $1`,
		name, quotas.RequestsPerSecond, quotas.BytesPerDay, quotas.RevisionsPerAccount,
		quotas.TokensPerMinute, quotas.ConcurrentCreations))
}

// BytesSent returns how many bytes an organisation has sent on a day.
func (v *view) BytesSent(ctx context.Context, organisation, day string) (int64, error) {
	sent, err := collect(ctx, v.txSession, func(scan scanner, bytes *int64) error { return scan(bytes) },
		`SELECT bytes FROM organisation_usage WHERE organisation = $1 AND used_on = $2`, organisation, day)
	if err != nil || len(sent) == 0 {
		return 0, err
	}
	return sent[0], nil
}

// AddBytesSent adds to the bytes that an organisation has sent on a day.
func (t *tx) AddBytesSent(ctx context.Context, organisation, day string, bytes int64) (int64, error) {
	_, err := t.exec(ctx, `INSERT INTO organisation_usage (organisation, used_on, bytes) VALUES ($1, $2, $3)
		ON CONFLICT (organisation, used_on) DO UPDATE SET bytes = organisation_usage.bytes + excluded.bytes`,
		organisation, day, bytes)
	if err != nil {
		return 0, err
	}
	// Delete old days whenever something is added, so that no separate cleanup
	// is needed. The day comes from the caller, so the deletion never depends
	// on two clocks.
	if date, err := time.Parse(time.DateOnly, day); err == nil {
		if _, err := t.exec(ctx, `DELETE FROM organisation_usage WHERE organisation = $1 AND used_on < $2`,
			organisation, date.Add(-limits.UsageKept).Format(time.DateOnly)); err != nil {
			return 0, err
		}
	}
	return t.BytesSent(ctx, organisation, day)
}
