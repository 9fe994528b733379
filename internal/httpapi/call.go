package httpapi

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"landfall/internal/answer"
)

// call reads a request of a verb, has it answered, and sends the answer.
func (a *API) call(ctx context.Context, x *exchange) error {
	verb := x.route.verb
	if !verb.Listed {
		limited, cancel := context.WithTimeout(ctx, a.RequestTimeout)
		defer cancel()
		ctx = limited
	}
	call := answer.Call{Who: x.who, Query: x.query, Path: x.params}
	if x.route.reads() {
		body := borrow()
		defer giveBack(body)
		if verb.Keeps {
			// Somebody may still hold the body when the request is over, so it
			// gets memory of its own.
			body = new([]byte)
		}
		var err error
		if *body, err = x.readBody(a.BodyLimit, (*body)[:0]); err != nil {
			return a.send(ctx, x, a.Answers.Refuse(verb, err))
		}
		call.Body = *body
	}
	scratch := borrow()
	defer giveBack(scratch)
	call.Scratch = *scratch
	return a.send(ctx, x, a.Answers.Do(ctx, verb, call))
}

// send writes an answer. Whatever goes wrong before its first byte can still
// be told; afterwards the connection is cut, so that no client takes half an
// answer for a whole one.
func (a *API) send(ctx context.Context, x *exchange, answer answer.Answer) error {
	if answer.Code != "" {
		a.refuse(ctx, x, answer)
		return nil
	}
	if answer.Next != "" {
		x.Header().Set("Link", x.nextPage(answer.Next))
	}
	if answer.Pieces == nil {
		return x.json(answer.Status, answer.Body)
	}
	return answer.Pieces(func(piece []byte, last bool) error {
		if last && x.status == 0 {
			return x.json(answer.Status, piece)
		}
		return a.sendPiece(x, answer.Status, piece)
	})
}

// sendPiece sends part of a body and pushes the deadline of the connection
// back by the time limit of a request: a slow reader is cut off, a long list
// is not.
func (a *API) sendPiece(x *exchange, status int, piece []byte) error {
	if x.status == 0 {
		x.Header()["Content-Type"] = typeJSON
		x.WriteHeader(status)
	}
	deadline := time.Now().Add(a.RequestTimeout)
	if err := http.NewResponseController(x.ResponseWriter).SetWriteDeadline(deadline); err != nil &&
		!errors.Is(err, http.ErrNotSupported) {
		return err
	}
	_, err := x.Write(piece)
	return err
}

// nextPage links to the page behind this one. It is relative to the host the
// client used, which we neither know nor believe.
func (x *exchange) nextPage(query string) string {
	return fmt.Sprintf(`<%s?%s>; rel="next"`, printable(x.path), query)
}

// retryAfter says how long to wait, in whole seconds.
func retryAfter(wait time.Duration) string { return strconv.Itoa(int(math.Ceil(wait.Seconds()))) }
