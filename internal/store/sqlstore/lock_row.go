package sqlstore

import (
	"context"

	"landfall"
)

// A writing transaction locks the rows that it reads by name. Any other update
// that reads or changes the same row waits until this one ends, and then sees
// its changes. Otherwise PostgreSQL would let two operators read the same
// supplier, and the second would undo the change of the first.

// lock waits for a row and locks it. A row that does not exist cannot be
// locked.
func (t *tx) lock(ctx context.Context, text string, args ...any) error {
	if t.engine.SingleWriter() {
		return nil
	}
	_, err := collect(ctx, t.txSession, func(scan scanner, one *int) error { return scan(one) }, text, args...)
	return err
}

// Supplier returns a supplier by its code and locks it.
func (t *tx) Supplier(ctx context.Context, code string) (landfall.Supplier, error) {
	if err := t.lock(ctx, `SELECT 1 FROM supplier held WHERE held.code = $1 {for_update}`, code); err != nil {
		return landfall.Supplier{}, err
	}
	return t.view.Supplier(ctx, code)
}

// Process returns a process by its key and locks it.
func (t *tx) Process(ctx context.Context, key landfall.Key) (landfall.Process, error) {
	if err := t.lock(ctx, `SELECT 1 FROM process held JOIN supplier s ON s.id = held.supplier_id
		WHERE s.code = $1 AND held.external = $2 {for_update}`, key.Supplier, key.External); err != nil {
		return landfall.Process{}, err
	}
	return t.view.Process(ctx, key)
}

// StagingRefusal returns the refusal of an account and locks it.
func (t *tx) StagingRefusal(ctx context.Context, key landfall.Key) (landfall.Refusal, error) {
	if err := t.lock(ctx, `SELECT 1 FROM refusal held JOIN supplier s ON s.id = held.supplier_id
		WHERE s.code = $1 AND held.external = $2 {for_update}`, key.Supplier, key.External); err != nil {
		return landfall.Refusal{}, err
	}
	return t.view.StagingRefusal(ctx, key)
}

// Organisation returns an organisation by its name and locks it.
func (t *tx) Organisation(ctx context.Context, name string) (landfall.Organisation, error) {
	if err := t.lock(ctx, `SELECT 1 FROM organisation held WHERE held.name = $1 {for_update}`, name); err != nil {
		return landfall.Organisation{}, err
	}
	return t.view.Organisation(ctx, name)
}

// Key returns an API key by its public id and locks it.
func (t *tx) Key(ctx context.Context, id string) (landfall.APIKey, error) {
	if err := t.lock(ctx, `SELECT 1 FROM api_key held WHERE held.id = $1 {for_update}`, id); err != nil {
		return landfall.APIKey{}, err
	}
	return t.view.Key(ctx, id)
}

// Vendor returns a payment vendor by its code and locks it.
func (t *tx) Vendor(ctx context.Context, code string) (landfall.Vendor, error) {
	if err := t.lock(ctx, `SELECT 1 FROM vendor held WHERE held.code = $1 {for_update}`, code); err != nil {
		return landfall.Vendor{}, err
	}
	return t.view.Vendor(ctx, code)
}

// Operator returns an operator by name and locks it.
func (t *tx) Operator(ctx context.Context, name string) (landfall.Operator, error) {
	if err := t.lock(ctx, `SELECT 1 FROM operator held WHERE held.name = $1 {for_update}`, name); err != nil {
		return landfall.Operator{}, err
	}
	return t.view.Operator(ctx, name)
}

// InvitedOperator returns the operator with an invitation and locks it.
func (t *tx) InvitedOperator(ctx context.Context, invitation [32]byte) (landfall.Operator, error) {
	if err := t.lock(ctx, `SELECT 1 FROM operator held WHERE held.invitation = $1 {for_update}`, invitation[:]); err != nil {
		return landfall.Operator{}, err
	}
	return t.view.InvitedOperator(ctx, invitation)
}
