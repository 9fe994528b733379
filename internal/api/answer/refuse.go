package answer

import (
	"errors"
	"fmt"
	"net/http"

	"landfall"
	"landfall/internal/api/contract"
)

// Only two of the statuses mean that something was done.
const (
	statusOK      = http.StatusOK
	statusCreated = http.StatusCreated
)

// statusOfKind gives every kind of failure its one status.
var statusOfKind = [...]int{
	landfall.Internal:            http.StatusInternalServerError,
	landfall.Invalid:             http.StatusBadRequest,
	landfall.Unauthenticated:     http.StatusUnauthorized,
	landfall.Forbidden:           http.StatusForbidden,
	landfall.NotFound:            http.StatusNotFound,
	landfall.MethodNotAllowed:    http.StatusMethodNotAllowed,
	landfall.TooLarge:            http.StatusRequestEntityTooLarge,
	landfall.UnsupportedMedia:    http.StatusUnsupportedMediaType,
	landfall.TooMany:             http.StatusTooManyRequests,
	landfall.Unavailable:         http.StatusServiceUnavailable,
	landfall.TooManyFields:       http.StatusRequestHeaderFieldsTooLarge,
	landfall.UpstreamUnavailable: http.StatusInternalServerError, // as the contract has it
}

// errInternal stands for every error that is not one of ours: those may hold
// values, and go to the log.
var errInternal = &landfall.Error{
	Kind: landfall.Internal, Code: landfall.CodeInternalError, Detail: "Something went wrong on our side.",
}

// errReadOnlyKey is told before anything of the body is read.
var errReadOnlyKey = &landfall.Error{
	Kind: landfall.Forbidden, Code: landfall.CodePermissionDenied,
	Detail: "This API key is read-only.",
}

// TooLarge refuses a body over the limit.
func TooLarge(limit int64) error {
	return &landfall.Error{
		Kind: landfall.TooLarge, Code: landfall.CodePayloadTooLarge,
		Detail: fmt.Sprintf("The body is larger than the %d bytes this service accepts.", limit),
	}
}

// Authorize refuses who may not use the verb.
func (v *Verb) Authorize(who landfall.Principal) error {
	if v.Writes && who.Role != landfall.RoleImporter {
		return errReadOnlyKey
	}
	return nil
}

// Refuse answers a call of a verb that failed, also where the call never got
// as far as the verb: its body did not arrive, or is too large.
func (a *API) Refuse(verb *Verb, err error) Answer {
	if known, is := errors.AsType[*landfall.Error](err); is && verb.refuse != nil {
		err = verb.refuse(known)
	}
	answer := ErrorAnswer(err, nil)
	if answer.Code == landfall.CodeDryRunRolledBack {
		a.count(verb, DryRunPassed)
	} else {
		a.count(verb, answer.Code)
	}
	return answer
}

// ErrorAnswer is the answer to whatever failed, written into dst. What is not an
// error of ours becomes a plain internal one: its text is for the log alone.
func ErrorAnswer(err error, dst []byte) Answer {
	shown, ours := errors.AsType[*landfall.Error](err)
	if !ours {
		shown = errInternal
	}
	return Answer{
		Status: statusOfKind[shown.Kind], Code: shown.Code, RetryAfter: shown.RetryAfter, Cause: err,
		Body: contract.ErrorBody.Append(dst, shown),
	}
}
