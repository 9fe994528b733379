package main

import (
	"context"
	"fmt"
	"time"
)

// shortestOfStream is the number of lines after which the throughput of a
// stream can be measured: so many that buffered lines do not matter.
const shortestOfStream = 18_000

// summaryLine follows the last response and says whether everything was staged.
const summaryLine = 1

// longBulk is the result of a bulk request with a million accounts.
type longBulk struct {
	lines       int64
	ratio       float64 // throughput of the last tenth divided by that of the first
	last, first sample
	peak        float64 // MiB
}

// measureLastTenth compares the throughput at the end of a long bulk request
// with that at the start of another one.
func measureLastTenth(ctx context.Context, p plan, m *harness) (measured, error) {
	found, err := m.book(ctx, p)
	if err != nil {
		return measured{}, err
	}
	return measured{
		ratio: found.ratio, ours: fmt.Sprintf("%.0f lines/s in the last tenth of %d", found.last.rate, found.lines),
		raw: fmt.Sprintf("%.0f lines/s in the first", found.first.rate),
	}, nil
}

// measureBulkMemory returns the peak memory of the server meanwhile.
func measureBulkMemory(ctx context.Context, p plan, m *harness) (measured, error) {
	found, err := m.book(ctx, p)
	if err != nil {
		return measured{}, err
	}
	return measured{
		ratio: found.peak, atMost: true, ours: fmt.Sprintf("%.0f MiB at most", found.peak),
		raw: fmt.Sprintf("%d lines", found.lines),
	}, nil
}

// book sends the request once and keeps the result for both measurements.
func (m *harness) book(ctx context.Context, p plan) (*longBulk, error) {
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
	// Stop sending before the services stop, or they would wait for the rest.
	ctx, end := context.WithCancel(ctx)
	defer end()
	found := &longBulk{lines: int64(p.rows)}
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

// longStream starts a server on its own database, with a bulk request that
// starts at the first question for its progress.
func (m *harness) longStream(ctx context.Context, name string, lines int64) (*paced, error) {
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
			// Wait for the summary.
			return min(lines, sent.answered.Load()), nil
		}
	}}, nil
}
