package httpapi

import (
	"runtime"

	"landfall"
	"landfall/internal/lib/admission"
	"landfall/internal/lib/limits"
)

const (
	// DefaultMaxInFlight is how many requests are processed at once. It is far
	// more than a machine can use, so that the database can batch many of them;
	// more would only make all of them slower.
	DefaultMaxInFlight = 256
	// requestWait is how long a request waits to be admitted. It then still has
	// time to be answered within two seconds.
	requestWait = limits.RequestWait
	// limitWait is how long lists, bulk requests and requests for events wait
	// for another one to end.
	limitWait = limits.LimitWait
)

// The errors of requests that would wait too long.
var (
	errBusy = &landfall.Error{
		Kind: landfall.Unavailable, Code: landfall.CodeServiceUnavailable, RetryAfter: requestWait,
		Detail: "The service has more to do than it can. Send the same request again shortly.",
	}
	errOwnLists = &landfall.Error{
		Kind: landfall.TooMany, Code: landfall.CodeTooManyRequests, RetryAfter: limitWait,
		Detail: "Your organisation is reading too many lists at once. Finish one, or try again shortly.",
	}
	errAllLists = &landfall.Error{
		Kind: landfall.Unavailable, Code: landfall.CodeServiceUnavailable, RetryAfter: limitWait,
		Detail: "Too many lists are being read at once. Send the same request again shortly.",
	}
)

// newRequestLimiter bounds the requests that are processed at once.
func newRequestLimiter(most int) *admission.Limiter {
	return admission.NewLimiter(admission.Limits{
		Capacity: int64(most), Share: max(1, int64(most)*3/4), Wait: requestWait, Refusal: errBusy,
	})
}

// newLongLimiter bounds the long bodies that are processed at once, because
// each occupies a processor for a while: as many as there are processors, and
// half as many per organisation.
func newLongLimiter() *admission.Limiter {
	processors := int64(runtime.GOMAXPROCS(0))
	return admission.NewLimiter(admission.Limits{
		Capacity: processors, Share: max(1, processors/2), Wait: requestWait, Refusal: errBusy,
	})
}

// newTenantLimiter bounds requests that last: per organisation and in total. An
// organisation at its own limit gets the error for that limit, because it can
// do something about it.
func newTenantLimiter(each, all int64, errEach, errAll error) *admission.Limiter {
	return admission.NewLimiter(admission.Limits{
		Capacity: all, Share: each, Wait: limitWait, Refusal: errAll, ShareRefusal: errEach,
	})
}
