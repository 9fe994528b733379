package intake

import (
	"context"
	"errors"
	"strings"
	"time"

	"landfall"
	"landfall/internal/lib/cache"
)

// supplierMemory takes the repeated question off the database under load, and
// is too short for an operator to notice; whatever decides a write is read
// again in the writing transaction.
var supplierMemory = cache.Limits{Life: 50 * time.Millisecond, Patience: 5 * time.Second, Size: 4096}

// grant is the question "this supplier, for that organisation".
type grant struct{ organisation, code string }

// supplier gives the supplier an organisation may use, or nil: one that was
// not granted and one that does not exist are the same to everybody.
func (d *Desk) supplier(ctx context.Context, who landfall.Principal, code string) (*landfall.Supplier, error) {
	// The code is a cut out of a whole request, which must not be kept for it.
	question := grant{who.Organisation, strings.Clone(code)}
	supplier, err := d.suppliers.Get(ctx, question, d.now(), func(ctx context.Context) (*landfall.Supplier, error) {
		var found landfall.Supplier
		err := d.store.View(ctx, func(view landfall.View) (err error) {
			found, err = supplierFor(ctx, view, question.organisation, question.code)
			return err
		})
		if errors.Is(err, landfall.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return &found, nil
	})
	if about, is := ctx.Value(aboutKey{}).(*About); is && supplier != nil {
		about.Supplier = supplier.Code
	}
	return supplier, err
}

// supplierFor gives the supplier an organisation may use. Runs that the operator
// started are nobody's, and need no grant.
func supplierFor(ctx context.Context, view landfall.SupplierReader, organisation, code string) (landfall.Supplier, error) {
	if organisation == "" {
		return view.Supplier(ctx, code)
	}
	return view.GrantedSupplier(ctx, organisation, code)
}

// About is what a call turned out to be about, for whoever logs it. A supplier
// stands in it only when the caller was granted it: what a caller merely typed
// belongs into no log.
type About struct{ Supplier string }

// aboutKey finds in a context where a call writes down what it is about, for logs
// and limits further out.
type aboutKey struct{}

// Noted gives a context whose call writes down what it is about.
func Noted(ctx context.Context) (context.Context, *About) {
	about := new(About)
	return context.WithValue(ctx, aboutKey{}, about), about
}
