package main

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// measureBeside returns by which factor the median of single calls grows while
// bulk requests of the same organisation keep the service busy.
func measureBeside(ctx context.Context, p plan, _ *harness, s *service) (measured, error) {
	numbers := &counter{}
	// One connection, because the latency of a single caller counts, not the
	// throughput.
	single := s.load(stagePath, numbers.account)
	single.connections = 1
	// Without bulk requests first, on the same server, so that it is warm.
	idle, err := single.run(ctx, p.length)
	if err != nil {
		return measured{}, err
	}
	var busy sample
	lines, err := s.duringBulk(ctx, numbers, func() (err error) {
		time.Sleep(time.Second) // until they are under way
		busy, err = single.run(ctx, p.length)
		return err
	})
	return measured{
		ratio: busy.p50.Seconds() / idle.p50.Seconds(), atMost: true,
		ours: fmt.Sprintf("%.2f ms during %.0f lines/s", 1000*busy.p50.Seconds(), lines),
		raw:  fmt.Sprintf("%.2f ms alone", 1000*idle.p50.Seconds()),
	}, err
}

// duringBulk does something while two bulk requests are under way, and returns
// their rate.
func (s *service) duringBulk(ctx context.Context, numbers *counter, do func() error) (rate float64, err error) {
	streaming, stop := context.WithCancel(ctx)
	defer stop()
	var group sync.WaitGroup
	var mutex sync.Mutex
	for range 2 {
		group.Go(func() {
			// Longer than any measurement. It is stopped early, and the body
			// then ends as a caller would end it.
			found, failed := s.stream(streaming, numbers, time.Hour, 0)
			mutex.Lock()
			defer mutex.Unlock()
			if failed != nil {
				err = failed
				return
			}
			rate += found.rate()
		})
	}
	failed := do()
	// Stop before checking for errors, or the streams would continue.
	stop()
	group.Wait()
	if failed != nil {
		return 0, failed
	}
	return rate, err
}
