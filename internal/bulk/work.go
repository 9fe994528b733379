package bulk

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"landfall/internal/answer"
)

// work does lines until there are no more.
func (t *stream) work(ctx context.Context) {
	var scratch []byte
	for e := range t.ready {
		for e != nil {
			final := undone
			if t.begin(e) {
				final, scratch = t.do(ctx, e, scratch)
			}
			e.release()
			e = t.end(e, final)
		}
	}
}

// do answers a line, however often that must be tried, unless the request is
// stopped meanwhile.
func (t *stream) do(ctx context.Context, e *entry, scratch []byte) (state, []byte) {
	call := answer.Call{Who: t.author(e), Query: t.request.Query, Body: e.text, Scratch: scratch}
	waits := backoff{}
	for {
		given := t.attempt(ctx, e, call)
		switch remedyFor(given) {
		case stopNow:
			t.stop(told(given))
			return undone, scratch
		case tryAgain:
			if err := waits.pause(t, given); err != nil {
				t.stop(err)
				return undone, scratch
			}
			continue
		}
		t.note(ctx, e, given)
		return done, reuse(scratch, given.Body, e.text)
	}
}

// attempt asks for the answer once. What it had to be told is the same as if
// the line had come alone.
func (t *stream) attempt(ctx context.Context, e *entry, call answer.Call) answer.Answer {
	if e.long {
		return t.Answers.Refuse(t.request.Verb, answer.TooLarge(t.LineLimit))
	}
	limited, cancel := context.WithTimeout(ctx, t.CallTime)
	defer cancel()
	return t.Answers.Do(limited, t.request.Verb, call)
}

// reuse keeps the memory of an answer that was written into our own.
func reuse(scratch, body, sent []byte) []byte {
	const most = 64 << 10
	if cap(body) > cap(scratch) && cap(body) <= most && !within(body, sent) {
		return body[:0]
	}
	return scratch
}

// within says whether an answer is the very bytes that were sent.
func within(body, sent []byte) bool { return len(body) > 0 && len(sent) > 0 && &body[0] == &sent[0] }

// note writes the line of an answer.
func (t *stream) note(ctx context.Context, e *entry, given answer.Answer) {
	e.status, e.about = given.Status, given.Supplier
	e.out = appendAnswer(make([]byte, 0, len(given.Body)+48), e.number, given)
	if given.Status == http.StatusInternalServerError {
		t.Logger.LogAttrs(ctx, slog.LevelError, "line failed",
			slog.String("request_id", t.request.Who.RequestID), slog.Int64("line", e.number),
			slog.String("kind", t.request.Verb.Tail), slog.String("code", given.Code), slog.Any("error", given.Cause))
	}
	t.Count(t.request.Verb, given.Status)
}

// appendAnswer writes a line. A body has no line breaks but where it repeats
// what somebody sent with some in it; between tokens a space is the same.
func appendAnswer(dst []byte, number int64, given answer.Answer) []byte {
	dst = append(dst, `{"line":`...)
	dst = strconv.AppendInt(dst, number, 10)
	dst = append(dst, `,"status":`...)
	dst = strconv.AppendInt(dst, int64(given.Status), 10)
	dst = append(dst, `,"body":`...)
	from := len(dst)
	dst = append(dst, given.Body...)
	for i := from; i < len(dst); i++ {
		if dst[i] == '\n' {
			dst[i] = ' '
		}
	}
	return append(dst, "}\n"...)
}

// pauseBetween bounds how long a line waits before it is tried again.
const (
	firstPause   = 20 * time.Millisecond
	longestPause = time.Second
)
