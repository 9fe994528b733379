// Package quota keeps organisations within what the operator allows them, so
// that none can take the service from another. What is counted within seconds
// is counted by each server for itself; bytes a day are added up over all.
package quota

import (
	"context"
	"io"
	"sync"
	"time"

	"landfall"
	"landfall/internal/lib/admission"
)

// mostOrganisations is how many are remembered; the operator makes them, so it
// is a bound on mistakes rather than on attacks.
const mostOrganisations = 10_000

// Keeper counts what organisations take. It is safe for concurrent use.
type Keeper struct {
	store    landfall.Transactor
	clock    func() time.Time
	requests *admission.Buckets
	watch    func(organisation, quota string)

	mu       sync.Mutex
	days     map[string]*day // by organisation
	creating map[string]*creator
}

// New gives a keeper over a store; a nil clock means time.Now. Every refusal is
// told to watch, if there is one.
func New(store landfall.Transactor, clock func() time.Time, watch func(organisation, quota string)) *Keeper {
	if clock == nil {
		clock = time.Now
	}
	if watch == nil {
		watch = func(string, string) {}
	}
	return &Keeper{
		store: store, clock: clock, watch: watch, requests: admission.NewBuckets(mostOrganisations),
		days: map[string]*day{}, creating: map[string]*creator{},
	}
}

// Admit lets a request in, or refuses it with quota_exceeded. The length is
// what the request says of its body, negative when it does not say; the body
// given back is the same one, metered.
func (k *Keeper) Admit(ctx context.Context, who landfall.Principal, length int64, body io.ReadCloser) (io.ReadCloser, error) {
	now := k.clock()
	if limit := who.Quotas.RequestsPerSecond; limit > 0 {
		if wait := k.requests.Take(who.Organisation, admission.Per(int(limit), time.Second), now); wait > 0 {
			return nil, k.Refuse(who, landfall.QuotaRequests, limit, wait)
		}
	}
	today, err := k.today(ctx, who, now)
	if err != nil {
		return nil, err
	}
	// Whoever sends nothing may go on reading.
	if limit := who.Quotas.BytesPerDay; limit > 0 && length != 0 && today.taken()+max(length, 0) > limit {
		return nil, k.Refuse(who, landfall.QuotaBytes, limit, untilTomorrow(now))
	}
	if body == nil {
		return nil, nil
	}
	return &meter{ReadCloser: body, day: today}, nil
}

// Stream lets a request in whose body is many calls, or refuses it. The body it
// gives back counts what is read and ends with quota_exceeded when the day's
// bytes are used up. Calls in it are not refused for coming too fast: the
// function given back waits until the next one may come, at the pace of the
// organisation's single requests but without using up theirs.
func (k *Keeper) Stream(ctx context.Context, who landfall.Principal, body io.Reader) (io.Reader, func(context.Context) error, error) {
	if _, err := k.Admit(ctx, who, -1, nil); err != nil {
		return nil, nil, err
	}
	metered := &bounded{Reader: body, keeper: k, who: who}
	limit := who.Quotas.RequestsPerSecond
	if limit <= 0 {
		return metered, nil, nil
	}
	name, rate := who.Organisation+"\x00lines", admission.Per(int(limit), time.Second)
	return metered, func(ctx context.Context) error {
		for {
			wait := k.requests.Take(name, rate, k.clock())
			if wait <= 0 {
				return nil
			}
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}, nil
}

// Refuse tells of a refusal and gives its answer.
func (k *Keeper) Refuse(who landfall.Principal, name string, limit int64, wait time.Duration) error {
	k.watch(who.Organisation, name)
	return landfall.OverQuota(name, limit, wait)
}

// meter counts what is read of a body, sent in full or not.
type meter struct {
	io.ReadCloser
	day *day
}

func (m *meter) Read(into []byte) (int, error) {
	n, err := m.ReadCloser.Read(into)
	m.day.pending.Add(int64(n))
	return n, err
}

// bounded is a stream that ends when the day's bytes are used up. A stream may
// outlive the day it began on.
type bounded struct {
	io.Reader
	keeper *Keeper
	who    landfall.Principal
	day    *day
}

func (b *bounded) Read(into []byte) (int, error) {
	n, err := b.Reader.Read(into)
	now := b.keeper.clock()
	if today, unknown := b.keeper.today(context.Background(), b.who, now); unknown == nil {
		b.day = today
	}
	if b.day == nil {
		return n, err
	}
	b.day.pending.Add(int64(n))
	if limit := b.who.Quotas.BytesPerDay; limit > 0 && b.day.taken() > limit {
		return 0, b.keeper.Refuse(b.who, landfall.QuotaBytes, limit, untilTomorrow(now))
	}
	return n, err
}
