package httpapi

import (
	"net/http"

	"landfall"
	"landfall/internal/api/contract"
)

const tagTargets = "Targets"

var (
	confirmDeliveryDoc = settleDoc("confirmDelivery", "Confirm a pending delivery",
		"A target that answered 202 with `{\"pending\": true}` has done its work. The next delivery of the account follows. "+
			"Confirming again changes nothing, and is refused with another `target_id`.", requestContent("Confirmation", contract.ExampleConfirmation),
		landfall.TargetDelivered, landfall.TargetRefused)
	refuseDeliveryDoc = settleDoc("refuseDelivery", "Refuse a pending delivery",
		"A target that answered 202 with `{\"pending\": true}` cannot use the data. The later deliveries of the account wait until the operator "+
			"has it sent again or confirms it.", requestContent("DeliveryRefusal", contract.ExampleRefusal),
		landfall.TargetRefused, landfall.TargetDelivered)
)

// settleDoc describes confirming or refusing a delivery: the state that it gets, and one
// in which it is too late for that.
func settleDoc(id, summary, description string, request *mediaContent, state, other landfall.TargetDeliveryState) *operationDoc {
	late := &landfall.TargetDelivery{State: other}
	notPending := exampleError(landfall.CodeDeliveryNotPending, late.Undecided("pending delivery can be confirmed or refused"))
	return &operationDoc{
		id: id, tag: tagTargets, summary: summary, description: description, request: request,
		responses: []responseDoc{
			{http.StatusOK, "The delivery.", &mediaContent{schema: contract.DeliveryBody.Name(), example: contract.ExampleDelivery(state)}, nil},
			{http.StatusBadRequest, "The delivery is not pending (`delivery_not_pending`), or the request is not valid.", errorContent(notPending), nil},
			{http.StatusNotFound, "The delivery does not exist.", errorContent(exampleNoDelivery), nil},
		},
	}
}
