package auth

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"landfall"
)

// This file contains what operators do about their own sign-in. Only they can
// choose their password.

// invitationLength is how long the text of an invitation is.
const invitationLength = secretLength

// NewInvitation creates the secret of a link to choose a password.
func NewInvitation() (Secret, [32]byte) {
	text := random(invitationLength)
	return Secret{text}, digest(text)
}

// errNoInvitation is returned for a link that was used, has expired or never
// existed.
var errNoInvitation = &landfall.Error{
	Kind: landfall.NotFound, Code: landfall.CodeNotFound,
	Detail: "This link has been used or has expired. Ask whoever runs the server for a new one.",
}

// Invited returns the operator that an invitation is for.
func (r *Sessions) Invited(ctx context.Context, text string) (operator landfall.Operator, err error) {
	if len(text) != invitationLength || !inAlphabet(text) {
		return landfall.Operator{}, errNoInvitation
	}
	err = r.store.View(ctx, func(view landfall.View) (err error) {
		operator, err = view.InvitedOperator(ctx, digest(text))
		return err
	})
	return operator, invitationFault(err)
}

// Accept sets the password of an invited operator. It uses up the invitation and
// ends all earlier sessions.
func (r *Sessions) Accept(ctx context.Context, from Origin, text, password string) (operator landfall.Operator, err error) {
	if operator, err = r.Invited(ctx, text); err != nil {
		return landfall.Operator{}, err
	}
	hash, err := r.hashPassword(ctx, operator.Name, password)
	if err != nil {
		return landfall.Operator{}, err
	}
	err = r.store.Update(ctx, func(tx landfall.Tx) (err error) {
		if operator, err = tx.InvitedOperator(ctx, digest(text)); err != nil {
			return err
		}
		operator.Password, operator.Invitation, operator.InvitationEndsAt = hash, [32]byte{}, time.Time{}
		// The sign-in that follows must not wait behind unknown callers.
		device := landfall.Device{Hash: digest(random(secretLength)), Operator: operator.Name, Network: network(from.Address)}
		if err := tx.SaveDevice(ctx, device, maxDevices); err != nil {
			return err
		}
		return r.save(ctx, tx, operator, "", entry(operator.Name, from, "operator.password", "chosen by invitation of "+operator.InvitedBy))
	})
	return operator, invitationFault(err)
}

func invitationFault(err error) error {
	if errors.Is(err, landfall.ErrNotFound) {
		return errNoInvitation
	}
	if err != nil {
		return landfall.UserError("looking up an invitation", err)
	}
	return nil
}

// ChangePassword changes the password of a signed-in operator and ends all other
// sessions of that operator.
func (r *Sessions) ChangePassword(ctx context.Context, from Origin, session landfall.Session, old, password string) error {
	operator, err := r.checkPassword(ctx, session, old)
	if err != nil {
		return err
	}
	hash, err := r.hashPassword(ctx, operator.Name, password)
	if err != nil {
		return err
	}
	return r.change(ctx, operator, func(tx landfall.Tx, now landfall.Operator) error {
		// Whoever tried codes does not know the new password.
		now.Password, now.TOTPFailures, now.TOTPFailedAt = hash, 0, time.Time{}
		return r.save(ctx, tx, now, session.ID, entry(now.Name, from, "operator.password", "changed"))
	})
}

// SignOut ends a session.
func (r *Sessions) SignOut(ctx context.Context, from Origin, session landfall.Session) error {
	return r.store.Update(ctx, func(tx landfall.Tx) error {
		if err := tx.EndSession(ctx, session.ID); errors.Is(err, landfall.ErrNotFound) {
			return nil // it has ended already
		} else if err != nil {
			return err
		}
		return tx.AppendAudit(ctx, entry(session.Operator, from, "session.end", "session "+session.ID))
	})
}

// checkPassword asks a signed-in operator for the password again: an unattended
// browser must not be enough to take over the account.
func (r *Sessions) checkPassword(ctx context.Context, session landfall.Session, password string) (operator landfall.Operator, err error) {
	if wait := r.limiter.take(session.Operator, session.Address, "session "+session.ID, r.options.Clock()); wait > 0 {
		return landfall.Operator{}, throttled(wait)
	}
	if err := r.store.View(ctx, func(view landfall.View) (err error) {
		operator, err = view.Operator(ctx, session.Operator)
		return err
	}); err != nil {
		return landfall.Operator{}, landfall.UserError("looking up an operator", err)
	}
	right, err := r.passwords.check(ctx, turn{known: true, tenant: operator.Name}, operator.Password, password)
	if err != nil {
		return landfall.Operator{}, landfall.UserError("checking a password", err)
	}
	if !right {
		return landfall.Operator{}, landfall.Refuse(landfall.CodeValidationFailed, "Your current password is not right.")
	}
	return operator, nil
}

// hashPassword hashes a password that is long enough and not easy to guess.
func (r *Sessions) hashPassword(ctx context.Context, name, password string) (string, error) {
	switch length := utf8.RuneCountInString(password); {
	case length < MinPasswordLength || length > MaxPasswordLength:
		return "", landfall.Refuse(landfall.CodeValidationFailed, fmt.Sprintf(
			"A password must have %d to %d characters; this one has %d. Several words are easy to remember.",
			MinPasswordLength, MaxPasswordLength, length))
	case isCommon(password, name):
		return "", landfall.Refuse(landfall.CodeValidationFailed,
			"This password is easy to guess: it is a common one, a simple pattern, or made from your name. Four or more unrelated words are better.")
	}
	hash, err := r.passwords.hash(ctx, turn{known: true, tenant: name}, password)
	if err != nil {
		return "", landfall.UserError("hashing a password", err)
	}
	return hash, nil
}

// change changes an operator if the sign-in is unchanged since it was checked.
func (r *Sessions) change(ctx context.Context, proved landfall.Operator, how func(landfall.Tx, landfall.Operator) error) error {
	err := r.store.Update(ctx, func(tx landfall.Tx) error {
		operator, err := tx.Operator(ctx, proved.Name)
		if err != nil {
			return err
		}
		if operator.Disabled || operator.Password != proved.Password || operator.TOTPSecret != proved.TOTPSecret {
			return wrongPassword()
		}
		return how(tx, operator)
	})
	if err != nil {
		return landfall.UserError("changing a sign-in", err)
	}
	return nil
}

// save stores a change and ends all sessions except one.
func (r *Sessions) save(ctx context.Context, tx landfall.Tx, operator landfall.Operator, except string, written landfall.AuditEntry) error {
	if err := tx.SaveOperator(ctx, operator); err != nil {
		return err
	}
	if _, err := tx.EndSessions(ctx, operator.Name, except); err != nil {
		return err
	}
	return tx.AppendAudit(ctx, written)
}
