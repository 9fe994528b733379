package httpapi

import (
	"context"
	"errors"
	"net/http"

	"landfall"
	"landfall/internal/contract"
)

// validate answers with the very bytes that were sent, so its memory can be
// used again as soon as they are out.
func (a *API) validate(ctx context.Context, x *exchange) error {
	warn, err := x.wantsWarnings()
	if err != nil {
		return err
	}
	buffer := borrow()
	defer giveBack(buffer)
	if *buffer, err = x.readBody(a.BodyLimit, (*buffer)[:0]); err != nil {
		return err
	}
	accepted, err := a.Desk.Validate(ctx, x.who, *buffer)
	if err != nil {
		return err
	}
	if warn {
		return x.json(http.StatusOK, contract.AppendWithWarnings(nil, accepted.Body, accepted.Warnings))
	}
	return x.json(http.StatusOK, accepted.Body)
}

// stage reads into memory of its own: a store may still hold the document when
// the request is over.
func (a *API) stage(ctx context.Context, x *exchange) error {
	warn, err := x.wantsWarnings()
	if err != nil {
		return err
	}
	body, err := x.readBody(a.BodyLimit, nil)
	if err != nil {
		return err
	}
	receipt, err := a.Desk.Stage(ctx, x.who, body)
	if err != nil {
		a.metrics.stagings.WithLabelValues(refusalCode(err)).Inc()
		return err
	}
	status, result := http.StatusOK, "updated"
	if receipt.First {
		status, result = http.StatusCreated, "created"
	}
	a.metrics.stagings.WithLabelValues(result).Inc()

	buffer := borrow()
	defer giveBack(buffer)
	*buffer = contract.AppendKey((*buffer)[:0], receipt.Key)
	if warn {
		*buffer = contract.AppendWithWarnings(nil, *buffer, receipt.Warnings)
	}
	return x.json(status, *buffer)
}

// wantsWarnings reads the one query parameter of the account calls.
func (x *exchange) wantsWarnings() (bool, error) {
	if x.query == "" {
		return false, nil
	}
	return contract.QueryBool(x.query, "include_warnings", false)
}

// refusalCode names a failure for a metric; codes are few and hold no data.
func refusalCode(err error) string {
	if known, is := errors.AsType[*landfall.Error](err); is {
		return known.Code
	}
	return landfall.CodeInternalError
}
