package payvendor

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/sony/gobreaker/v2"

	"landfall"
	"landfall/internal/lib/limits"
	"landfall/internal/outbound/guard"
)

// Errors of requests to vendors. None contains text of the vendor's reply, because vendors
// repeat credentials and personal data.
var (
	errNotFound     = errors.New("the vendor has no such instruction")
	errBadReply     = errors.New("the vendor's reply is invalid")
	errTimeout      = errors.New("the vendor did not reply within the time limit")
	errOutOfService = errors.New("the vendor has been failing for several minutes")
	errBusy         = errors.New("too many requests of the organisation to the vendor")
)

// badReply returns an errBadReply with a reason.
func badReply(why string) error { return fmt.Errorf("%w: %s", errBadReply, why) }

// checkID compares the id in a reply with the requested reference. Another id means that the
// reference does not exist: some vendors trim, ignore case or accept a prefix, and a
// caller's typo must not count as a failure of the vendor. A reply without an id is
// invalid.
func checkID(reference, id string) error {
	switch id {
	case reference:
		return nil
	case "":
		return badReply("it has no id")
	}
	return errNotFound
}

// statusError is an unsuccessful reply. The adapter needs the body to interpret a 404; it
// is never shown.
type statusError struct {
	status     int
	retryAfter time.Duration
	body       []byte
}

// Error contains only the status: the body may name the customer.
func (e *statusError) Error() string {
	return fmt.Sprintf("the vendor replied with status %d", e.status)
}

// Unwrap passes the Retry-After on to package backoff.
func (e *statusError) Unwrap() error {
	if e.retryAfter <= 0 {
		return nil
	}
	return &backoff.RetryAfterError{Duration: e.retryAfter}
}

// isRejection reports whether the vendor rejected us or our configuration is wrong, which only
// the operator can fix.
func isRejection(err error) bool {
	if status, ok := errors.AsType[*statusError](err); ok {
		return status.status >= 400 && status.status < 500 && !isTemporary(status.status)
	}
	return errors.Is(err, guard.ErrForbidden)
}

// isTemporary reports whether a retry may succeed.
func isTemporary(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return status >= 500
}

// countsAsFailure reports whether an error counts against the vendor. A vendor that replies
// with a 4xx works.
func countsAsFailure(err error) bool {
	if status, ok := errors.AsType[*statusError](err); ok {
		return status.status < 400 || status.status >= 500
	}
	return err != nil && !errors.Is(err, errNotFound)
}

// isNeutral reports whether an error says nothing about the vendor: the caller cancelled, or we
// refused to connect.
func isNeutral(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, guard.ErrForbidden)
}

// isRetryable reports whether to retry immediately.
func isRetryable(err error) bool {
	var status *statusError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &status):
		return isTemporary(status.status)
	case errors.Is(err, errNotFound), isNeutral(err), errors.As(err, &certificate):
		return false
	}
	return true
}

// publicError converts an error for the caller. When in doubt it is a temporary failure, so that
// the caller retries.
func (c *orgClient) publicError(err error) error {
	cause := withoutURL(err)
	switch {
	case errors.Is(err, errNotFound):
		return notFoundError()
	case isRejection(err):
		return rejectedError(cause)
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.Is(err, errOutOfService), c.isOutOfService():
		return &landfall.Error{Kind: landfall.Invalid, Code: landfall.CodeVendorOutOfService, Cause: cause,
			Detail: "The payment vendor has not responded for several minutes. Retrying will not help until it is available again."}
	}
	unavailable := &landfall.Error{Kind: landfall.UpstreamUnavailable, Code: landfall.CodeVendorUnavailable, Cause: cause,
		Detail: "The payment vendor cannot be reached right now. Nothing was stored; retry the same request."}
	var status *statusError
	switch {
	case errors.As(err, &status):
		unavailable.RetryAfter = status.retryAfter
	case errors.Is(err, gobreaker.ErrOpenState), errors.Is(err, gobreaker.ErrTooManyRequests):
		unavailable.RetryAfter = c.options.BreakerPause
	case errors.Is(err, errBusy):
		unavailable.RetryAfter = limits.VendorBusyRetry
		unavailable.Detail = "Your organisation has too many requests to this payment vendor in progress. Nothing was stored; retry the same request."
	}
	return unavailable
}

// notFoundError is the error for every reference that does not exist.
func notFoundError() *landfall.Error {
	return landfall.RefuseField("reference", landfall.CodeInstructionNotFound,
		"The payment vendor has no instruction with this reference.")
}

// rejectedError blames the configuration, not the instruction.
func rejectedError(cause error) *landfall.Error {
	return &landfall.Error{Kind: landfall.Invalid, Code: landfall.CodeVendorRejected, Cause: cause,
		Detail: "The payment vendor rejects this service. The operator must fix the vendor's configuration."}
}

// withoutURL removes the URL from an error of the HTTP client, because it contains the
// reference.
func withoutURL(err error) error {
	if address, ok := errors.AsType[*url.Error](err); ok {
		return address.Err
	}
	return err
}
