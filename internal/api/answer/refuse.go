package answer

import (
	"errors"
	"fmt"
	"net/http"

	"landfall"
	"landfall/internal/api/contract"
)

// The statuses of successful calls.
const (
	statusOK      = http.StatusOK
	statusCreated = http.StatusCreated
)

// statusOfKind maps each kind of error to its HTTP status.
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

// errInternal replaces foreign errors, which may contain data and are only
// logged.
var errInternal = &landfall.Error{
	Kind: landfall.Internal, Code: landfall.CodeInternalError, Detail: "Something went wrong on our side.",
}

// errReadOnlyKey is returned before the body is read.
var errReadOnlyKey = &landfall.Error{
	Kind: landfall.Forbidden, Code: landfall.CodePermissionDenied,
	Detail: "This API key is read-only.",
}

// errNotReader is returned to a key that may not read whole accounts.
var errNotReader = &landfall.Error{
	Kind: landfall.Forbidden, Code: landfall.CodePermissionDenied,
	Detail: "Reading whole accounts needs an API key with the role reader.",
}

// TooLarge is the error for a body over the limit.
func TooLarge(limit int64) error {
	return &landfall.Error{
		Kind: landfall.TooLarge, Code: landfall.CodePayloadTooLarge,
		Detail: fmt.Sprintf("The body is larger than the %d bytes this service accepts.", limit),
	}
}

// Authorize checks whether the caller may use the verb.
func (v *Verb) Authorize(who landfall.Principal) error {
	if v.Writes && who.Role != landfall.RoleImporter {
		return errReadOnlyKey
	}
	if v.ReadsPersonal && who.Role != landfall.RoleReader {
		return errNotReader
	}
	return nil
}

// Refuse returns the answer for a failed call, including calls that failed
// before the verb ran, such as a body that is too large.
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

// ErrorAnswer returns the answer for an error, written into dst. A foreign error
// becomes an internal error; its text is only logged.
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
