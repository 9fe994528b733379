package quota

import (
	"time"

	"landfall"
)

const (
	// retrySoon is how long somebody should wait for a creation to end.
	retrySoon = time.Second
	// interest is how long an organisation that asked counts as one that wants
	// to create accounts, so that a place is kept for it.
	interest = 5 * time.Second
)

// creator is an organisation that creates accounts, or wants to.
type creator struct {
	now   int       // under way
	asked time.Time // last
}

// Begin lets an organisation create one more account, or refuses; done must be
// called when the attempt has ended. The places of the service, when they are
// limited, are shared: while others want some too, nobody gets more than an
// equal part, however many requests he sends.
func (k *Keeper) Begin(who landfall.Principal, places int) (done func(), err error) {
	now := k.clock()
	k.mu.Lock()
	defer k.mu.Unlock()
	mine := k.creating[who.Organisation]
	if mine == nil {
		mine = &creator{}
		k.creating[who.Organisation] = mine
	}
	mine.asked = now
	if limit := who.Quotas.ConcurrentCreations; limit > 0 && int64(mine.now) >= limit {
		return nil, k.Refuse(who, landfall.QuotaCreations, limit, retrySoon)
	}
	if places > 0 {
		if part := k.part(places, now); mine.now >= part {
			return nil, &landfall.Error{
				Kind: landfall.TooMany, Code: landfall.CodeConcurrencyLimit, RetryAfter: retrySoon,
				Detail: "Too many accounts are being created at once. Try again when others have finished.",
			}
		}
	}
	mine.now++
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		mine.now--
	}, nil
}

// part is how many places each organisation may have, of those that are
// interested; who is not any more is forgotten.
func (k *Keeper) part(places int, now time.Time) int {
	interested := 0
	for organisation, other := range k.creating {
		if other.now > 0 || now.Sub(other.asked) < interest {
			interested++
		} else {
			delete(k.creating, organisation)
		}
	}
	return max(1, (places+interested-1)/interested)
}
