package httpapi

import (
	"context"
	"net/http"

	"landfall"
	"landfall/internal/contract"
)

// failed streams the accounts whose last attempt failed, each with the reason.
func (a *API) failed(ctx context.Context, x *exchange) error {
	rows, err := a.Desk.Failed(ctx, x.who, landfall.FailureQuery{Supplier: x.params[0]})
	if err != nil {
		return err
	}
	return stream(a, x, rows, contract.AppendFailed)
}

// errorSummary groups those reasons.
func (a *API) errorSummary(ctx context.Context, x *exchange) error {
	groups, err := a.Desk.ErrorSummary(ctx, x.who, x.params[0])
	if err != nil {
		return err
	}
	buffer := borrow()
	defer giveBack(buffer)
	body := (*buffer)[:0]
	body = append(body, '[')
	for _, group := range groups {
		body = appendItem(body, group, contract.AppendFailureGroup)
	}
	body = append(body, ']')
	*buffer = body
	return x.json(http.StatusOK, body)
}
