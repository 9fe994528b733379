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

// recheckInterval is how often it is asked whether somebody who waits may still.
const recheckInterval = limits.EventWaitCheck

// How many callers may wait for events, of one organisation and in all. One of
// them costs little more than its connection.
const (
	waitsEach = limits.EventWaitsEach
	waitsAll  = limits.EventWaitsAll
)

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

// callLongPoll answers a call that may wait for something to happen. Whoever waits
// takes nobody's turn and nobody's time; when his key is revoked he is sent
// away, and when the service ends he is answered at once.
func (a *API) callLongPoll(ctx context.Context, x *exchange) error {
	free, err := a.waits.Acquire(ctx, admission.Request{Tenant: x.who.Organisation})
	if err != nil {
		return err
	}
	defer free()
	// The longest wait, and then the time of any other request to read what was waited for.
	longest := contract.MaxFeedWait + a.RequestTimeout
	limited, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	// The time for taking an answer begins when there is one.
	line := http.NewResponseController(x.ResponseWriter)
	_ = line.SetWriteDeadline(time.Now().Add(longest + a.WriteTimeout)) // where there is a connection
	waiting, leave := context.WithCancelCause(limited)
	defer leave(nil)
	guarded := a.recheckAuth(waiting, x, leave)
	call := answer.Call{Who: x.who, Query: x.query, Path: x.params, Ending: a.Ending}
	got := a.Answers.Do(waiting, x.route.verb, call)
	leave(nil)
	// The guard uses the exchange too; it must have ended before somebody else
	// does.
	<-guarded
	// What was waited for is told only to who may still read it.
	if err := a.authenticate(limited, x); err != nil {
		return err
	}
	_ = line.SetWriteDeadline(time.Now().Add(max(a.WriteTimeout, a.RequestTimeout)))
	return a.send(limited, x, got)
}

// recheckAuth asks again and again who is waiting, and ends the wait of one who may
// not any more.
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
			// Identified and not admitted: the exchange belongs to the caller, and is not to be
			// written to from here.
			if _, err := a.Authenticator.Identify(ctx, x.request.Header["Authorization"]); err != nil {
				leave(err)
				return
			}
		}
	}()
	return ended
}

// eventTypes lists the types of events. They are the same for everybody.
func (a *API) eventTypes(_ context.Context, x *exchange) error {
	x.Header().Set("Cache-Control", "no-cache")
	return x.json(http.StatusOK, contract.EventTypesBody.Append(nil, contract.EventKinds()))
}

// eventSchema gives the JSON Schema of a type of event.
func (a *API) eventSchema(_ context.Context, x *exchange) error {
	schema, known := contract.EventSchema(x.params[0])
	if !known {
		return errNotFound
	}
	x.Header().Set("Cache-Control", "no-cache")
	return x.json(http.StatusOK, schema)
}
