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
	"landfall/internal/pace"
)

// mostOrganisations is how many are remembered; the operator makes them, so it
// is a bound on mistakes rather than on attacks.
const mostOrganisations = 10_000

// Keeper counts what organisations take. It is safe for concurrent use.
type Keeper struct {
	store    landfall.Store
	clock    func() time.Time
	requests *pace.Buckets
	watch    func(organisation, quota string)

	mu       sync.Mutex
	days     map[string]*day // by organisation
	creating map[string]*creator
}

// New gives a keeper over a store; a nil clock means time.Now. Every refusal is
// told to watch, if there is one.
func New(store landfall.Store, clock func() time.Time, watch func(organisation, quota string)) *Keeper {
	if clock == nil {
		clock = time.Now
	}
	if watch == nil {
		watch = func(string, string) {}
	}
	return &Keeper{
		store: store, clock: clock, watch: watch, requests: pace.New(mostOrganisations),
		days: map[string]*day{}, creating: map[string]*creator{},
	}
}

// Admit lets a request in, or refuses it with quota_exceeded. The length is
// what the request says of its body, negative when it does not say; the body
// given back is the same one, metered.
func (k *Keeper) Admit(ctx context.Context, who landfall.Principal, length int64, body io.ReadCloser) (io.ReadCloser, error) {
	now := k.clock()
	if limit := who.Quotas.RequestsPerSecond; limit > 0 {
		if wait := k.requests.Take(who.Organisation, pace.Per(int(limit), time.Second), now); wait > 0 {
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
