package httpapi

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"landfall"
	"landfall/internal/api/answer"
	"landfall/internal/lib/admission"
	"landfall/internal/lib/limits"
)

const (
	// writeTimeout is how long a client may take to read a piece of a list. A slower
	// client would hold up others.
	writeTimeout = limits.ListChunk
	// authLifetime is how long an authentication is trusted during a request.
	// Together with writeTimeout it is less than the ten seconds within which a
	// revocation must take effect.
	authLifetime = limits.KeyRecheck
)

// bodyGracePeriod is how long a request may hold its slot while waiting for the
// body. Nearly all bodies have already arrived; a slow connection must not cost
// others a slot.
const bodyGracePeriod = limits.BodyGrace

// call serves a request with a verb. It waits for admission before it reads the
// body, so that waiting requests cost next to nothing.
func (a *API) call(ctx context.Context, x *exchange) error {
	verb := x.route.verb
	if verb.Streams {
		return a.callList(ctx, x)
	}
	if verb.LongPolls {
		return a.callLongPoll(ctx, x)
	}
	leave, err := a.requests.Acquire(ctx, admission.Request{Tenant: x.who.Organisation})
	if err != nil {
		return a.send(ctx, x, a.Answers.Refuse(verb, err))
	}
	// Do not defer leave here. It is called when the work is done, because the
	// client may read the response slowly.
	call := answer.Call{Who: x.who, Query: x.query, Path: x.params}
	if x.route.hasBody() {
		// Bulk requests and runs use this to detect interactive load. Starting a run
		// does not count.
		if verb != answer.StartRun {
			a.Interactive.Record(x.started)
		}
		overdue := time.AfterFunc(bodyGracePeriod, leave)
		body, done, err := a.receive(ctx, x)
		if err != nil {
			leave()
			return a.send(ctx, x, a.Answers.Refuse(verb, err))
		}
		defer done()
		call.Body = body
		// The request was not counted while its body was still arriving, so it must
		// be admitted again. It goes before new requests, because it has already
		// waited.
		if !overdue.Stop() {
			if leave, err = a.requests.Acquire(ctx, admission.Request{Tenant: x.who.Organisation, Priority: 1}); err != nil {
				return a.send(ctx, x, a.Answers.Refuse(verb, err))
			}
		}
	}
	scratch := getBuffer()
	defer putBuffer(scratch)
	call.Scratch = *scratch
	limited, cancel := context.WithTimeout(ctx, a.RequestTimeout)
	defer cancel()
	if len(call.Body) > largeBody {
		free, err := a.enterLarge(limited, x.who.Organisation)
		if err != nil {
			leave()
			return a.send(ctx, x, a.Answers.Refuse(verb, err))
		}
		// Release both slots when the work is done: a client that reads slowly
		// would otherwise block everyone's long bodies.
		inWork := leave
		leave = func() { free(); inWork() }
	}
	return a.send(limited, x, a.do(limited, verb, call, leave))
}

// enterLarge waits for a slot for a long body. While other organisations are
// active, a used slot stays empty for a time that grows with the time the body
// took. This limits an organisation to a part of the processors, however long
// and numerous its bodies are.
func (a *API) enterLarge(ctx context.Context, organisation string) (free func(), err error) {
	leave, err := a.long.Acquire(ctx, admission.Request{Tenant: organisation})
	if err != nil {
		return nil, err
	}
	began := time.Now()
	return func() {
		if a.requests.Alone(organisation) {
			leave()
			return
		}
		time.AfterFunc(min(longBodyRest*time.Since(began), limits.LongBodyRest), leave)
	}, nil
}

const (
	// longBodyRest is how long a slot stays empty after a long body, as a multiple of
	// the time the body took.
	longBodyRest = 4
)

// largeBody is the length from which parsing a body takes noticeable time:
// thousands of short requests take as long as one of the largest. Such bodies
// have their own limiter.
const largeBody = limits.LongBody

// do runs a call and releases its slot, whatever happens: a client that reads
// slowly needs none.
func (a *API) do(ctx context.Context, verb *answer.Verb, call answer.Call, leave func()) answer.Answer {
	defer leave()
	return a.Answers.Do(ctx, verb, call)
}

// callList responds with a list. Lists have their own limiter, because they are
// active for as long as they are read.
func (a *API) callList(ctx context.Context, x *exchange) error {
	limiter := a.lists
	if x.route.verb.ReadsPersonal {
		limiter = a.accounts
	}
	free, err := limiter.Acquire(ctx, admission.Request{Tenant: x.who.Organisation})
	if err != nil {
		return err
	}
	defer free()
	limited, cancel := context.WithTimeout(ctx, limits.List)
	defer cancel()
	scratch := getBuffer()
	defer putBuffer(scratch)
	call := answer.Call{Who: x.who, Query: x.query, Path: x.params, Scratch: *scratch}
	return a.send(limited, x, a.Answers.Do(limited, x.route.verb, call))
}

// receive reserves memory for the body and reads it. The body is valid until
// done is called. If reading took long, the caller is authenticated again: the
// key may have been revoked.
func (a *API) receive(ctx context.Context, x *exchange) (body []byte, done func(), err error) {
	size := x.request.ContentLength
	if size > a.BodyLimit {
		return nil, nil, answer.TooLarge(a.BodyLimit)
	}
	if size < 0 {
		size = min(initialBuffer, a.BodyLimit) // unknown length: the reservation grows with the body
	}
	memory, err := a.budget.reserve(ctx, x.who.Organisation, size)
	if err != nil {
		return nil, nil, err
	}
	// A verb that keeps the body may use it after the request has ended, so the
	// body gets its own memory.
	buffer, done := new([]byte), memory.release
	if !x.route.verb.KeepsBody {
		buffer = getBuffer()
		done = func() {
			putBuffer(buffer)
			memory.release()
		}
	}
	if *buffer, err = x.readBody(a.BodyLimit, (*buffer)[:0], func(size int64) error { return memory.grow(ctx, size) }); err == nil {
		err = a.reauthenticate(ctx, x)
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	return *buffer, done, nil
}

// reauthenticate authenticates the caller again if the last time is too long
// ago.
func (a *API) reauthenticate(ctx context.Context, x *exchange) error {
	if x.route.access == publicAccess || time.Since(x.authenticated) < authLifetime {
		return nil
	}
	return a.authenticate(ctx, x)
}

// send writes an answer. An error before the first byte is still reported. After
// that, the connection is aborted, so that a client cannot mistake a partial
// response for a complete one.
func (a *API) send(ctx context.Context, x *exchange, answer answer.Answer) error {
	x.supplier = answer.Supplier
	if answer.Code != "" {
		a.refuse(ctx, x, answer)
		return nil
	}
	if answer.Next != "" {
		x.Header().Set("Link", a.nextPage(x, answer.Next))
	}
	if answer.Cursor != "" {
		x.Header().Set(cursorHeader, answer.Cursor)
	}
	if answer.Lines {
		x.media = typeLines
	}
	if answer.Pieces == nil {
		return x.json(answer.Status, answer.Body)
	}
	kept := resetOnAbort(ctx)
	err := answer.Pieces(func(piece []byte, last bool) error {
		switch {
		case last && x.status == 0:
			return x.json(answer.Status, piece)
		case x.request.Method == http.MethodHead:
			// The header is all there is to send.
			x.startJSON(answer.Status)
			return errHeaderSent
		}
		return a.sendPiece(ctx, x, answer.Status, piece)
	})
	if errors.Is(err, errHeaderSent) {
		err = nil
	}
	if err == nil || x.status == 0 {
		kept()
	}
	return err
}

// errSlowList ends a list that took too long as a whole.
var errSlowList = &landfall.Error{
	Kind: landfall.Unavailable, Code: landfall.CodeServiceUnavailable, RetryAfter: limitWait,
	Detail: "Reading the list took too long. Request it in pages.",
}

// errHeaderSent ends a list for a HEAD request.
var errHeaderSent = errors.New("the header is sent")

// sendPiece sends part of a body. Every piece moves the write deadline: a slow
// reader is cut off, a long list is not.
func (a *API) sendPiece(ctx context.Context, x *exchange, status int, piece []byte) error {
	if err := a.reauthenticate(ctx, x); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return errSlowList
	}
	if x.status == 0 {
		x.startJSON(status)
	}
	err := http.NewResponseController(x.ResponseWriter).SetWriteDeadline(time.Now().Add(a.WriteTimeout))
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	_, err = x.Write(piece)
	return err
}

// startJSON starts a response of unknown length.
func (x *exchange) startJSON(status int) {
	x.Header()["Content-Type"] = x.mediaType()
	x.WriteHeader(status)
}

// nextPage returns the Link to the next page, with the configured base URL or
// the host that the client used.
func (a *API) nextPage(x *exchange, query string) string {
	base := a.BaseURL
	if base == "" && x.request.Host != "" {
		base = "http://" + printable(x.request.Host)
		if x.request.TLS != nil {
			base = "https://" + printable(x.request.Host)
		}
	}
	return "<" + base + printable(x.path) + "?" + query + `>; rel="next"`
}

// retryAfter returns whole seconds.
func retryAfter(wait time.Duration) string { return strconv.Itoa(int(math.Ceil(wait.Seconds()))) }
