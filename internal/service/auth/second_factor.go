package auth

import (
	"context"
	"crypto/subtle"
	"fmt"
	"slices"
	"strings"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
)

// The recovery codes of an operator. Each has 80 bits, so a plain hash is enough.
const (
	recoveryCodes      = 10
	recoveryCodeLength = 16
)

// NeedsSecondFactor reports whether an operator must set up a second factor before
// doing anything else. A sign-in provider asks for one itself.
func (r *Sessions) NeedsSecondFactor(operator landfall.Operator, session landfall.Session) bool {
	return r.options.SecondFactor && operator.TOTPSecret == "" && session.Method == landfall.SignInPassword
}

// SecondFactorRequired reports whether every operator needs a second factor.
func (r *Sessions) SecondFactorRequired() bool { return r.options.SecondFactor }

// Owner is what a signed-in operator shows to change their sign-in: an unattended
// browser must not be enough.
type Owner struct {
	Origin
	Session  landfall.Session
	Password string
	Code     string // of the second factor, if there is one, or a recovery code
}

// StartTOTP makes the secret of a new second factor. It takes effect when a code of it
// is confirmed in the same session.
func (r *Sessions) StartTOTP(ctx context.Context, owner Owner) (landfall.PendingTOTP, error) {
	operator, err := r.Prove(ctx, owner)
	if err != nil {
		return landfall.PendingTOTP{}, err
	}
	pending := landfall.PendingTOTP{
		Secret: newTOTPSecret(), Session: owner.Session.ID, EndsAt: r.options.Clock().Add(limits.PendingSecondFactor).UTC(),
	}
	return pending, r.change(ctx, operator, func(tx landfall.Tx, now landfall.Operator) error {
		now.Pending = pending
		return tx.SaveOperator(ctx, now)
	})
}

// PendingTOTP returns the second factor that a session may confirm; none is empty.
func (r *Sessions) PendingTOTP(operator landfall.Operator, session landfall.Session) landfall.PendingTOTP {
	if operator.Pending.Session != session.ID || !r.options.Clock().Before(operator.Pending.EndsAt) {
		return landfall.PendingTOTP{}
	}
	return operator.Pending
}

// ConfirmTOTP switches a second factor on, after a code has shown that the app has its
// secret. It returns new recovery codes.
func (r *Sessions) ConfirmTOTP(ctx context.Context, from Origin, session landfall.Session, code string) (codes []Secret, err error) {
	if wait := r.limiter.take(session.Operator, session.Address, "session "+session.ID, r.options.Clock()); wait > 0 {
		return nil, throttled(wait)
	}
	err = r.store.Update(ctx, func(tx landfall.Tx) error {
		operator, err := tx.Operator(ctx, session.Operator)
		if err != nil {
			return err
		}
		pending := r.PendingTOTP(operator, session)
		if operator.Disabled || pending.Secret == "" {
			return landfall.Refuse(landfall.CodeValidationFailed, "There is nothing to confirm, or it took longer than 10 minutes. Start again.")
		}
		step, right := checkTOTP(pending.Secret, code, 0, r.options.Clock())
		if !right {
			return notRight(wrongCode())
		}
		detail := "on"
		if operator.TOTPSecret != "" {
			detail = "replaced"
		}
		operator.TOTPSecret, operator.TOTPUsed, operator.Pending = pending.Secret, step, landfall.PendingTOTP{}
		operator.TOTPFailures, operator.TOTPFailedAt = 0, time.Time{}
		codes, operator.RecoveryCodes = newRecoveryCodes()
		return r.save(ctx, tx, operator, session.ID, entry(operator.Name, from, "operator.second_factor", detail))
	})
	if err != nil {
		return nil, landfall.UserError("changing a sign-in", err)
	}
	return codes, nil
}

// DisableTOTP switches the second factor off, unless everyone needs one.
func (r *Sessions) DisableTOTP(ctx context.Context, owner Owner) error {
	if r.options.SecondFactor {
		return landfall.Refuse(landfall.CodeValidationFailed, "Two-factor authentication is required here. You can replace the app, but not turn it off.")
	}
	operator, err := r.Prove(ctx, owner)
	if err != nil {
		return err
	}
	if operator.TOTPSecret == "" {
		return landfall.Refuse(landfall.CodeValidationFailed, "Two-factor authentication is off already.")
	}
	return r.change(ctx, operator, func(tx landfall.Tx, now landfall.Operator) error {
		now.TOTPSecret, now.TOTPUsed, now.TOTPFailures, now.TOTPFailedAt, now.RecoveryCodes = "", 0, 0, time.Time{}, nil
		return r.save(ctx, tx, now, owner.Session.ID, entry(now.Name, owner.Origin, "operator.second_factor", "off"))
	})
}

// RenewRecoveryCodes replaces all recovery codes.
func (r *Sessions) RenewRecoveryCodes(ctx context.Context, owner Owner) (codes []Secret, err error) {
	operator, err := r.Prove(ctx, owner)
	if err != nil {
		return nil, err
	}
	if operator.TOTPSecret == "" {
		return nil, landfall.Refuse(landfall.CodeValidationFailed, "Turn on two-factor authentication first.")
	}
	return codes, r.change(ctx, operator, func(tx landfall.Tx, now landfall.Operator) error {
		codes, now.RecoveryCodes = newRecoveryCodes()
		if err := tx.SaveOperator(ctx, now); err != nil {
			return err
		}
		return tx.AppendAudit(ctx, entry(now.Name, owner.Origin, "operator.recovery_codes", "renewed"))
	})
}

// Prove checks the password of a signed-in operator and the code of the second factor,
// if there is one.
func (r *Sessions) Prove(ctx context.Context, owner Owner) (landfall.Operator, error) {
	operator, err := r.checkPassword(ctx, owner.Session, owner.Password)
	if err != nil || operator.TOTPSecret == "" {
		return operator, err
	}
	if strings.TrimSpace(owner.Code) == "" {
		return landfall.Operator{}, notRight(ErrTOTPNeeded)
	}
	var refusal error
	err = r.store.Update(ctx, func(tx landfall.Tx) (err error) {
		if operator, err = tx.Operator(ctx, operator.Name); err != nil {
			return err
		}
		refusal, err = r.checkCode(ctx, tx, &operator, owner.Origin, owner.Code, r.options.Clock())
		return err
	})
	if err == nil && refusal != nil {
		err = notRight(refusal)
	}
	if err != nil {
		return landfall.Operator{}, landfall.UserError("checking a code", err)
	}
	return operator, nil
}

// checkCode checks the code of an operator's second factor and saves that it was used,
// or that it was wrong. It returns the refusal apart from the error, because the
// transaction must commit either way. Without a second factor every code is right.
func (r *Sessions) checkCode(ctx context.Context, tx landfall.Tx, operator *landfall.Operator, from Origin, code string, now time.Time) (refusal, err error) {
	if operator.TOTPSecret == "" {
		return nil, nil
	}
	if text := strings.NewReplacer("-", "", " ", "").Replace(strings.ToLower(code)); len(text) == recoveryCodeLength {
		return r.useRecoveryCode(ctx, tx, operator, from, text)
	}
	if wait := codeWait(*operator, now); wait > 0 {
		slowed := throttled(wait)
		slowed.Detail = fmt.Sprintf("Too many wrong codes. Wait %s, or use a recovery code.", wait.Round(time.Second))
		return slowed, nil
	}
	if step, right := checkTOTP(operator.TOTPSecret, code, operator.TOTPUsed, now); right {
		operator.TOTPUsed, operator.TOTPFailures, operator.TOTPFailedAt = step, 0, time.Time{}
	} else {
		refusal = wrongCode()
		operator.TOTPFailures, operator.TOTPFailedAt = operator.TOTPFailures+1, now.UTC()
	}
	return refusal, tx.SaveOperator(ctx, *operator)
}

// codeWait returns how long codes are refused after wrong ones. The pauses grow, so
// that whoever knows the password can guess 15 of a million codes on the first day and
// two a day later. Recovery codes are not affected: they cannot be guessed.
func codeWait(operator landfall.Operator, now time.Time) time.Duration {
	over := operator.TOTPFailures - limits.WrongCodes
	// A failure ahead of the clock was recorded by one that was wrong.
	if over < 0 || now.Before(operator.TOTPFailedAt) {
		return 0
	}
	pause := limits.LongestCodePause
	if over < 16 { // no overflow
		pause = min(pause, limits.CodePause<<over)
	}
	return max(0, operator.TOTPFailedAt.Add(pause).Sub(now))
}

// useRecoveryCode uses up a recovery code.
func (r *Sessions) useRecoveryCode(ctx context.Context, tx landfall.Tx, operator *landfall.Operator, from Origin, text string) (refusal, err error) {
	hash, found := digest(text), -1
	for i, one := range operator.RecoveryCodes {
		if subtle.ConstantTimeCompare(hash[:], one[:]) == 1 {
			found = i
		}
	}
	if found < 0 {
		return wrongCode(), nil
	}
	operator.RecoveryCodes = slices.Delete(operator.RecoveryCodes, found, found+1)
	operator.TOTPFailures, operator.TOTPFailedAt = 0, time.Time{}
	if err := tx.SaveOperator(ctx, *operator); err != nil {
		return nil, err
	}
	return nil, tx.AppendAudit(ctx, entry(operator.Name, from, "operator.recovery_codes", fmt.Sprintf("one used, %d left", len(operator.RecoveryCodes))))
}

// newRecoveryCodes returns codes as people write them, and their hashes.
func newRecoveryCodes() (codes []Secret, hashes [][32]byte) {
	for range recoveryCodes {
		text := random(recoveryCodeLength)
		codes = append(codes, Secret{text[:4] + "-" + text[4:8] + "-" + text[8:12] + "-" + text[12:]})
		hashes = append(hashes, digest(text))
	}
	return codes, hashes
}

// notRight makes a refusal the fault of a form, so that a signed-in operator is not
// sent to the sign-in page.
func notRight(refusal error) error {
	known, is := refusal.(*landfall.Error) //nolint:errorlint // made in this package
	if !is || known.Kind != landfall.Unauthenticated {
		return refusal
	}
	copied := *known
	copied.Kind, copied.Code = landfall.Invalid, landfall.CodeValidationFailed
	return &copied
}

func wrongCode() *landfall.Error {
	refusal := refused()
	refusal.Detail = "The code is not right, or was used before. Wait for the next one."
	return refusal
}
