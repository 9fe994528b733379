package quota

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"landfall"
)

// dayCount is what an organisation sent on one day, by UTC.
type dayCount struct {
	organisation string
	date         string       // YYYY-MM-DD
	known        atomic.Int64 // on all servers, when last read
	pending      atomic.Int64 // on this server, not yet stored
}

func (d *dayCount) taken() int64 { return d.known.Load() + d.pending.Load() }

// today returns the count of an organisation. Where bytes are limited, a server
// that has not seen the organisation today reads what the others counted.
func (k *Tracker) today(ctx context.Context, who landfall.Principal, now time.Time) (*dayCount, error) {
	date := now.UTC().Format(time.DateOnly)
	k.mu.Lock()
	found := k.days[who.Organisation]
	k.mu.Unlock()
	if found != nil && found.date == date {
		return found, nil
	}
	fresh := &dayCount{organisation: who.Organisation, date: date}
	if who.Quotas.BytesPerDay > 0 {
		if err := k.store.View(ctx, func(view landfall.View) error {
			sent, err := view.BytesSent(ctx, who.Organisation, date)
			fresh.known.Store(sent)
			return err
		}); err != nil {
			return nil, err
		}
	}
	if found != nil {
		_ = k.flush(ctx, found) // yesterday's remaining bytes; lost if the database is unavailable now
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if raced := k.days[who.Organisation]; raced != nil && raced.date == date {
		return raced, nil
	}
	if len(k.days) < maxOrganisations {
		k.days[who.Organisation] = fresh
	}
	return fresh, nil
}

// BytesLeft returns how many bytes an organisation may still send today.
func (k *Tracker) BytesLeft(ctx context.Context, who landfall.Principal) (int64, error) {
	today, err := k.today(ctx, who, k.clock())
	if err != nil {
		return 0, err
	}
	return max(0, who.Quotas.BytesPerDay-today.taken()), nil
}

// FlushBytes stores the bytes received since the last call, and reads what the
// other servers counted. A server that is killed loses what it has not stored.
func (k *Tracker) FlushBytes(ctx context.Context) error {
	k.mu.Lock()
	days := make([]*dayCount, 0, len(k.days))
	for _, day := range k.days {
		days = append(days, day)
	}
	k.mu.Unlock()
	var failed error
	for _, day := range days {
		failed = errors.Join(failed, k.flush(ctx, day))
	}
	return failed
}

func (k *Tracker) flush(ctx context.Context, day *dayCount) error {
	sent := day.pending.Swap(0)
	if sent == 0 {
		return nil
	}
	var total int64
	err := k.store.Update(ctx, func(tx landfall.Tx) (err error) {
		total, err = tx.AddBytesSent(ctx, day.organisation, day.date, sent)
		return err
	})
	if err != nil {
		day.pending.Add(sent)
		return err
	}
	day.known.Store(total)
	return nil
}

// untilTomorrow is how long the day lasts, by UTC.
func untilTomorrow(now time.Time) time.Duration {
	const day = 24 * time.Hour
	return now.UTC().Truncate(day).Add(day).Sub(now)
}
