package httpapi

import (
	"context"
	"net/http"
	"time"

	"landfall"
	"landfall/internal/api/answer"
	"landfall/internal/api/contract"
	"landfall/internal/lib/admission"
	"landfall/internal/lib/limits"
)

// recheckInterval is how often the authentication of a waiting caller is
// checked again.
const recheckInterval = limits.EventWaitCheck

var (
	errOwnWaits = &landfall.Error{
		Kind: landfall.TooMany, Code: landfall.CodeTooManyRequests, RetryAfter: limitWait,
		Detail: "Your organisation waits for events with too many requests at once. One for each reader is enough.",
	}
	errAllWaits = &landfall.Error{
		Kind: landfall.Unavailable, Code: landfall.CodeServiceUnavailable, RetryAfter: limitWait,
		Detail: "Too many callers wait for events. Send the same request again shortly.",
	}
)

// callLongPoll serves a call that may wait for something to happen. A waiting
// request takes no slot of the request limiter, and its wait does not count
// against the request timeout. It ends when the key is revoked. When the
// service shuts down, it is answered at once.
func (a *API) callLongPoll(ctx context.Context, x *exchange) error {
	free, err := a.waits.Acquire(ctx, admission.Request{Tenant: x.who.Organisation})
	if err != nil {
		return err
	}
	defer free()
	// The longest wait, plus the time of any other request to read the result.
	longest := contract.MaxFeedWait + a.RequestTimeout
	limited, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	// The time to read the response starts when there is one.
	line := http.NewResponseController(x.ResponseWriter)
	_ = line.SetWriteDeadline(time.Now().Add(longest + a.WriteTimeout)) // fails without a connection, as in tests
	waiting, leave := context.WithCancelCause(limited)
	defer leave(nil)
	guarded := a.recheckAuth(waiting, x, leave)
	call := answer.Call{Who: x.who, Query: x.query, Path: x.params, Ending: a.Ending}
	got := a.Answers.Do(waiting, x.route.verb, call)
	leave(nil)
	// The goroutine of recheckAuth uses the exchange too. It must have ended
	// before anything else uses it.
	<-guarded
	// Return the result only if the caller is still allowed to read it.
	if err := a.authenticate(limited, x); err != nil {
		return err
	}
	_ = line.SetWriteDeadline(time.Now().Add(max(a.WriteTimeout, a.RequestTimeout)))
	return a.send(limited, x, got)
}

// recheckAuth authenticates a waiting caller again and again, and ends the wait
// if the caller is no longer allowed.
func (a *API) recheckAuth(ctx context.Context, x *exchange, leave context.CancelCauseFunc) (done <-chan struct{}) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		again := time.NewTicker(recheckInterval)
		defer again.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-again.C:
			}
			// Identify instead of authenticate: the exchange belongs to the caller of
			// this function and must not be written here.
			if _, err := a.Authenticator.Identify(ctx, x.request.Header["Authorization"]); err != nil {
				leave(err)
				return
			}
		}
	}()
	return ended
}

// eventTypes lists the event types. They are the same for every caller.
func (a *API) eventTypes(_ context.Context, x *exchange) error {
	x.Header().Set("Cache-Control", "no-cache")
	return x.json(http.StatusOK, contract.EventTypesBody.Append(nil, contract.EventKinds()))
}

// eventSchema returns the JSON Schema of an event type.
func (a *API) eventSchema(_ context.Context, x *exchange) error {
	schema, known := contract.EventSchema(x.params[0])
	if !known {
		return errNotFound
	}
	x.Header().Set("Cache-Control", "no-cache")
	return x.json(http.StatusOK, schema)
}
