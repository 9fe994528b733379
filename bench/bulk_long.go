package main

import (
	"context"
	"fmt"
	"time"
)

// shortestOfStream is how many lines are enough to take the pace of a stream: so many
// that what waits in the buffers on the way does not count.
const shortestOfStream = 18_000

// summaryLine is what comes behind the last answer and says whether everything was
// staged.
const summaryLine = 1

// book is what became of a million accounts in one bulk request.
type book struct {
	lines       int64
	ratio       float64 // of the pace in its last tenth to that in a first
	last, first sample
	peak        float64 // MiB
}

// measureLastTenth compares the pace at the end of a long bulk request with that
// at the beginning of another.
func measureLastTenth(ctx context.Context, p plan, m *machinery) (result, error) {
	found, err := m.book(ctx, p)
	if err != nil {
		return result{}, err
	}
	return result{
		ratio: found.ratio, ours: fmt.Sprintf("%.0f lines/s in the last tenth of %d", found.last.rate, found.lines),
		raw: fmt.Sprintf("%.0f lines/s in the first", found.first.rate),
	}, nil
}

// measureBulkMemory gives the most memory the server took for it.
func measureBulkMemory(ctx context.Context, p plan, m *machinery) (result, error) {
	found, err := m.book(ctx, p)
	if err != nil {
		return result{}, err
	}
	return result{
		ratio: found.peak, atMost: true, ours: fmt.Sprintf("%.0f MiB at most", found.peak),
		raw: fmt.Sprintf("%d lines", found.lines),
	}, nil
}

// book sends one once for all who want to know of it.
func (m *machinery) book(ctx context.Context, p plan) (*book, error) {
	if m.million != nil {
		return m.million, nil
	}
	young, err := m.longStream(ctx, "young_million", int64(p.rows))
	if err != nil {
		return nil, err
	}
	defer young.stop()
	old, err := m.longStream(ctx, "million", int64(p.rows))
	if err != nil {
		return nil, err
	}
	defer old.stop()
	// What is still being sent ends before the services do, or they would wait for the rest of it.
	ctx, end := context.WithCancel(ctx)
	defer end()
	found := &book{lines: int64(p.rows)}
	if found.ratio, found.last, found.first, err = tenths(ctx, old, young, found.lines, shortestOfStream); err != nil {
		return nil, err
	}
	if err := old.finish(ctx, found.lines+summaryLine); err != nil {
		return nil, err
	}
	found.peak, err = old.memory("VmHWM")
	m.million = found
	return found, err
}

// longStream serves a database of its own, for a bulk request that begins when
// somebody first asks how far it is.
func (m *machinery) longStream(ctx context.Context, name string, lines int64) (*paced, error) {
	s, err := m.serveNew(ctx, fresh(name))
	if err != nil {
		return nil, err
	}
	var sent *streamed
	var failure error
	ended := make(chan struct{})
	return &paced{service: s, every: 2 * time.Millisecond, far: func(ctx context.Context) (int64, error) {
		if sent == nil {
			sent = &streamed{}
			// So long that only the number of lines ends it.
			go func() {
				defer close(ended)
				failure = s.streamTo(ctx, sent, &counter{}, 24*time.Hour, lines)
			}()
		}
		select {
		case <-ended:
			return lines + summaryLine, failure
		case <-ctx.Done():
			return 0, ctx.Err()
		default:
			// The summary counts when it was looked at.
			return min(lines, sent.answered.Load()), nil
		}
	}}, nil
}
