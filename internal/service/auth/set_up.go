package auth

import (
	"context"
	"errors"

	"landfall"
	"landfall/internal/lib/limits"
)

// This file contains how the first operator of a new server gets in: whoever reads the
// server's log finds a link there.

// errNoSetUp is returned for a link that was used, has expired or never existed, and
// once there is an operator.
var errNoSetUp = &landfall.Error{
	Kind: landfall.NotFound, Code: landfall.CodeNotFound,
	Detail: "This set-up link has been used or has expired. If nobody can sign in yet, restart the server: its log then has a new link.",
}

// NeedsSetUp reports whether there is no operator yet. There is always one once there
// was one, so it asks the database only until then.
func (r *Sessions) NeedsSetUp(ctx context.Context) (bool, error) {
	if r.setUp.Load() {
		return false, nil
	}
	has := false
	err := r.store.View(ctx, func(view landfall.View) (err error) {
		has, err = view.HasOperators(ctx)
		return err
	})
	if has {
		r.setUp.Store(true)
	}
	return !has, setUpError(err)
}

// OfferSetUp makes a link that creates the first operator.
func (r *Sessions) OfferSetUp(ctx context.Context) (Secret, error) {
	link, hash := NewInvitation()
	err := r.store.Update(ctx, func(tx landfall.Tx) error { return tx.OfferSetUpLink(ctx, hash, limits.SetUpLink) })
	return link, setUpError(err)
}

// CheckSetUp refuses a link that cannot create the first operator.
func (r *Sessions) CheckSetUp(ctx context.Context, text string) error {
	if len(text) != invitationLength || !inAlphabet(text) {
		return errNoSetUp
	}
	return setUpError(r.store.View(ctx, func(view landfall.View) error { return view.SetUpLink(ctx, digest(text)) }))
}

// SetUp creates the first operator, an administrator. It uses up the link. The caller
// has checked the name.
func (r *Sessions) SetUp(ctx context.Context, from Origin, text, name, password string) error {
	// Hashing takes long, so callers without a link do not get that far.
	if err := r.CheckSetUp(ctx, text); err != nil {
		return err
	}
	hash, err := r.hashPassword(ctx, name, password)
	if err != nil {
		return err
	}
	return setUpError(r.store.Update(ctx, func(tx landfall.Tx) error {
		if err := tx.UseSetUpLink(ctx, digest(text)); err != nil {
			return err
		}
		// CreateOperator does not record when a password was chosen. SaveOperator does.
		first := landfall.Operator{Name: name, Role: landfall.ConsoleAdministrator, InvitedBy: "operator:" + name}
		if err := tx.CreateOperator(ctx, first); err != nil {
			return err
		}
		// The sign-in that follows must not wait behind unknown callers.
		device := landfall.Device{Hash: digest(random(secretLength)), Operator: name, Network: network(from.Address)}
		if err := tx.SaveDevice(ctx, device, maxDevices); err != nil {
			return err
		}
		first.Password = hash
		if err := tx.SaveOperator(ctx, first); err != nil {
			return err
		}
		return tx.AppendAudit(ctx, entry(name, from, "operator.create", "role=administrator, by the set-up link"))
	}))
}

func setUpError(err error) error {
	if errors.Is(err, landfall.ErrNotFound) {
		return errNoSetUp
	}
	if err != nil {
		return landfall.UserError("setting up the console", err)
	}
	return nil
}
