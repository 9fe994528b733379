package quota

import (
	"time"

	"landfall"
	"landfall/internal/lib/limits"
)

// Begin lets an organisation create one more account, or refuses; done must be
// called when the attempt has ended. If the server limits creations, they are
// divided evenly among the organisations that want some, however many requests
// each sends.
func (k *Tracker) Begin(who landfall.Principal, places int) (done func(), err error) {
	now := k.clock()
	k.mu.Lock()
	defer k.mu.Unlock()
	own := k.creating[who.Organisation]
	if own == nil {
		own = &creator{}
		k.creating[who.Organisation] = own
	}
	own.asked = now
	if limit := who.Quotas.ConcurrentCreations; limit > 0 && int64(own.running) >= limit {
		return nil, k.Refuse(who, landfall.QuotaCreations, limit, limits.CreationRetry)
	}
	if places > 0 && own.running >= k.part(places, now) {
		return nil, &landfall.Error{
			Kind: landfall.TooMany, Code: landfall.CodeConcurrencyLimit, RetryAfter: limits.CreationRetry,
			Detail: "Too many accounts are being created at once. Try again when others have finished.",
		}
	}
	own.running++
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		own.running--
	}, nil
}

// creator is an organisation that creates accounts or asked to.
type creator struct {
	running int
	asked   time.Time // of the last request
}

// part returns how many of the places an organisation may use. It forgets
// organisations that create nothing and have not asked recently.
func (k *Tracker) part(places int, now time.Time) int {
	interested := 0
	for organisation, other := range k.creating {
		if other.running > 0 || now.Sub(other.asked) < limits.CreationInterest {
			interested++
		} else {
			delete(k.creating, organisation)
		}
	}
	return max(1, (places+interested-1)/interested)
}
