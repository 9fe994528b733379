package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"time"
)

// delivered is the number of accounts that one measurement delivers.
const delivered = 8_000

// withTarget starts a server whose supplier has a target: a receiver on this machine that
// reads each request and answers it as the function says.
func withTarget(
	place func(context.Context, *harness) (string, error), answer func(),
	measure func(ctx context.Context, p plan, m *harness, s *service) (measured, error),
) func(context.Context, plan, *harness) (measured, error) {
	return func(ctx context.Context, p plan, m *harness) (measured, error) {
		for name, value := range map[string]string{
			"LANDFALL_WEBHOOK_KEY": "0123456789abcdef0123456789abcdef", "LANDFALL_WEBHOOK_NETWORKS": "127.0.0.0/8",
		} {
			if err := os.Setenv(name, value); err != nil {
				return measured{}, err
			}
			// Restore the environment, because later servers inherit it.
			defer func() { _ = os.Unsetenv(name) }()
		}
		receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			answer()
		}))
		defer receiver.Close()
		s, err := m.serveNew(ctx, place)
		if err != nil {
			return measured{}, err
		}
		defer s.stop()
		if _, err := m.tell(ctx, "target", "set", "BENCH", "--url", receiver.URL, "--database", s.database); err != nil {
			return measured{}, err
		}
		return measure(ctx, p, m, s)
	}
}

// measureDelivery measures how many accounts per second reach a target, from a queue that
// has them all.
func measureDelivery(place func(context.Context, *harness) (string, error)) func(context.Context, plan, *harness) (measured, error) {
	var arrived atomic.Int64
	return withTarget(place, func() { arrived.Add(1) }, func(ctx context.Context, _ plan, m *harness, s *service) (measured, error) {
		arrived.Store(0)
		for _, command := range [][]string{{"target", "pause", "BENCH"}, {"supplier", "set", supplier, "--target", "BENCH"}} {
			if _, err := m.tell(ctx, append(command, "--database", s.database)...); err != nil {
				return measured{}, err
			}
		}
		if _, err := s.create(ctx, &counter{}, delivered); err != nil {
			return measured{}, err
		}
		if _, err := m.tell(ctx, "target", "resume", "BENCH", "--database", s.database); err != nil {
			return measured{}, err
		}
		began := time.Now()
		for arrived.Load() < delivered {
			if time.Since(began) > 2*time.Minute {
				return measured{}, fmt.Errorf("only %d of %d accounts arrived", arrived.Load(), delivered)
			}
			time.Sleep(5 * time.Millisecond)
		}
		rate := delivered / time.Since(began).Seconds()
		return measured{ratio: rate, ours: fmt.Sprintf("%.0f accounts/s", rate), raw: "a target that reads and answers"}, nil
	})
}

// measureTargetCost compares creating accounts of a supplier that has a slow target with
// creating them without one.
func measureTargetCost(place func(context.Context, *harness) (string, error)) func(context.Context, plan, *harness) (measured, error) {
	return withTarget(place, func() { time.Sleep(100 * time.Millisecond) }, func(ctx context.Context, p plan, m *harness, s *service) (measured, error) {
		numbers := &counter{}
		arm := func(target string) func() (sample, error) {
			return func() (sample, error) {
				if _, err := m.tell(ctx, "supplier", "set", supplier, "--target", target, "--database", s.database); err != nil {
					return sample{}, err
				}
				return s.create(ctx, numbers, creations)
			}
		}
		ratio, ours, raw, err := alternate(p.rounds, arm("BENCH"), arm("none"))
		return measured{ratio: ratio, ours: ours.of("accounts with a target"), raw: raw.of("accounts without")}, err
	})
}
