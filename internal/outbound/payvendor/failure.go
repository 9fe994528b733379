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
	"landfall/internal/outbound/guard"
)

// What can go wrong on the way to a vendor and back. None of these carries a
// word of the vendor's reply: vendors echo credentials and personal data.
var (
	errMissing      = errors.New("the vendor knows no such instruction")
	errBroken       = errors.New("the vendor's reply cannot be trusted")
	errTooSlow      = errors.New("the vendor did not answer within the time limit")
	errOutOfService = errors.New("the vendor has been in trouble for long")
	errBusy         = errors.New("too many questions of the organisation are under way at the vendor")
)

// broken says in what way a reply cannot be trusted.
func broken(why string) error { return fmt.Errorf("%w: %s", errBroken, why) }

// about compares the id in a reply with the reference that was asked for. A
// reply about another thing means that there is none of this name: vendors trim,
// fold case or look things up by a beginning, and what a caller misspelled must
// not count as the vendor's trouble. A reply without any id proves nothing.
func about(reference, id string) error {
	switch id {
	case reference:
		return nil
	case "":
		return broken("it does not say what it is about")
	}
	return errMissing
}

// statusError is a reply that is no success. Its body is for the adapter, to
// find out what a 404 means; it never reaches a text.
type statusError struct {
	status     int
	retryAfter time.Duration
	body       []byte
}

// Error has the status alone: the body of a vendor's answer may name the customer.
func (e *statusError) Error() string {
	return fmt.Sprintf("the vendor answered with status %d", e.status)
}

// Unwrap shows the wait the vendor asked for to the repeating loop.
func (e *statusError) Unwrap() error {
	if e.retryAfter <= 0 {
		return nil
	}
	return &backoff.RetryAfterError{Duration: e.retryAfter}
}

// isRefusal reports whether the vendor refused us, or our configuration leads
// nowhere: trouble that only the operator can mend.
func isRefusal(err error) bool {
	if status, ok := errors.AsType[*statusError](err); ok {
		return status.status >= 400 && status.status < 500 && !isPassing(status.status)
	}
	return errors.Is(err, guard.ErrForbidden)
}

// isPassing reports whether a status may be another one next time.
func isPassing(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return status >= 500
}

// isTrouble reports whether an error counts against the vendor. A vendor that
// answers with a 4xx is alive.
func isTrouble(err error) bool {
	if status, ok := errors.AsType[*statusError](err); ok {
		return status.status < 400 || status.status >= 500
	}
	return err != nil && !errors.Is(err, errMissing)
}

// provesNothing reports whether an error says nothing about the vendor: the
// caller left, or the vendor was never reached because we refused to.
func provesNothing(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, guard.ErrForbidden)
}

// worthRepeating reports whether asking again at once may help.
func worthRepeating(err error) bool {
	var status *statusError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &status):
		return isPassing(status.status)
	case errors.Is(err, errMissing), provesNothing(err), errors.As(err, &certificate):
		return false
	}
	return true
}

// explain turns what went wrong into what a user may see. When in doubt the
// trouble is called passing, because the caller will then try again; only time
// proves it persistent.
func (l *lane) explain(err error) error {
	cause := plain(err)
	switch {
	case errors.Is(err, errMissing):
		return missing()
	case isRefusal(err):
		return rejected(cause)
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.Is(err, errOutOfService), l.isOutOfService():
		return &landfall.Error{Kind: landfall.Invalid, Code: landfall.CodeVendorOutOfService, Cause: cause,
			Detail: "The payment vendor has not answered for several minutes. Repeating the request will not help before the vendor is back."}
	}
	unavailable := &landfall.Error{Kind: landfall.UpstreamUnavailable, Code: landfall.CodeVendorUnavailable, Cause: cause,
		Detail: "The payment vendor could not be asked just now. Nothing was stored; repeat the request as it is."}
	var status *statusError
	switch {
	case errors.As(err, &status):
		unavailable.RetryAfter = status.retryAfter
	case errors.Is(err, gobreaker.ErrOpenState), errors.Is(err, gobreaker.ErrTooManyRequests):
		unavailable.RetryAfter = l.options.PauseFor
	case errors.Is(err, errBusy):
		unavailable.RetryAfter = time.Second
		unavailable.Detail = "Too many questions of your organisation to this payment vendor are under way. Nothing was stored; repeat the request as it is."
	}
	return unavailable
}

// missing is the one answer to every reference that leads to nothing.
func missing() *landfall.Error {
	return landfall.RefuseField("reference", landfall.CodeInstructionNotFound,
		"The payment vendor knows no instruction with this reference.")
}

// rejected blames the configuration and not the instruction.
func rejected(cause error) *landfall.Error {
	return &landfall.Error{Kind: landfall.Invalid, Code: landfall.CodeVendorRejected, Cause: cause,
		Detail: "The payment vendor refuses this service, whatever the instruction. The operator must mend the vendor's configuration."}
}

// plain takes the address off an error of the HTTP client: it holds the
// reference.
func plain(err error) error {
	if address, ok := errors.AsType[*url.Error](err); ok {
		return address.Err
	}
	return err
}
