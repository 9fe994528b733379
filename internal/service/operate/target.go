package operate

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/api/rules"
	"landfall/internal/lib/limits"
	"landfall/internal/outbound/target"
)

// TargetChange is a change of a target's settings. A nil field leaves the setting as
// it is.
type TargetChange struct {
	URL       *string
	SecretEnv *string // "" means a secret that is derived from the operator's key
	Shape     *string
	AtOnce    *int
	TakesBack *bool
}

// defaultAtOnce is how many accounts are delivered side by side.
const defaultAtOnce = 16

// secretVariable is the form of the environment variables that may have the secret of
// a target, so that no other secret of the server can be used for it.
var secretVariable = regexp.MustCompile(`^TARGET_[A-Z0-9_]{1,120}$`)

// SetTarget creates a target or changes its settings. The text of a new secret is
// returned once; "" means that there is no new one.
func (o *Operator) SetTarget(ctx context.Context, code string, change TargetChange) (saved landfall.Target, secret string, err error) {
	if err := checkCode("target", code); err != nil {
		return saved, "", err
	}
	if o.targets == nil {
		return saved, "", errNoTargets
	}
	err = o.change(ctx, "target.set", code, func(tx landfall.Tx) (string, error) {
		secret = ""
		saved, err = tx.Target(ctx, code)
		if errors.Is(err, landfall.ErrNotFound) {
			saved, err = landfall.Target{Code: code, AtOnce: defaultAtOnce, State: landfall.TargetActive}, nil
		}
		if err != nil {
			return "", err
		}
		if err := o.applyTarget(ctx, &saved, change); err != nil {
			return "", err
		}
		if saved.SecretEnv == "" && len(saved.Secrets) == 0 {
			derived, text, err := o.newSecret()
			if err != nil {
				return "", err
			}
			saved.Secrets, secret = []landfall.WebhookSecret{derived}, text
		}
		return describeTarget(&saved), tx.SaveTarget(ctx, saved)
	})
	if err != nil {
		return landfall.Target{}, "", err
	}
	return saved, secret, nil
}

var errNoTargets = errors.New("this program does not deliver to targets")

func (o *Operator) applyTarget(ctx context.Context, saved *landfall.Target, change TargetChange) error {
	if change.URL != nil {
		saved.URL = strings.TrimRight(*change.URL, "/")
	}
	if err := o.targets.CheckURL(saved.URL); err != nil {
		return invalid("url", "invalid_setting", "The address cannot be used: %v. See the settings webhook-networks and webhook-plain-http.", err)
	}
	if strings.ContainsAny(saved.URL, "?#") {
		return invalid("url", "invalid_setting", "The address cannot be used: paths are added to it, so it must have no query.")
	}
	if change.SecretEnv != nil {
		if saved.SecretEnv = *change.SecretEnv; saved.SecretEnv != "" && !secretVariable.MatchString(saved.SecretEnv) {
			return invalid("secret-env", rules.CodeInvalidCharacters, "The variable must be named TARGET_… in upper case.")
		}
	}
	if change.Shape != nil {
		if saved.Shape = strings.TrimSpace(*change.Shape); len(saved.Shape) > limits.ShapeProgram {
			return invalid("shape", "too_long", "The jq program must have at most %d bytes.", limits.ShapeProgram)
		}
		if saved.Shape != "" {
			if err := o.targets.CheckShape(ctx, saved.Shape); err != nil {
				return invalid("shape", "invalid_setting", "%s", sentence(err))
			}
		}
	}
	if change.AtOnce != nil {
		if saved.AtOnce = *change.AtOnce; saved.AtOnce < 1 || saved.AtOnce > target.MaxAtOnce {
			return invalid("at-once", rules.CodeOutOfRange, "Must be from 1 to %d.", target.MaxAtOnce)
		}
	}
	if change.TakesBack != nil {
		saved.TakesBack = *change.TakesBack
	}
	return nil
}

// describeTarget describes a target for the audit, without its secret and without the
// token that its URL may contain.
func describeTarget(t *landfall.Target) string {
	text := fmt.Sprintf("url=%q, at_once=%d, takes_back=%t, state=%s", t.MaskedURL(), t.AtOnce, t.TakesBack, t.State)
	if t.Shape != "" {
		text += fmt.Sprintf(", shape of %d bytes", len(t.Shape))
	}
	if t.SecretEnv != "" {
		text += ", secret in " + t.SecretEnv
	}
	return text
}

// Targets returns all targets with what waits for them.
func (o *Operator) Targets(ctx context.Context) (found []landfall.TargetFigures, err error) {
	err = o.view(ctx, "target.list", func(view landfall.View) (err error) {
		found, err = view.TargetFigures(ctx)
		return err
	})
	return found, err
}

// TargetCodes returns the codes of all targets.
func (o *Operator) TargetCodes(ctx context.Context) (codes []string, err error) {
	err = o.view(ctx, "target.list", func(view landfall.View) error {
		found, err := view.Targets(ctx)
		codes = namesOf(found, func(t landfall.Target) string { return t.Code })
		return err
	})
	return codes, err
}

// ShowTarget returns a target with what waits for it.
func (o *Operator) ShowTarget(ctx context.Context, code string) (landfall.TargetFigures, error) {
	all, err := o.Targets(ctx)
	if err != nil {
		return landfall.TargetFigures{}, err
	}
	for _, one := range all {
		if one.Target.Code == code {
			return one, nil
		}
	}
	return landfall.TargetFigures{}, noTarget(code, all)
}

// noTarget suggests the target that was probably meant.
func noTarget(code string, all []landfall.TargetFigures) error {
	known := namesOf(all, func(f landfall.TargetFigures) string { return f.Target.Code })
	return notFound(landfall.CodeNotFound, "There is no target %q. %s", code, suggestion(code, known, "target list"))
}

// targetError turns ErrNotFound into a refusal that suggests the target that was
// probably meant.
func targetError(ctx context.Context, view landfall.TargetReader, code string, err error) error {
	if !errors.Is(err, landfall.ErrNotFound) {
		return err
	}
	all, err := view.TargetFigures(ctx)
	if err != nil {
		return err
	}
	return noTarget(code, all)
}

// checkTarget refuses a target that does not exist. Where accounts are sent to is
// decided by those who manage targets.
func (o *Operator) checkTarget(ctx context.Context, tx landfall.Tx, change SupplierChange) error {
	if change.Target == nil {
		return nil
	}
	if err := o.Permit(landfall.MayAdminister, ""); err != nil || *change.Target == "" {
		return err
	}
	_, err := tx.Target(ctx, *change.Target)
	return targetError(ctx, tx, *change.Target, err)
}

func (o *Operator) alterTarget(ctx context.Context, action, code string, how func(*landfall.Target) string) error {
	return o.change(ctx, action, code, func(tx landfall.Tx) (string, error) {
		found, err := tx.Target(ctx, code)
		if err != nil {
			return "", targetError(ctx, tx, code, err)
		}
		detail := how(&found)
		return detail, tx.SaveTarget(ctx, found)
	})
}

// PauseTarget stops deliveries to a target until it is resumed.
func (o *Operator) PauseTarget(ctx context.Context, code string) error {
	return o.alterTarget(ctx, "target.pause", code, func(t *landfall.Target) string {
		t.State = landfall.TargetPaused
		return ""
	})
}

// ResumeTarget delivers to a target again, at once, also when it was failing.
func (o *Operator) ResumeTarget(ctx context.Context, code string) error {
	return o.alterTarget(ctx, "target.resume", code, func(t *landfall.Target) string {
		t.State = landfall.TargetActive
		return ""
	})
}

// RotateTarget gives a target a new secret. For the overlap, requests are signed with
// the former secret as well.
func (o *Operator) RotateTarget(ctx context.Context, code string, overlap time.Duration) (string, error) {
	secret, text, err := o.newSecret()
	if err != nil {
		return "", err
	}
	err = o.alterTarget(ctx, "target.rotate", code, func(t *landfall.Target) string {
		kept := []landfall.WebhookSecret{secret}
		if len(t.Secrets) > 0 {
			former := t.Secrets[0]
			former.Until = o.clock().Add(overlap).UTC()
			kept = append(kept, former)
		}
		t.Secrets, t.SecretEnv = kept, ""
		return ""
	})
	if err != nil {
		return "", err
	}
	return text, nil
}

// RemoveTarget removes a target that no supplier uses, with everything that waits for
// it.
func (o *Operator) RemoveTarget(ctx context.Context, code string) error {
	return o.change(ctx, "target.remove", code, func(tx landfall.Tx) (string, error) {
		err := tx.RemoveTarget(ctx, code)
		if errors.Is(err, landfall.ErrExists) {
			return "", landfall.Refuse(landfall.CodeValidationFailed, fmt.Sprintf(
				"Suppliers still deliver to target %s. Change them first, with: supplier set SUPPLIER --target none", code))
		}
		return "", targetError(ctx, tx, code, err)
	})
}

// RetryDeliveries has refused deliveries of a target sent again: those with the given
// ids, or all.
func (o *Operator) RetryDeliveries(ctx context.Context, code string, ids []string) (count int, err error) {
	places := []int64{}
	for _, id := range ids {
		place, _, ok := contract.ParseDeliveryID(id)
		if !ok {
			return 0, errDeliveryID(id)
		}
		places = append(places, place)
	}
	err = o.change(ctx, "target.replay", code, func(tx landfall.Tx) (string, error) {
		count, err = tx.RetryDeliveries(ctx, code, places)
		return fmt.Sprintf("%d refused deliveries", count), targetError(ctx, tx, code, err)
	})
	return count, err
}

func errDeliveryID(id string) error {
	return invalid("id", rules.CodeInvalidCharacters, "%q is not the id of a delivery; see: delivery list", id)
}

// TestTarget asks a target to delete an account that does not exist, which changes
// nothing and shows whether it is reached and knows the secret.
func (o *Operator) TestTarget(ctx context.Context, code string) (target.Answer, error) {
	if o.targets == nil {
		return target.Answer{}, errNoTargets
	}
	var found landfall.Target
	if err := o.change(ctx, "target.test", code, func(tx landfall.Tx) (_ string, err error) {
		found, err = tx.Target(ctx, code)
		return "", targetError(ctx, tx, code, err)
	}); err != nil {
		return target.Answer{}, err
	}
	return o.targets.Delete(ctx, &found, "test"), nil
}

// backfillStep is how many accounts get a delivery in one transaction.
const backfillStep = 200

// Backfill delivers the accounts of a supplier that were created before it had a
// target, as they are now. It can be interrupted and repeated.
func (o *Operator) Backfill(ctx context.Context, supplier string, progress func(done int)) (done int, err error) {
	if err := o.change(ctx, "target.backfill", supplier, func(tx landfall.Tx) (string, error) {
		found, err := tx.Supplier(ctx, supplier)
		if err == nil && found.Target == "" {
			return "", landfall.Refuse(landfall.CodeValidationFailed, fmt.Sprintf("Supplier %s has no target. Set one with: supplier set %s --target CODE", supplier, supplier))
		}
		return "to " + found.Target, supplierError(ctx, tx, supplier, err)
	}); err != nil {
		return 0, err
	}
	for {
		count, err := o.store.RestartDeliveries(ctx, landfall.Key{Supplier: supplier}, backfillStep)
		done += count
		if err != nil || count == 0 {
			return done, storeError("target.backfill", err)
		}
		progress(done)
	}
}

// RestartDelivery delivers one account from the beginning, as it is now.
func (o *Operator) RestartDelivery(ctx context.Context, key landfall.Key) error {
	if err := o.change(ctx, "delivery.restart", key.Supplier+"/"+key.External, func(tx landfall.Tx) (string, error) {
		_, err := tx.AccountFigures(ctx, key)
		return "", replaceError(err, landfall.ErrNotFound, notFound(landfall.CodeAccountNotFound, "There is no account %s of supplier %s.", key.External, key.Supplier))
	}); err != nil {
		return err
	}
	count, err := o.store.RestartDeliveries(ctx, key, 1)
	if errors.Is(err, landfall.ErrNotFound) || err == nil && count == 0 {
		return landfall.Refuse(landfall.CodeValidationFailed, "The supplier has no target.")
	}
	return storeError("delivery.restart", err)
}

// Deliveries returns deliveries, oldest first.
func (o *Operator) Deliveries(ctx context.Context, query landfall.TargetDeliveryQuery) (found []landfall.TargetDelivery, err error) {
	err = o.view(ctx, "delivery.list", func(view landfall.View) (err error) {
		if query.Target != "" {
			if _, err := view.Target(ctx, query.Target); err != nil {
				return targetError(ctx, view, query.Target, err)
			}
		}
		found, err = view.TargetDeliveries(ctx, query)
		return err
	})
	return found, err
}

// Delivery returns one delivery.
func (o *Operator) Delivery(ctx context.Context, id string) (found landfall.TargetDelivery, err error) {
	place, at, ok := contract.ParseDeliveryID(id)
	if !ok {
		return found, errDeliveryID(id)
	}
	err = o.view(ctx, "delivery.show", func(view landfall.View) (err error) {
		found, err = view.TargetDelivery(ctx, place)
		if err == nil && !found.At.Equal(at) {
			err = landfall.ErrNotFound
		}
		return replaceError(err, landfall.ErrNotFound, notFound(landfall.CodeNotFound, "There is no delivery %q.", id))
	})
	return found, err
}

// ConfirmDelivery decides that a refused or pending delivery is done, because somebody
// saw to it at the target. The next one of the account follows.
func (o *Operator) ConfirmDelivery(ctx context.Context, id string) error {
	found, err := o.Delivery(ctx, id)
	if err != nil {
		return err
	}
	if err := o.change(ctx, "delivery.confirm", found.Key.Supplier+"/"+found.Key.External, func(landfall.Tx) (string, error) {
		return id, nil
	}); err != nil {
		return err
	}
	now, err := o.store.SettleDelivery(ctx, landfall.TargetSettlement{
		ID: found.ID, At: found.At, From: []landfall.TargetDeliveryState{landfall.TargetPending, landfall.TargetRefused}, State: landfall.TargetDelivered,
	})
	if errors.Is(err, landfall.ErrNotFound) && (now.Held || now.State != landfall.TargetDelivered) {
		return landfall.Refuse(landfall.CodeDeliveryNotPending, now.Undecided("pending or refused one can be confirmed"))
	}
	if errors.Is(err, landfall.ErrNotFound) {
		return nil
	}
	return storeError("delivery.confirm", err)
}
