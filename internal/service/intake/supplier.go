package intake

import (
	"context"
	"errors"
	"strings"

	"landfall"
	"landfall/internal/lib/cache"
	"landfall/internal/lib/limits"
)

// supplierCacheLimits spare the database a repeated question under load. The
// cache is too short-lived for an operator to notice, and whatever decides a
// write is read again in the writing transaction.
var supplierCacheLimits = cache.Limits{TTL: limits.SupplierCache, LoadTimeout: limits.CacheLoad, Size: 4096}

// grant is the key of the supplier cache.
type grant struct{ organisation, code string }

// Supplier returns the supplier that an organisation may use, or nil. Callers
// cannot tell a supplier without a grant from one that does not exist.
func (s *Service) Supplier(ctx context.Context, who landfall.Principal, code string) (*landfall.Supplier, error) {
	// The code is a substring of the whole request, which the cache must not retain.
	key := grant{who.Organisation, strings.Clone(code)}
	supplier, err := s.supplierCache.Get(ctx, key, s.now(), s.loadSupplier(who, key.code))
	if supplier != nil {
		NoteSupplier(ctx, supplier.Code)
	}
	return supplier, err
}

// loadSupplier returns the function that reads a supplier for the cache.
func (s *Service) loadSupplier(who landfall.Principal, code string) func(context.Context) (*landfall.Supplier, error) {
	return func(ctx context.Context) (*landfall.Supplier, error) {
		var found landfall.Supplier
		err := s.store.For(who.Caller()).View(ctx, func(view landfall.View) (err error) {
			found, err = SupplierFor(ctx, view, who.Organisation, code)
			return err
		})
		if errors.Is(err, landfall.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return &found, nil
	}
}

// RequireSupplier refuses a supplier that the caller may not use.
func (s *Service) RequireSupplier(ctx context.Context, who landfall.Principal, code string) error {
	supplier, err := s.Supplier(ctx, who, code)
	if err != nil {
		return userError(err)
	}
	if supplier == nil {
		return errSupplierUnknown
	}
	return nil
}

// errSupplierUnknown is returned for suppliers that do not exist and for those of
// other organisations: a difference would reveal who our customers are.
var errSupplierUnknown = &landfall.Error{
	Kind: landfall.NotFound, Code: landfall.CodeSupplierUnknown,
	Detail: "There is no import supplier with this code.",
}

// SupplierFor returns the supplier that an organisation may use. The empty
// organisation is an operator, who needs no grant.
func SupplierFor(ctx context.Context, view landfall.SupplierReader, organisation, code string) (landfall.Supplier, error) {
	if organisation == "" {
		return view.Supplier(ctx, code)
	}
	return view.GrantedSupplier(ctx, organisation, code)
}

// About is what a call is about, for the log. Supplier is set only when the
// caller was granted it: unverified input does not belong in a log.
type About struct{ Supplier string }

type aboutKey struct{}

// WithAbout returns a context whose call records what it is about.
func WithAbout(ctx context.Context) (context.Context, *About) {
	about := new(About)
	return context.WithValue(ctx, aboutKey{}, about), about
}

// NoteSupplier records the supplier that a call is about.
func NoteSupplier(ctx context.Context, code string) {
	if about, is := ctx.Value(aboutKey{}).(*About); is {
		about.Supplier = code
	}
}
