package httpapi

import (
	"context"
	"net/http"

	"landfall/internal/contract"
)

// process creates an account from its staged data.
func (a *API) process(ctx context.Context, x *exchange) error {
	buffer := borrow()
	defer giveBack(buffer)
	var err error
	if *buffer, err = x.readBody(a.BodyLimit, (*buffer)[:0]); err != nil {
		return err
	}
	request, err := contract.ReadProcess(*buffer)
	if err != nil {
		a.metrics.refusals.WithLabelValues(refusalCode(err)).Inc()
		return err
	}
	outcome, err := a.Desk.Process(ctx, x.who, request)
	if err != nil {
		a.metrics.refusals.WithLabelValues(refusalCode(err)).Inc()
		return err
	}
	a.metrics.created.Inc()
	*buffer = contract.AppendCreated((*buffer)[:0], request.Key.External, outcome.Number)
	return x.json(http.StatusCreated, *buffer)
}
