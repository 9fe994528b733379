package httpapi

import (
	"net/http"

	"landfall/internal/api/contract"
)

const tagTargets = "Targets"

var (
	confirmDeliveryDoc = settleDoc("confirmDelivery", "Confirm a pending delivery",
		"A target that answered 202 with `{\"pending\": true}` has done its work. The next delivery of the account follows. "+
			"Confirming again changes nothing.", requestContent("Confirmation", contract.ExampleConfirmation))
	refuseDeliveryDoc = settleDoc("refuseDelivery", "Refuse a pending delivery",
		"A target that answered 202 with `{\"pending\": true}` cannot use the data. The later deliveries of the account wait until the operator "+
			"has it sent again or confirms it.", requestContent("DeliveryRefusal", contract.ExampleRefusal))
)

// settleDoc describes confirming or refusing a delivery.
func settleDoc(id, summary, description string, request *mediaContent) *operationDoc {
	return &operationDoc{
		id: id, tag: tagTargets, summary: summary, description: description, request: request,
		responses: []responseDoc{
			{http.StatusOK, "The delivery.", responseContent(contract.DeliveryBody), nil},
			{http.StatusBadRequest, "The delivery is not pending (`delivery_not_pending`), or the request is not valid.", errorContent(exampleNotPending), nil},
			{http.StatusNotFound, "The delivery does not exist.", errorContent(exampleNoDelivery), nil},
		},
	}
}
