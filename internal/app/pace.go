package app

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// pace is how long a caller may take to send a request and to take its answer.
type pace struct {
	start  time.Duration // for the header and the first of the body
	rate   int64         // bytes of a body a second, which buy more time
	answer time.Duration
}

// paceStep is how much of a body buys the next piece of time: small bodies, the
// usual ones, never get to ask for any.
const paceStep = 64 << 10

// noticeable is a time to send a body that would be missing for the answer.
const noticeable = 500 * time.Millisecond

// patient gives every request the time it needs and no more. A flat limit would
// cut off an honest caller with a large body on a thin line, and still leave one
// who sends a byte a second all of it.
func patient(next http.Handler, pace pace) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		line := http.NewResponseController(w)
		if r.Body == http.NoBody {
			lift(line)
		} else {
			r.Body = &pacedBody{ReadCloser: r.Body, line: line, pace: pace, began: time.Now(), due: paceStep}
		}
		next.ServeHTTP(w, r)
	})
}

// lift ends the time limit for sending a request once there is nothing left to
// send. Left in place it would end a long answer half-way, because the server
// takes the limit's end for a caller that left.
func lift(line *http.ResponseController) { _ = line.SetReadDeadline(time.Time{}) }

// pacedBody is a body that has to keep coming.
type pacedBody struct {
	io.ReadCloser
	line  *http.ResponseController
	pace  pace
	began time.Time
	read  int64
	due   int64 // when read gets there, time is added
}

func (b *pacedBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	b.read += int64(n)
	if errors.Is(err, io.EOF) {
		lift(b.line)
	}
	switch {
	case err != nil && time.Since(b.began) > noticeable:
		// The time for the answer, a refusal too, has been running all the while.
		_ = b.line.SetWriteDeadline(time.Now().Add(b.pace.answer))
	case err == nil && b.read >= b.due:
		b.due = b.read + paceStep
		bought := time.Duration(float64(b.read) / float64(b.pace.rate) * float64(time.Second))
		_ = b.line.SetReadDeadline(b.began.Add(b.pace.start + bought))
	}
	return n, err
}
