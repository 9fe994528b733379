package intake

import (
	"context"
	"strings"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/api/pack"
	"landfall/internal/lib/cache"
	"landfall/internal/lib/limits"
)

// schemaCacheLimits keep the tables of packs for long: a version never changes.
var schemaCacheLimits = cache.Limits{TTL: time.Hour, LoadTimeout: limits.CacheLoad, Size: 256}

// schema returns the tables that a supplier's accounts are read with.
func (s *Service) schema(ctx context.Context, supplier *landfall.Supplier) (*contract.Schema, error) {
	if len(supplier.Packs) == 0 {
		return contract.PlainSchema(), nil
	}
	names := supplier.Packs
	return s.schemaCache.Get(ctx, strings.Join(names, " "), s.now(), func(ctx context.Context) (*contract.Schema, error) {
		var schema *contract.Schema
		err := s.store.View(ctx, func(view landfall.View) (err error) {
			schema, err = contract.OpenSchema(names, func(name string) ([]byte, error) {
				code, version, err := pack.SplitName(name)
				if err != nil {
					return nil, err
				}
				found, err := view.Pack(ctx, code, version)
				return found.Text, err
			})
			return err
		})
		return schema, err
	})
}

// SupplierSchema returns the tables of a supplier that the caller may use, or nil
// if there is none.
func (s *Service) SupplierSchema(ctx context.Context, who landfall.Principal, code string) (*contract.Schema, error) {
	supplier, err := s.Supplier(ctx, who, code)
	if err != nil || supplier == nil {
		return nil, err
	}
	return s.schema(ctx, supplier)
}
