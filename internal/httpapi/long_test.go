package httpapi

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// One organisation that sent nothing but long bodies took all processors: its
// neighbour got a hundredth of what it got alone.
func TestLongBodiesLeaveTheProcessorsToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const work = 100 * time.Millisecond
		api := &API{turns: newTurnstile(DefaultInWork), long: newTurnstile(4)}
		api.long.share = 2
		api.long.patience = time.Hour
		var busy atomic.Int64 // time for which processors were taken
		send := func(organisation string) {
			free, err := api.enterLong(t.Context(), organisation)
			if err != nil {
				t.Error(err)
				return
			}
			time.Sleep(work)
			busy.Add(int64(work))
			free()
		}
		spent := func(bodies int) time.Duration {
			began := time.Now()
			busy.Store(0)
			done := make(chan struct{})
			for range bodies {
				go func() { send("Greedy"); done <- struct{}{} }()
			}
			for range bodies {
				<-done
			}
			return time.Since(began)
		}
		// Alone it has its share of the processors all the time.
		if took := spent(20); took != 20*work/2 {
			t.Errorf("alone: %s", took)
		}
		// Beside somebody at work it leaves most of that.
		leave, err := api.turns.enter(t.Context(), "Modest")
		if err != nil {
			t.Fatal(err)
		}
		took := spent(20)
		if share := float64(busy.Load()) / float64(2*took); share > 1.0/longRest {
			t.Errorf("beside another it took %.2f of its share of the processors", share)
		}
		leave()
		time.Sleep(longestRest)
		if api.long.inWork != 0 {
			t.Errorf("%d turns were never given back", api.long.inWork)
		}
	})
}
