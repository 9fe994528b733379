package intake

import (
	"context"
	"errors"

	"landfall"
	"landfall/internal/api/contract"
)

// SettleDelivery confirms or refuses a delivery that the target has accepted as
// pending. Deliveries of other suppliers look as if they did not exist.
func (s *Service) SettleDelivery(ctx context.Context, who landfall.Principal, id string, state landfall.TargetDeliveryState, settled contract.Settlement) (landfall.TargetDelivery, error) {
	place, at, ok := contract.ParseDeliveryID(id)
	if !ok {
		return landfall.TargetDelivery{}, errNoDelivery
	}
	store := s.store.For(who.Caller())
	var granted []string
	if err := store.View(ctx, func(view landfall.View) (err error) {
		granted, err = view.GrantedSuppliers(ctx, who.Organisation)
		return err
	}); err != nil {
		return landfall.TargetDelivery{}, userError(err)
	}
	if len(granted) == 0 {
		return landfall.TargetDelivery{}, errNoDelivery
	}
	found, err := store.SettleDelivery(ctx, landfall.TargetSettlement{
		ID: place, At: at, From: []landfall.TargetDeliveryState{landfall.TargetPending}, Supplier: granted, State: state,
		Reply: settled.Reason, TargetID: settled.TargetID, By: who.Author(),
	})
	if errors.Is(err, landfall.ErrNotFound) {
		switch {
		case found.ID == 0:
			return landfall.TargetDelivery{}, errNoDelivery
		case found.State == state && (settled.TargetID == "" || settled.TargetID == found.TargetID):
			return found, nil // it was decided like this before
		case found.State == state && !found.Held:
			return landfall.TargetDelivery{}, landfall.Refuse(landfall.CodeDeliveryNotPending, "The delivery was confirmed before with another target_id, which is kept.")
		}
		return landfall.TargetDelivery{}, landfall.Refuse(landfall.CodeDeliveryNotPending, found.Undecided("pending delivery can be confirmed or refused"))
	}
	if err != nil {
		return landfall.TargetDelivery{}, userError(err)
	}
	return found, nil
}

var errNoDelivery = &landfall.Error{Kind: landfall.NotFound, Code: landfall.CodeNotFound, Detail: "The delivery does not exist."}
