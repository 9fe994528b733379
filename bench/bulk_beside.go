package main

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// measureBeside gives how many times as long the middle one of single calls
// takes while bulk requests keep the service busy, of the same organisation.
func measureBeside(ctx context.Context, p plan, _ *machinery, s *service) (result, error) {
	numbers := &counter{}
	// One connection, because it is the wait of a single caller that counts and not how many
	// there are.
	single := s.load(stagePath, numbers.account)
	single.connections = 1
	// Alone first, on the same server: the ratio then is not about a cold one.
	idle, err := single.run(ctx, p.length)
	if err != nil {
		return result{}, err
	}
	var busy sample
	lines, err := s.besides(ctx, numbers, func() (err error) {
		time.Sleep(time.Second) // until they are in full swing
		busy, err = single.run(ctx, p.length)
		return err
	})
	return result{
		ratio: busy.p50.Seconds() / idle.p50.Seconds(), atMost: true,
		ours: fmt.Sprintf("%.2f ms beside %.0f lines/s", 1000*busy.p50.Seconds(), lines),
		raw:  fmt.Sprintf("%.2f ms alone", 1000*idle.p50.Seconds()),
	}, err
}

// besides does something while two bulk requests are under way, and gives their
// rate.
func (s *service) besides(ctx context.Context, numbers *counter, do func() error) (rate float64, err error) {
	streaming, stop := context.WithCancel(ctx)
	defer stop()
	var group sync.WaitGroup
	var mutex sync.Mutex
	for range 2 {
		group.Go(func() {
			// Longer than any measurement: it is stopped, and the server then has the end of the
			// body as a caller would send it.
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
	// Stopped before it is looked at what went wrong, or the streams would go on behind an error.
	stop()
	group.Wait()
	if failed != nil {
		return 0, failed
	}
	return rate, err
}
