package intake

import (
	"context"
	"sync"

	"landfall"
	"landfall/internal/lib/admission"
)

// places lets bulk lines of this server wait for each other under a concurrency
// limit. Without it, all lines over the limit would keep asking the database.
// It grants nothing: the store counts the claims of all replicas.
type places struct {
	mu         sync.Mutex
	bySupplier map[string]supplierPlaces // "" is the whole service
}

// supplierPlaces are the places of a supplier at its current limit.
type supplierPlaces struct {
	limit   int
	limiter *admission.Limiter
}

// limiter returns the places of a supplier. After a change of the limit, calls
// that hold an old place do not count any more.
func (p *places) limiter(supplier string, limit int) *admission.Limiter {
	p.mu.Lock()
	defer p.mu.Unlock()
	if found, ok := p.bySupplier[supplier]; ok && found.limit == limit {
		return found.limiter
	}
	if p.bySupplier == nil {
		p.bySupplier = map[string]supplierPlaces{}
	}
	made := supplierPlaces{limit, admission.NewLimiter(admission.Limits{Capacity: int64(limit), Wait: admission.Forever})}
	p.bySupplier[supplier] = made
	return made.limiter
}

// WaitForPlace waits until a line that creates an account of a supplier should
// be tried. The returned function gives the place back. A supplier without a
// limit, or that the caller may not use, needs no place.
func (s *Service) WaitForPlace(ctx context.Context, who landfall.Principal, code string) (leave func()) {
	leave = func() {}
	supplier, err := s.Supplier(ctx, who, code)
	if err != nil || supplier == nil {
		return leave // the line itself will be told
	}
	for _, limited := range []struct {
		name  string
		limit int
	}{{supplier.Code, supplier.ConcurrencyLimit}, {"", s.limit()}} {
		if limited.limit <= 0 {
			continue
		}
		release, err := s.places.limiter(limited.name, limited.limit).Acquire(ctx, admission.Request{Tenant: who.Organisation})
		if err != nil {
			return leave // it is over, and will be noticed
		}
		before := leave
		leave = func() { release(); before() }
	}
	return leave
}
