package upkeep_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"landfall"
	"landfall/internal/service/upkeep"
)

// fakeClock is the clock of a database, which a test sets.
type fakeClock struct {
	offset atomic.Int64
	jumps  []time.Duration
}

func (c *fakeClock) CheckClock(context.Context) (landfall.ClockReading, error) {
	return landfall.ClockReading{Now: time.Now().Add(time.Duration(c.offset.Load()))}, nil
}

func (c *fakeClock) RecordClockJump(_ context.Context, by time.Duration) error {
	c.jumps = append(c.jumps, by)
	return nil
}

func (c *fakeClock) LastClockJump(context.Context) (landfall.ClockJump, error) {
	return landfall.ClockJump{}, nil
}

// A jump of the database's clock is reported once, and a small step is not.
func TestJumpsOfTheClockAreReportedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, log := &fakeStore{}, new(bytes.Buffer)
		running := upkeep.Start(store, slog.New(slog.NewTextHandler(log, nil)), nil)
		for _, offset := range []time.Duration{0, -30 * time.Second, -time.Hour, -time.Hour, 23 * time.Hour, 23 * time.Hour} {
			store.offset.Store(int64(offset))
			time.Sleep(time.Minute)
		}
		if got := running.ClockJumps(); got != 2 {
			t.Errorf("%d jumps are counted, want 2", got)
		}
		running.Close()
		for _, by := range []string{"by=-59m30s", "by=24h0m0s"} {
			if strings.Count(log.String(), by) != 1 {
				t.Errorf("the log does not report %s once: %s", by, log)
			}
		}
		if len(store.jumps) != 1 || store.jumps[0] != 24*time.Hour {
			t.Errorf("recorded %v", store.jumps)
		}
	})
}
