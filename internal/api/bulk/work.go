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
	// maxBatch is how many lines go to the database together, for verbs where
	// that is cheaper. maxBatchBusy is the same while single calls arrive.
	maxBatch     = 512
	maxBatchBusy = 8
	// A transaction costs nearly the same for one line as for a hundred. So a
	// worker waits batchLinger for each next line, and maxBatchLinger in total.
	batchLinger    = limits.BulkNextLine
	maxBatchLinger = limits.BulkBatch
)

// work processes lines until there are no more.
func (t *stream) work(ctx context.Context) {
	w := worker{stream: t, ctx: ctx, cancel: func() {}}
	defer func() { w.cancel() }()
	for w.take() {
		// Before a turn, so that lines of other suppliers have it meanwhile.
		leave := t.Answers.WaitForPlace(ctx, t.request.Verb, t.request.Who, w.lines[0].key.Supplier)
		for len(w.lines) > 0 {
			t.inTurn(ctx, len(w.lines) > 1 || t.request.Verb.Batches(), w.do)
		}
		leave()
	}
}

// worker processes one or more lines at a time.
type worker struct {
	*stream
	ctx          context.Context //nolint:containedctx // a worker lives within its request
	callDeadline time.Time       // of callCtx
	callCtx      context.Context //nolint:containedctx // it is made for many lines at once
	cancel       context.CancelFunc
	lines        []*entry
	calls        []answer.Call
	scratch      []byte
}

// take waits for the next line, and collects more if the verb processes
// batches. It reports whether there are any.
func (w *worker) take() bool {
	w.lines = w.lines[:0]
	if !w.request.Verb.Batches() {
		e, more := <-w.ready
		w.lines = append(w.lines, e)
		return more
	}
	// Only one worker collects at a time. Several would share the arriving lines,
	// and each would start with only one or two.
	w.taking.Lock()
	defer w.taking.Unlock()
	e, more := <-w.ready
	if more {
		w.lines = append(w.lines, e)
		w.gather()
	}
	return more
}

// gather collects more lines as long as each follows soon after the one before.
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

// waitForLine waits for the next line and reports whether there may be one.
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

// do answers the worker's lines. The lines of the same accounts that waited for
// them become its next lines.
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

// answer records the answers of lines. It retries lines as long as that helps,
// unless the request is stopped.
func (w *worker) answer(open []*entry) {
	for waits := (backoff{}); len(open) > 0; {
		answers := w.attempts(open)
		again, last := open[:0:0], answer.Answer{}
		for i, e := range open {
			switch remedyFor(answers[i]) {
			case stopNow:
				w.stop(errorOf(answers[i]))
			case tryAgain:
				again, last = append(again, e), answers[i]
			default:
				w.note(w.ctx, e, answers[i])
				w.scratch = reuse(w.scratch, answers[i].Body, e.text)
			}
		}
		// Read the clock once for all of them; the precision is enough.
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

// attempts tries lines once and returns their answers.
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

// context returns a context that lasts at least as long as a line may take. It
// is shared by many lines, because one for each would cost too much.
func (w *worker) context() context.Context {
	if now := time.Now(); w.callCtx == nil || w.callDeadline.Sub(now) < w.CallTimeout {
		w.cancel()
		w.callDeadline = now.Add(2 * w.CallTimeout)
		w.callCtx, w.cancel = context.WithDeadline(w.ctx, w.callDeadline)
	}
	return w.callCtx
}

// attemptBatch answers lines together. After a panic, each line is tried alone,
// so that only one fails.
func (w *worker) attemptBatch(ctx context.Context, lines []*entry) (answers []answer.Answer, ok bool) {
	defer func() {
		if fault := recover(); fault != nil {
			w.panicked(ctx, lines[0], fault)
			answers, ok = nil, false
		}
	}()
	return w.Answers.DoBatch(ctx, w.request.Verb, w.calls, w.processorTurn), true
}

// attempt tries one line. Its answer is the same as if the line were a single
// call.
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

// panicked logs a panic without its text, which may contain data of the
// request.
func (t *stream) panicked(ctx context.Context, e *entry, fault any) {
	t.Logger.LogAttrs(ctx, slog.LevelError, "panic",
		slog.String("request_id", t.request.Who.RequestID), slog.Int64("line", e.number),
		slog.String("fault", fmt.Sprintf("%T", fault)), slog.String("stack", string(debug.Stack())))
}

// reuse returns the memory of an answer for the next one, if it is the worker's
// own.
func reuse(scratch, body, sent []byte) []byte {
	const maxSize = 16 << 10 // there are hundreds of workers
	if cap(body) > cap(scratch) && cap(body) <= maxSize && !sameBytes(body, sent) {
		return body[:0]
	}
	return scratch
}

// sameBytes reports whether an answer shares its memory with the request.
func sameBytes(body, sent []byte) bool { return len(body) > 0 && len(sent) > 0 && &body[0] == &sent[0] }

// note records the answer of a line.
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

// appendAnswer appends a line of the response. A body contains a line break
// only where it repeats one that a client sent between tokens; a space is
// equivalent there.
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
