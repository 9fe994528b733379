package app

import (
	"context"
	"errors"
	"hash/maphash"
	"log/slog"
	"strings"
	"sync"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
)

// throttle is a slog.Handler that keeps repeated warnings and errors from filling the
// log. Of equal lines it passes on the first few of a minute, of lines with the same
// message some more. The others are counted; at the end of the minute the last of them
// is written with their number as left_out. Lines below warnings always pass.
//
// Lines whose error is an unavailable database count as equal. While the database is
// known to be lost they are only counted, because one line has said so.
type throttle struct {
	slog.Handler
	*throttleState
}

// throttleState is shared by the handlers that With and WithGroup derive.
type throttleState struct {
	window time.Duration
	seed   maphash.Seed
	wake   chan struct{} // receives when a line says that the database is unavailable

	mu       sync.Mutex
	messages map[string]*messageCount
	lost     bool  // the database
	leftOut  int64 // lines since it was lost
}

// messageCount is what happened to the lines of a message in this window.
type messageCount struct {
	passed  int
	equal   map[uint64]int
	leftOut int64
	last    slog.Record
	handler slog.Handler // of the last record
}

func newThrottle(next slog.Handler) throttle {
	return throttle{next, &throttleState{
		window: limits.LogRepeatSpan, seed: maphash.MakeSeed(), wake: make(chan struct{}, 1), messages: map[string]*messageCount{},
	}}
}

// unavailableMessage stands for the messages of all lines whose error is an unavailable
// database.
const unavailableMessage = "database unavailable"

// overloadedMessage stands for those of all lines whose error is that too much work waits.
// While the database is lost, that is a consequence.
const overloadedMessage = "database overloaded"

// Handle implements slog.Handler.
func (t throttle) Handle(ctx context.Context, record slog.Record) error {
	if record.Level < slog.LevelWarn {
		return t.Handler.Handle(ctx, record)
	}
	message, key := t.describe(record)
	if message == unavailableMessage {
		select {
		case t.wake <- struct{}{}:
		default: // already woken
		}
	}
	if !t.admit(message, key, record, t.Handler) {
		return nil
	}
	return t.Handler.Handle(ctx, record)
}

// describe returns the message under which a line counts, and a hash of its texts.
// Numbers and the id of a request differ between lines that say the same.
func (t *throttleState) describe(record slog.Record) (message string, key uint64) {
	var hash maphash.Hash
	hash.SetSeed(t.seed)
	message = record.Message
	record.Attrs(func(attr slog.Attr) bool {
		switch attr.Value.Kind() {
		case slog.KindString:
			if attr.Key != "request_id" {
				_, _ = hash.WriteString(attr.Key + "=" + attr.Value.String() + "\n") // it cannot fail
			}
		case slog.KindAny:
			err, is := attr.Value.Any().(error)
			if !is {
				return true
			}
			// What is sent twice because of it is more than the loss.
			switch {
			case strings.HasSuffix(message, "sent again"):
			case errors.Is(err, landfall.ErrOverloaded):
				message = overloadedMessage
			case errors.Is(err, landfall.ErrUnavailable):
				message = unavailableMessage
			}
			_, _ = hash.WriteString(err.Error())
		}
		return true
	})
	if message == unavailableMessage {
		return message, 0
	}
	return message, hash.Sum64()
}

// damagedMessage is about each damaged account. The log leaves none of them out.
const damagedMessage = "stored data is damaged"

// admit reports whether a line is written now, and counts it otherwise.
func (t *throttleState) admit(message string, key uint64, record slog.Record, handler slog.Handler) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lost && (message == unavailableMessage || message == overloadedMessage) {
		t.leftOut++
		return false
	}
	count := t.messages[message]
	if count == nil {
		count = &messageCount{equal: map[uint64]int{}}
		t.messages[message] = count
		time.AfterFunc(t.window, func() { t.end(message) })
	}
	if message == damagedMessage || count.passed < limits.LogMessages && count.equal[key] < limits.LogRepeats {
		count.passed++
		count.equal[key]++
		return true
	}
	count.leftOut++
	count.last, count.handler = record.Clone(), handler
	return false
}

// end closes the window of a message and writes what was left out.
func (t *throttleState) end(message string) {
	t.mu.Lock()
	count := t.messages[message]
	delete(t.messages, message)
	t.mu.Unlock()
	if count != nil && count.leftOut > 0 {
		count.last.AddAttrs(slog.Int64("left_out", count.leftOut))
		_ = count.handler.Handle(context.Background(), count.last) // the writer never fails
	}
}

// flush writes what was left out until now.
func (t *throttleState) flush() {
	t.mu.Lock()
	var open []string
	for message := range t.messages {
		open = append(open, message)
	}
	t.mu.Unlock()
	for _, message := range open {
		t.end(message)
	}
}

// databaseLost starts or ends the time in which lines about an unavailable database are
// only counted. It returns how many there were.
func (t *throttleState) databaseLost(lost bool) (leftOut int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if count := t.messages[unavailableMessage]; count != nil && lost {
		// The line about the loss replaces them.
		t.leftOut, count.leftOut = count.leftOut, 0
	}
	t.lost = lost
	if !lost {
		leftOut, t.leftOut = t.leftOut, 0
	}
	return leftOut
}

// WithAttrs implements slog.Handler.
func (t throttle) WithAttrs(attrs []slog.Attr) slog.Handler {
	return throttle{t.Handler.WithAttrs(attrs), t.throttleState}
}

// WithGroup implements slog.Handler.
func (t throttle) WithGroup(name string) slog.Handler {
	return throttle{t.Handler.WithGroup(name), t.throttleState}
}
