package bulk

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"landfall/internal/api/answer"
	"landfall/internal/lib/limits"
)

const (
	// maxBatch is how many lines are handed to the database together, where that
	// is cheaper, and bundleInCompany how many while others wait for it.
	maxBatch     = 512
	maxBatchBusy = 8
	// A transaction costs nearly the same for one line as for a hundred, so the
	// next one is waited for so long, and the last one so long in all.
	batchLinger    = limits.BulkNextLine
	maxBatchLinger = limits.BulkBatch
)

// work does lines until there are no more.
func (t *stream) work(ctx context.Context) {
	w := worker{stream: t, ctx: ctx, cancel: func() {}}
	defer func() { w.cancel() }()
	for w.take() {
		for len(w.lines) > 0 {
			t.inTurn(ctx, len(w.lines) > 1 || t.request.Verb.Batches(), w.do)
		}
	}
}

// worker does some lines at a time.
type worker struct {
	*stream
	ctx          context.Context //nolint:containedctx // a worker lives within its request
	callDeadline time.Time       // when limited ends
	callCtx      context.Context //nolint:containedctx // it is made for many lines at once
	cancel       context.CancelFunc
	lines        []*entry
	calls        []answer.Call
	scratch      []byte
}

// take waits for the next line, and for those behind it where many are cheaper. It
// says whether there are any.
func (w *worker) take() bool {
	w.lines = w.lines[:0]
	if !w.request.Verb.Batches() {
		e, more := <-w.ready
		w.lines = append(w.lines, e)
		return more
	}
	// One worker at a time: several would share out what arrives, and each begin
	// with a line or two.
	w.taking.Lock()
	defer w.taking.Unlock()
	e, more := <-w.ready
	if more {
		w.lines = append(w.lines, e)
		w.gather()
	}
	return more
}

// gather takes up further lines, as long as they come one soon after the other.
func (w *worker) gather() {
	most := maxBatch
	if w.Busy() {
		most = maxBatchBusy
	}
	end := time.Now().Add(maxBatchLinger)
	for len(w.lines) < most {
		if len(w.ready) == 0 && !w.waitForLine(end) {
			return
		}
		e, more := <-w.ready
		if !more {
			return
		}
		w.lines = append(w.lines, e)
	}
}

// waitForLine waits for the next line, and says whether it may be here.
func (w *worker) waitForLine(end time.Time) bool {
	now := time.Now()
	for soon := now.Add(batchLinger); now.Before(soon) && now.Before(end); now = time.Now() {
		time.Sleep(batchLinger / 10)
		if len(w.ready) > 0 {
			return true
		}
	}
	return false
}

// do answers the lines it has. Those of the same accounts that waited for them
// are what it has next.
func (w *worker) do() {
	open := make([]*entry, 0, len(w.lines))
	for _, e := range w.lines {
		switch {
		case !w.begin(e):
		case e.tooLong:
			w.note(w.ctx, e, w.Answers.Refuse(w.request.Verb, answer.TooLarge(w.LineLimit)))
		default:
			open = append(open, e)
		}
	}
	w.answer(open)
	next := w.lines[:0:0]
	for _, e := range w.lines {
		e.release()
		if behind := w.end(e); behind != nil {
			next = append(next, behind)
		}
	}
	w.lines = next
}

// answer puts down the answers of lines, which are tried again as often as that
// helps, unless the request is stopped meanwhile.
func (w *worker) answer(open []*entry) {
	for waits := (backoff{}); len(open) > 0; {
		answers := w.attempts(open)
		again, last := open[:0:0], answer.Answer{}
		for i, e := range open {
			switch remedyFor(answers[i]) {
			case stopNow:
				w.stop(told(answers[i]))
			case tryAgain:
				again, last = append(again, e), answers[i]
			default:
				w.note(w.ctx, e, answers[i])
				w.scratch = reuse(w.scratch, answers[i].Body, e.text)
			}
		}
		// One look at the clock for all of them: nobody waits by the microsecond.
		if len(again) < len(open) {
			w.lastDone.Store(time.Now().UnixMicro())
		}
		if open = again; len(open) == 0 {
			return
		}
		if reason := waits.pause(w.stream, last); reason != nil {
			w.stop(reason)
			return
		}
	}
}

// attempts asks for the answers of lines once.
func (w *worker) attempts(lines []*entry) []answer.Answer {
	ctx := w.context()
	w.calls = w.calls[:0]
	for _, e := range lines {
		w.calls = append(w.calls, answer.Call{Who: w.principal(e), Query: w.request.Query, Body: e.text})
	}
	if len(lines) > 1 {
		if answers, ok := w.attemptBatch(ctx, lines); ok {
			return answers
		}
	}
	answers := make([]answer.Answer, len(lines))
	for i, e := range lines {
		w.calls[i].Scratch = w.scratch
		if i > 0 {
			w.calls[i].Scratch = nil // the first answer is still in it
		}
		answers[i] = w.attempt(ctx, e, w.calls[i])
	}
	return answers
}

// context gives a context that lasts as long as a line may take, at least. It is
// made for many lines, since one for each would cost more than it is worth.
func (w *worker) context() context.Context {
	if now := time.Now(); w.callCtx == nil || w.callDeadline.Sub(now) < w.CallTimeout {
		w.cancel()
		w.callDeadline = now.Add(2 * w.CallTimeout)
		w.callCtx, w.cancel = context.WithDeadline(w.ctx, w.callDeadline)
	}
	return w.callCtx
}

// attemptBatch has lines answered with each other. When something of ours breaks on
// the way, each is tried alone, so that only one suffers.
func (w *worker) attemptBatch(ctx context.Context, lines []*entry) (answers []answer.Answer, ok bool) {
	defer func() {
		if fault := recover(); fault != nil {
			w.panicked(ctx, lines[0], fault)
			answers, ok = nil, false
		}
	}()
	return w.Answers.DoBatch(ctx, w.request.Verb, w.calls), true
}

// attempt asks for the answer of a line once. What it is told is the same as if
// the line had come alone.
func (w *worker) attempt(ctx context.Context, e *entry, call answer.Call) (given answer.Answer) {
	defer func() {
		if fault := recover(); fault != nil {
			w.panicked(ctx, e, fault)
			given = w.Answers.Refuse(w.request.Verb, errPanic)
		}
	}()
	return w.Answers.Do(ctx, w.request.Verb, call)
}

var errPanic = errors.New("panic")

// panicked logs a fault of ours, without its text, which may hold what was sent.
func (t *stream) panicked(ctx context.Context, e *entry, fault any) {
	t.Logger.LogAttrs(ctx, slog.LevelError, "panic",
		slog.String("request_id", t.request.Who.RequestID), slog.Int64("line", e.number),
		slog.String("fault", fmt.Sprintf("%T", fault)), slog.String("stack", string(debug.Stack())))
}

// reuse keeps the memory of an answer that was written into our own.
func reuse(scratch, body, sent []byte) []byte {
	const most = 16 << 10 // of hundreds of workers
	if cap(body) > cap(scratch) && cap(body) <= most && !sameBytes(body, sent) {
		return body[:0]
	}
	return scratch
}

// sameBytes says whether an answer is the very bytes that were sent.
func sameBytes(body, sent []byte) bool { return len(body) > 0 && len(sent) > 0 && &body[0] == &sent[0] }

// note writes the line of an answer.
func (t *stream) note(ctx context.Context, e *entry, given answer.Answer) {
	e.status, e.supplier = given.Status, given.Supplier
	e.out = appendAnswer(make([]byte, 0, len(given.Body)+48), e.number, given)
	if given.Status == http.StatusInternalServerError {
		t.Logger.LogAttrs(ctx, slog.LevelError, "line failed",
			slog.String("request_id", t.request.Who.RequestID), slog.Int64("line", e.number),
			slog.String("kind", t.request.Verb.Path), slog.String("code", given.Code), slog.Any("error", given.Cause))
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
