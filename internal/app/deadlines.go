package app

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"landfall/internal/lib/limits"
)

// bodyDeadlines limits how long a caller may take to send a request and to receive its
// answer.
type bodyDeadlines struct {
	start  time.Duration // for the header and the start of the body
	rate   int64         // bytes per second of the body; each byte read extends the deadline
	answer time.Duration
}

// deadlineStep is how much of a body is read between two extensions of the deadline.
// Most bodies are smaller and never need one.
const deadlineStep = 64 << 10

// slowBody is how long reading a body may take before the write deadline is
// restarted.
const slowBody = limits.SlowBodyNotice

// withDeadlines gives every request the time it needs and no more. A fixed limit would
// cut off a well-behaved caller with a large body on a slow connection, and still
// give all of it to one who sends a byte a second.
func withDeadlines(next http.Handler, deadlines bodyDeadlines) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		line := http.NewResponseController(w)
		if r.Body == http.NoBody {
			lift(line)
			next.ServeHTTP(w, r)
			return
		}
		// Change a copy: net/http looks at the body of its own request before it sends
		// the response. If it does not recognise a body that the client asks to send
		// (Expect: 100-continue), it waits for it.
		limited := *r
		body := &deadlineBody{ReadCloser: r.Body, line: line, deadlines: deadlines, began: time.Now(), due: deadlineStep}
		limited.Body = body
		next.ServeHTTP(w, &limited)
		if r.Header.Get("Expect") != "" && body.asked.IsZero() {
			// The client was never asked for the body, so it need not come.
			_ = line.SetReadDeadline(time.Now().Add(limits.UnaskedBody))
		}
	})
}

// lift removes the read deadline once the request is read. Otherwise it would end
// a long answer half-way, because the server treats an expired deadline as a
// disconnected caller.
func lift(line *http.ResponseController) { _ = line.SetReadDeadline(time.Time{}) }

// deadlineBody is a body that must arrive at a minimum rate. Only the time in which
// we wait for data counts: if we read slowly, as bulk does under load, the sender
// is not penalised.
type deadlineBody struct {
	io.ReadCloser
	line      *http.ResponseController
	deadlines bodyDeadlines
	began     time.Time
	read      int64
	due       int64         // the deadline is extended when read reaches it
	asked     time.Time     // when the last Read returned
	unused    time.Duration // time between reads, when we did not wait for data

	mu    sync.Mutex
	endBy time.Time // zero: no earlier end than the rate requires
}

// minPause is how long a pause between reads must be to extend the deadline;
// it is far shorter than bodyDeadlines.start.
const minPause = limits.BodyPause

// Read does not count the time between reads against the caller: a caller that
// waits for its turn is not slow.
func (b *deadlineBody) Read(into []byte) (int, error) {
	if !b.asked.IsZero() {
		if pause := time.Since(b.asked); pause > minPause {
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
	case err != nil && time.Since(b.began) > slowBody:
		// The write deadline, which also applies to a refusal, has been running
		// since the request began.
		_ = b.line.SetWriteDeadline(time.Now().Add(b.deadlines.answer))
	case err == nil && b.read >= b.due:
		b.due = b.read + deadlineStep
		b.extend()
	}
	return n, err
}

// extend extends the read deadline according to the bytes read.
func (b *deadlineBody) extend() {
	bought := time.Duration(float64(b.read) / float64(b.deadlines.rate) * float64(time.Second))
	b.mu.Lock()
	defer b.mu.Unlock()
	until := b.began.Add(b.deadlines.start + b.unused + bought)
	if !b.endBy.IsZero() && b.endBy.Before(until) {
		until = b.endBy
	}
	_ = b.line.SetReadDeadline(until)
}

// EndBy sets a time after which reads of the body fail.
func (b *deadlineBody) EndBy(at time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.endBy = at
	return b.line.SetReadDeadline(at)
}
