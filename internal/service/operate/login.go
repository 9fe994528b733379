package operate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"landfall"
	"landfall/internal/api/rules"
	"landfall/internal/lib/limits"
	"landfall/internal/service/auth"
)

// AllOperators is the word for every operator, and nobody's name.
const AllOperators = "all"

// maxLoginLength is the maximum length of an operator's name.
const maxLoginLength = 32

// CreateOperator adds an operator of the console and returns the secret of the
// link for choosing a password. The secret is shown only once.
func (o *Operator) CreateOperator(ctx context.Context, name string, role landfall.OperatorRole) (auth.Secret, error) {
	if err := CheckLogin(name); err != nil {
		return auth.Secret{}, err
	}
	if err := checkRole(role); err != nil {
		return auth.Secret{}, err
	}
	if role == landfall.NoRole {
		role = ""
	}
	secret, hash := auth.NewInvitation()
	made := landfall.Operator{Name: name, Role: role, Invitation: hash, InvitationEndsAt: o.clock().Add(limits.Invitation).UTC(), InvitedBy: o.actor}
	err := o.change(ctx, "operator.create", name, func(tx landfall.Tx) (string, error) {
		return "role=" + string(role), replaceError(tx.CreateOperator(ctx, made), landfall.ErrExists,
			nameTaken("There is already an operator %q. Create a new link with: operator reset %s", name, name))
	})
	return secret, err
}

// CheckLogin refuses a name that could be mistaken for another.
func CheckLogin(name string) error {
	if err := checkLine("name", "The operator's name", name, maxLoginLength); err != nil {
		return err
	}
	if strings.ContainsFunc(name, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789.-_@", r)
	}) {
		return invalid("name", rules.CodeInvalidCharacters, "An operator's name has lower-case letters, digits, '.', '-', '_' or '@'.")
	}
	switch {
	// The name is a part of paths, where dots alone have a meaning.
	case strings.ContainsAny(name[:1], ".-_@"):
		return invalid("name", rules.CodeInvalidCharacters, "An operator's name starts with a letter or a digit.")
	case name == AllOperators:
		return invalid("name", rules.CodeInvalidChoice, "The name %q stands for all operators in 'landfall restore'. Choose another.", name)
	}
	return nil
}

// Operators returns all operators of the console, by name.
func (o *Operator) Operators(ctx context.Context) (operators []landfall.Operator, err error) {
	err = o.view(ctx, "operator.list", func(view landfall.View) (err error) {
		operators, err = view.Operators(ctx)
		return err
	})
	return operators, err
}

// ShowOperator returns the operator with a name.
func (o *Operator) ShowOperator(ctx context.Context, name string) (operator landfall.Operator, err error) {
	err = o.view(ctx, "operator.show", func(view landfall.View) (err error) {
		operator, err = view.Operator(ctx, name)
		return operatorError(ctx, view, name, err)
	})
	return operator, err
}

// DisableOperator locks an operator out at once and ends all their sessions.
func (o *Operator) DisableOperator(ctx context.Context, name string) error {
	return o.alterOperator(ctx, "operator.disable", name, func(tx landfall.Tx, operator *landfall.Operator) (string, error) {
		return o.disable(ctx, tx, operator)
	})
}

// disable also ends an unused link. Otherwise it would work again once the operator
// is enabled.
func (o *Operator) disable(ctx context.Context, tx landfall.Tx, operator *landfall.Operator) (string, error) {
	operator.Disabled = true
	operator.Invitation, operator.InvitationEndsAt = [32]byte{}, time.Time{}
	return o.endSessions(ctx, tx, operator)
}

// endSessions ends all sessions of an operator and forgets their browsers.
func (o *Operator) endSessions(ctx context.Context, tx landfall.Tx, operator *landfall.Operator) (string, error) {
	operator.Pending = landfall.PendingTOTP{}
	if err := tx.DropDevices(ctx, operator.Name); err != nil {
		return "", err
	}
	ended, err := tx.EndSessions(ctx, operator.Name, "")
	return fmt.Sprintf("%d sessions ended", ended), err
}

// EnableOperator lets a disabled operator sign in again.
func (o *Operator) EnableOperator(ctx context.Context, name string) error {
	return o.alterOperator(ctx, "operator.enable", name, func(_ landfall.Tx, operator *landfall.Operator) (string, error) {
		operator.Disabled = false
		return "", nil
	})
}

// ResetOperator removes the password and the second factor of an operator who
// lost them, and returns the secret of a new link. Whoever has the link can become
// that operator, so only the command line hands it out.
func (o *Operator) ResetOperator(ctx context.Context, name string) (auth.Secret, error) {
	secret, hash := auth.NewInvitation()
	err := o.alterOperator(ctx, "operator.reset", name, func(tx landfall.Tx, operator *landfall.Operator) (string, error) {
		if operator.Disabled {
			return "", landfall.Refuse(landfall.CodeValidationFailed, fmt.Sprintf(
				"Operator %q is disabled. Enable the operator first with: operator enable %s", name, name))
		}
		// Who reset it in the console, without a link, must stay known.
		by := o.actor
		if operator.Password == "" && !operator.Invited() && operator.InvitedBy != "" && operator.InvitedBy != by {
			by = operator.InvitedBy + " " + by
		}
		operator.Invitation, operator.InvitationEndsAt, operator.InvitedBy = hash, o.clock().Add(limits.Invitation).UTC(), by
		detail, err := o.clearSignIn(ctx, tx, operator)
		return detail + ", new link", err
	})
	return secret, err
}

// ClearSignIn removes the password, the second factor and any link of an operator, and
// makes no new link.
func (o *Operator) ClearSignIn(ctx context.Context, name string) error {
	return o.alterOperator(ctx, "operator.reset", name, func(tx landfall.Tx, operator *landfall.Operator) (string, error) {
		operator.Invitation, operator.InvitationEndsAt, operator.InvitedBy = [32]byte{}, time.Time{}, o.actor
		detail, err := o.clearSignIn(ctx, tx, operator)
		return detail + ", no link", err
	})
}

func (o *Operator) clearSignIn(ctx context.Context, tx landfall.Tx, operator *landfall.Operator) (string, error) {
	operator.Password, operator.TOTPSecret, operator.TOTPUsed, operator.RecoveryCodes = "", "", 0, nil
	operator.TOTPFailures, operator.TOTPFailedAt, operator.ResetAt = 0, time.Time{}, o.clock().UTC()
	if err := tx.RemovePasskeys(ctx, operator.Name); err != nil {
		return "", err
	}
	return o.endSessions(ctx, tx, operator)
}

// alterOperator changes an existing operator.
func (o *Operator) alterOperator(ctx context.Context, action, name string, how func(landfall.Tx, *landfall.Operator) (string, error)) error {
	return o.change(ctx, action, name, func(tx landfall.Tx) (string, error) {
		operator, err := tx.Operator(ctx, name)
		if err != nil {
			return "", operatorError(ctx, tx, name, err)
		}
		detail, err := how(tx, &operator)
		if err != nil {
			return "", err
		}
		return detail, tx.SaveOperator(ctx, operator)
	})
}

// Sessions returns the open sessions, most recently used first.
func (o *Operator) Sessions(ctx context.Context, idle time.Duration) (sessions []landfall.Session, err error) {
	err = o.view(ctx, "session.list", func(view landfall.View) (err error) {
		sessions, err = view.Sessions(ctx, "", idle)
		return err
	})
	return sessions, err
}

// EndSession ends one session.
func (o *Operator) EndSession(ctx context.Context, id string) error {
	return o.change(ctx, "session.end", id, func(tx landfall.Tx) (string, error) {
		return "", replaceError(tx.EndSession(ctx, id), landfall.ErrNotFound, notFound(landfall.CodeNotFound, "There is no session %q; it may have ended.", id))
	})
}

// operatorError turns ErrNotFound into a refusal that suggests the name that was
// probably meant. Only operators see it, and they may see each other's names.
func operatorError(ctx context.Context, view landfall.OperatorReader, name string, err error) error {
	if !errors.Is(err, landfall.ErrNotFound) {
		return err
	}
	operators, err := view.Operators(ctx)
	if err != nil {
		return err
	}
	known := namesOf(operators, func(o landfall.Operator) string { return o.Name })
	return notFound(landfall.CodeNotFound, "There is no operator %q. %s", name, suggestion(name, known, "operator list"))
}
