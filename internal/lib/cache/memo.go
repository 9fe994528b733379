// Package memo remembers answers for a moment and asks each question once at a
// time. It takes the question that every request repeats off the database, and
// forgets so fast that nobody notices a change late.
package cache

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Memo remembers the answers to questions of one kind. Two generations bound
// it: when the young one is full, the old one is dropped whole, which costs
// nothing per entry and forgets at most some short-lived answers.
type Memo[Question comparable, Answer any] struct {
	limits Limits

	mu         sync.Mutex
	young, old map[Question]*entry[Answer]
}

// Limits says how long answers live and how many there are.
type Limits struct {
	Life     time.Duration // of an answer, counted from before it was asked for
	Patience time.Duration // with one question, which many callers may wait for
	Size     int           // of a generation
}

// entry is a question under way or answered. The fields below done may be read
// once it is closed.
type entry[Answer any] struct {
	asked time.Time
	done  chan struct{}
	found Answer
	err   error
}

// New gives an empty memo.
func New[Question comparable, Answer any](limits Limits) *Memo[Question, Answer] {
	return &Memo[Question, Answer]{limits: limits, young: map[Question]*entry[Answer]{}}
}

// Get gives the remembered answer, or waits for the one being asked for, or
// asks. A failure to ask is not remembered, so that the next caller tries anew;
// that there is no such thing is an answer and no failure.
func (m *Memo[Question, Answer]) Get(
	ctx context.Context, question Question, now time.Time, ask func(context.Context) (Answer, error),
) (Answer, error) {
	entry, first := m.entry(question, now)
	if first {
		// Others may be waiting for the same answer, so the question outlives the
		// patience of the caller that happened to ask it first.
		m.fill(context.WithoutCancel(ctx), question, entry, ask)
	}
	// Nearly always the answer is there, and looking at one channel is cheaper than
	// waiting for two.
	select {
	case <-entry.done:
		return entry.found, entry.err
	default:
	}
	select {
	case <-entry.done:
		return entry.found, entry.err
	case <-ctx.Done():
		var none Answer
		return none, ctx.Err()
	}
}

// Len says how many answers are kept, stale ones included.
func (m *Memo[Question, Answer]) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.young) + len(m.old)
}

// entry finds a fresh entry, or makes one that the caller must fill.
func (m *Memo[Question, Answer]) entry(question Question, now time.Time) (found *entry[Answer], first bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, generation := range [2]map[Question]*entry[Answer]{m.young, m.old} {
		if found := generation[question]; found != nil {
			// A clock that was set back makes the age negative: ask again then.
			if age := now.Sub(found.asked); age >= 0 && age < m.limits.Life {
				return found, false
			}
		}
	}
	if len(m.young) >= m.limits.Size {
		m.young, m.old = make(map[Question]*entry[Answer]), m.young
	}
	found = &entry[Answer]{asked: now, done: make(chan struct{})}
	m.young[question] = found
	return found, true
}

// fill asks and wakes everybody who waits. A failure is taken out again; a
// panic on the way counts as one.
func (m *Memo[Question, Answer]) fill(
	ctx context.Context, question Question, entry *entry[Answer], ask func(context.Context) (Answer, error),
) {
	ctx, cancel := context.WithTimeout(ctx, m.limits.Patience)
	defer cancel()
	entry.err = errors.New("the question was not answered")
	defer close(entry.done)
	defer func() {
		if entry.err != nil {
			m.forget(question, entry)
		}
	}()
	entry.found, entry.err = ask(ctx)
}

// forget takes an entry out, unless another has taken its place.
func (m *Memo[Question, Answer]) forget(question Question, gone *entry[Answer]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, generation := range [2]map[Question]*entry[Answer]{m.young, m.old} {
		if generation[question] == gone {
			delete(generation, question)
		}
	}
}
