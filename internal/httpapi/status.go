package httpapi

import (
	"context"
	"net/http"

	"landfall"
	"landfall/internal/contract"
)

// transferStatus tells how far one account is.
func (a *API) transferStatus(ctx context.Context, x *exchange) error {
	standing, err := a.Desk.Status(ctx, x.who, landfall.Key{Supplier: x.params[0], External: x.params[1]})
	if err != nil {
		return err
	}
	buffer := borrow()
	defer giveBack(buffer)
	*buffer = contract.AppendStatus((*buffer)[:0], string(standing.Status), standing.AccountNumber)
	return x.json(http.StatusOK, *buffer)
}
