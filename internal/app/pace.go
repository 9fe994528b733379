package app

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"landfall/internal/lib/limits"
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
const noticeable = limits.SlowBodyNotice

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

// pacedBody is a body that has to keep coming. Only the time counts in which we
// wait for it: whoever reads slowly, as bulk does when there is much to do, does
// not hold that against the sender.
type pacedBody struct {
	io.ReadCloser
	line   *http.ResponseController
	pace   pace
	began  time.Time
	read   int64
	due    int64         // when read gets there, time is added
	asked  time.Time     // when we last began to wait, or stopped
	unused time.Duration // in which nobody waited for it

	mu    sync.Mutex
	endBy time.Time // zero: whenever the pace says
}

// pauseNoticed is how long nobody asks for more of a body before that is made up
// for; it is far less than what the start allows.
const pauseNoticed = limits.BodyPause

// Read counts the time in which nobody asked as ours and not the caller's:
// who waits for his turn is not slow.
func (b *pacedBody) Read(into []byte) (int, error) {
	if !b.asked.IsZero() {
		if pause := time.Since(b.asked); pause > pauseNoticed {
			b.unused += pause
			b.extend()
		}
	}
	n, err := b.ReadCloser.Read(into)
	b.asked = time.Now()
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
		b.extend()
	}
	return n, err
}

// extend gives the sender the time that what was read has bought.
func (b *pacedBody) extend() {
	bought := time.Duration(float64(b.read) / float64(b.pace.rate) * float64(time.Second))
	b.mu.Lock()
	defer b.mu.Unlock()
	until := b.began.Add(b.pace.start + b.unused + bought)
	if !b.endBy.IsZero() && b.endBy.Before(until) {
		until = b.endBy
	}
	_ = b.line.SetReadDeadline(until)
}

// EndBy sets a time by which whoever waits for more of the body gives up.
func (b *pacedBody) EndBy(at time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.endBy = at
	return b.line.SetReadDeadline(at)
}
