package answer

import (
	"context"

	"landfall"
	"landfall/internal/api/contract"
)

// Verbs with which a target decides about deliveries that it accepted as pending.
var (
	ConfirmDelivery = &Verb{Path: "deliveries/confirm", Writes: true, BodyOptional: true, run: settleDelivery(landfall.TargetDelivered, contract.ReadConfirmation)}
	RefuseDelivery  = &Verb{Path: "deliveries/refuse", Writes: true, run: settleDelivery(landfall.TargetRefused, contract.ReadDeliveryRefusal)}
)

// settleDelivery decides about the delivery in the path and returns it.
func settleDelivery(state landfall.TargetDeliveryState, read func(context.Context, []byte) (contract.Settlement, error)) func(*API, context.Context, Call) (Answer, error) {
	return func(a *API, ctx context.Context, call Call) (Answer, error) {
		if err := rejectQuery(call); err != nil {
			return Answer{}, err
		}
		settled, err := read(ctx, call.Body)
		if err != nil {
			return Answer{}, err
		}
		found, err := a.service.SettleDelivery(ctx, call.Who, call.Path[0], state, settled)
		if err != nil {
			return Answer{}, err
		}
		return Answer{Status: statusOK, Body: contract.DeliveryBody.Append(call.Scratch[:0], found)}, nil
	}
}
