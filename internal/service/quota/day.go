package quota

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"landfall"
)

// day is what one organisation has sent on one day, by UTC.
type day struct {
	organisation string
	date         string       // YYYY-MM-DD
	known        atomic.Int64 // of all servers, when we last asked
	pending      atomic.Int64 // of this one, not yet written down
}

func (d *day) taken() int64 { return d.known.Load() + d.pending.Load() }

// today gives the day of an organisation. Where bytes are limited, a server
// that has not seen the organisation today asks what the others have.
func (k *Keeper) today(ctx context.Context, who landfall.Principal, now time.Time) (*day, error) {
	date := now.UTC().Format(time.DateOnly)
	k.mu.Lock()
	found := k.days[who.Organisation]
	k.mu.Unlock()
	if found != nil && found.date == date {
		return found, nil
	}
	fresh := &day{organisation: who.Organisation, date: date}
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
		_ = k.keep(ctx, found) // what is left of yesterday; what cannot be kept now is with the next
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if raced := k.days[who.Organisation]; raced != nil && raced.date == date {
		return raced, nil
	}
	if len(k.days) < mostOrganisations {
		k.days[who.Organisation] = fresh
	}
	return fresh, nil
}

// KeepBytes writes down what was sent since it was last called, and learns what
// the other servers have seen. Called every few seconds, it makes the count of
// a day exact to what arrives in that time; a server that is killed forgets as
// much.
func (k *Keeper) KeepBytes(ctx context.Context) error {
	k.mu.Lock()
	days := make([]*day, 0, len(k.days))
	for _, day := range k.days {
		days = append(days, day)
	}
	k.mu.Unlock()
	var failed error
	for _, day := range days {
		failed = errors.Join(failed, k.keep(ctx, day))
	}
	return failed
}

func (k *Keeper) keep(ctx context.Context, day *day) error {
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

// untilTomorrow is how long the day still lasts, by UTC.
func untilTomorrow(now time.Time) time.Duration {
	return now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour).Sub(now)
}
