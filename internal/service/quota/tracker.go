// Package quota enforces the quotas of organisations, so that none can use up the
// service. Each server counts requests and creations for itself; bytes per day are
// summed over all servers.
package quota

import (
	"context"
	"io"
	"sync"
	"time"

	"landfall"
	"landfall/internal/lib/admission"
)

// maxOrganisations limits the organisations that are tracked.
const maxOrganisations = 10_000

// Tracker counts what organisations use. It is safe for concurrent use.
type Tracker struct {
	store    landfall.Transactor
	clock    func() time.Time
	requests *admission.Buckets
	lines    *admission.Buckets // of bulk requests
	watch    func(organisation, quota string)

	mu       sync.Mutex
	days     map[string]*dayCount // by organisation
	creating map[string]*creator
}

// New returns a Tracker; a nil clock means time.Now. watch, if not nil, is called
// for every refusal.
func New(store landfall.Transactor, clock func() time.Time, watch func(organisation, quota string)) *Tracker {
	if clock == nil {
		clock = time.Now
	}
	if watch == nil {
		watch = func(string, string) {}
	}
	return &Tracker{
		store: store, clock: clock, watch: watch,
		requests: admission.NewBuckets(maxOrganisations), lines: admission.NewBuckets(maxOrganisations),
		days: map[string]*dayCount{}, creating: map[string]*creator{},
	}
}

// Admit admits a request, or refuses it with quota_exceeded. length is that of the
// body, negative if it is not known. Admit returns the body, metered.
func (k *Tracker) Admit(ctx context.Context, who landfall.Principal, length int64, body io.ReadCloser) (io.ReadCloser, error) {
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
	// Requests without a body are still admitted.
	if limit := who.Quotas.BytesPerDay; limit > 0 && length != 0 && today.taken()+max(length, 0) > limit {
		return nil, k.Refuse(who, landfall.QuotaBytes, limit, untilTomorrow(now))
	}
	if body == nil {
		return nil, nil
	}
	return &meteredBody{ReadCloser: body, day: today}, nil
}

// Stream admits a bulk request, or refuses it. It returns the body, which is
// metered and ends with quota_exceeded when the day's bytes are used up, and a
// function that waits until the next line may be processed: at the rate of the
// organisation's single requests, but counted separately.
func (k *Tracker) Stream(ctx context.Context, who landfall.Principal, body io.Reader) (io.Reader, func(context.Context) error, error) {
	if _, err := k.Admit(ctx, who, -1, nil); err != nil {
		return nil, nil, err
	}
	metered := &limitedBody{Reader: body, tracker: k, who: who}
	limit := who.Quotas.RequestsPerSecond
	if limit <= 0 {
		return metered, nil, nil
	}
	rate := admission.Per(int(limit), time.Second)
	return metered, func(ctx context.Context) error {
		for {
			wait := k.lines.Take(who.Organisation, rate, k.clock())
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

// Refuse reports a refusal and returns its error.
func (k *Tracker) Refuse(who landfall.Principal, name string, limit int64, wait time.Duration) error {
	k.watch(who.Organisation, name)
	return landfall.OverQuota(name, limit, wait)
}

type meteredBody struct {
	io.ReadCloser
	day *dayCount
}

func (m *meteredBody) Read(into []byte) (int, error) {
	n, err := m.ReadCloser.Read(into)
	m.day.pending.Add(int64(n))
	return n, err
}

// limitedBody is a bulk request's body that ends when the day's bytes are used up.
// It may outlast the day it began on.
type limitedBody struct {
	io.Reader
	tracker *Tracker
	who     landfall.Principal
	day     *dayCount
}

func (b *limitedBody) Read(into []byte) (int, error) {
	n, err := b.Reader.Read(into)
	now := b.tracker.clock()
	if today, unknown := b.tracker.today(context.Background(), b.who, now); unknown == nil {
		b.day = today
	}
	if b.day == nil {
		return n, err
	}
	b.day.pending.Add(int64(n))
	if limit := b.who.Quotas.BytesPerDay; limit > 0 && b.day.taken() > limit {
		return 0, b.tracker.Refuse(b.who, landfall.QuotaBytes, limit, untilTomorrow(now))
	}
	return n, err
}
