package operate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
	"landfall/internal/outbound/delivery"
)

// undoAccount undoes one account. Where deliveries keep it, the account is taken back
// from its target first. Everything can be repeated after a crash: what the target
// has deleted already is not there, which counts as taken back.
func (o *Operator) undoAccount(ctx context.Context, request landfall.UndoRequest) (landfall.UndoOutcome, error) {
	outcome, err := o.store.Undo(ctx, request)
	if err != nil || outcome.Kept != landfall.KeptDelivered || o.targets == nil {
		return outcome, err
	}
	deleted, back, err := o.takeBack(ctx, request.Key)
	if err != nil || !back {
		return outcome, err
	}
	request.TakenBack = true
	again, err := o.store.Undo(ctx, request)
	if err == nil && (again.Verdict == landfall.UndoKept || again.Verdict == landfall.UndoUnsaved) {
		// Something else keeps it by now. The target gets it again, as it is now.
		if deleted {
			_, err = o.store.RestartDeliveries(ctx, request.Key, 1)
		} else {
			err = o.store.ReleaseDeliveries(ctx, request.Key)
		}
	}
	return again, err
}

// takeBack stops the deliveries of an account and has it deleted at its target, unless
// the target never got it. It returns false when the target keeps it.
func (o *Operator) takeBack(ctx context.Context, key landfall.Key) (deleted, back bool, err error) {
	held, err := o.holdDeliveries(ctx, key)
	if errors.Is(err, landfall.ErrNotFound) {
		return false, true, nil // it was undone meanwhile
	}
	if err != nil {
		return false, false, err
	}
	if !held.Sent {
		return false, true, nil
	}
	if !held.Target.TakesBack {
		return false, false, o.store.ReleaseDeliveries(ctx, key)
	}
	answer := o.targets.Delete(ctx, &held.Target, held.Number)
	for try := 1; try < undoTries && answer.Verdict == delivery.Failed && ctx.Err() == nil; try++ {
		select {
		case <-time.After(limits.UndoRetry << try):
		case <-ctx.Done():
		}
		answer = o.targets.Delete(ctx, &held.Target, held.Number)
	}
	switch answer.Verdict {
	case delivery.Arrived:
		return true, true, nil
	case delivery.Refused:
		// The target has it and keeps it.
		if err := o.store.ReleaseDeliveries(ctx, key); err != nil {
			return false, false, err
		}
		return false, false, landfall.Refuse(landfall.CodeDelivered, fmt.Sprintf("The account is kept: target %s does not delete it: %s", held.Target.Code, answer.Words))
	}
	// Whether it was deleted is not known, so nothing is delivered until the undo is
	// repeated.
	return false, false, landfall.Refuse(landfall.CodeDelivered, fmt.Sprintf(
		"The account is kept: target %s could not be asked to delete it: %s. Its deliveries stopped; repeat the undo, or deliver it again with: delivery restart",
		held.Target.Code, answer.Words))
}

// errDeliveryBusy means that a delivery did not end in time.
var errDeliveryBusy = landfall.Refuse(landfall.CodeDelivered, "The account is kept: a delivery to its target is under way. Try again.")

// holdDeliveries stops the deliveries of an account and waits for those under way.
func (o *Operator) holdDeliveries(ctx context.Context, key landfall.Key) (landfall.TakeBack, error) {
	ends := time.Now().Add(limits.TargetTakeBack)
	for {
		held, err := o.store.HoldDeliveries(ctx, key)
		if err != nil || !held.Busy {
			return held, err
		}
		if time.Now().After(ends) {
			return held, errors.Join(errDeliveryBusy, o.store.ReleaseDeliveries(ctx, key))
		}
		select {
		case <-time.After(limits.TargetTakeBackPoll):
		case <-ctx.Done():
			return held, ctx.Err()
		}
	}
}
