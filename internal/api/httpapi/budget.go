package httpapi

import (
	"context"
	"time"

	"landfall"
	"landfall/internal/lib/admission"
	"landfall/internal/lib/limits"
)

// budget bounds the bytes of request bodies that are in memory at once. A body
// is admitted before it is read: with its declared length or, without one, with
// what it has grown to. Reading first and counting later is how memory runs out.
//
// Small bodies have a limiter of their own, so that large ones never keep them
// waiting. No organisation may hold more than half of either.
type budget struct{ small, large *admission.Limiter }

// errTooManyBodies is returned for a body that would wait too long.
var errTooManyBodies = &landfall.Error{
	Kind: landfall.Unavailable, Code: landfall.CodeServiceUnavailable, RetryAfter: limits.BodyWait,
	Detail: "Too much is being sent to the service at once. Send the same request again shortly.",
}

// newBudget divides the bytes: a quarter for small bodies, the rest for large
// ones, which must be enough for a body of the maximum size.
func newBudget(total, largest int64, wait time.Duration) *budget {
	limiter := func(bytes int64) *admission.Limiter {
		return admission.NewLimiter(admission.Limits{
			Capacity: bytes, Share: bytes / 2, Wait: wait, Waiting: limits.BodiesWaiting, Refusal: errTooManyBodies,
		})
	}
	small := max(total/4, limits.SmallBody)
	return &budget{small: limiter(small), large: limiter(max(total-small, largest))}
}

type bodyMemory struct {
	budget       *budget
	organisation string
	size         int64
	releases     []func()
}

// reserve waits for the memory of a body.
func (b *budget) reserve(ctx context.Context, organisation string, size int64) (*bodyMemory, error) {
	m := &bodyMemory{budget: b, organisation: organisation}
	return m, m.grow(ctx, size)
}

// grow waits for the additional memory of a body that has grown to a size.
// Bodies that have grown most go first: if all waited for each other, none
// would finish.
func (m *bodyMemory) grow(ctx context.Context, size int64) error {
	if size <= m.size && m.size > 0 {
		return nil
	}
	limiter := m.budget.large
	if size <= limits.SmallBody {
		limiter = m.budget.small
	}
	release, err := limiter.Acquire(ctx, admission.Request{
		Tenant: m.organisation, Cost: size - m.size, Priority: m.size, Held: m.size,
	})
	if err != nil {
		return err
	}
	m.size = size
	m.releases = append(m.releases, release)
	return nil
}

func (m *bodyMemory) release() {
	for _, release := range m.releases {
		release()
	}
	m.releases = nil
}
