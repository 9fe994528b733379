package run_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"landfall"
)

// A run reads accounts without claiming them, except where it has to wait. While
// a vendor is asked about an account, no other caller may create it. Otherwise
// the vendor would be asked twice, and its answer could apply to a different
// document.
func TestAccountsAtAVendorStayClaimed(t *testing.T) {
	onBoth(t, func(t *testing.T, s *fixture) {
		s.book("A", 6, instructed)
		var mu sync.Mutex
		states := map[string]int{}
		s.vendor.setAnswer(func(ctx context.Context, _ string) error {
			return s.store.View(ctx, func(view landfall.View) error {
				mu.Lock()
				defer mu.Unlock()
				for i := range 6 {
					process, err := view.Process(ctx, landfall.Key{Supplier: "A", External: fmt.Sprintf("%04d", i)})
					if err != nil {
						return err
					}
					states[string(process.State)]++
				}
				return nil
			})
		})
		s.work(2)
		run := s.start("A1", landfall.RunPlan{})
		s.finished(run.ID, landfall.RunTally{Selected: 6, Succeeded: 6})
		if mu.Lock(); len(states) != 1 || states[string(landfall.Claimed)] == 0 {
			t.Errorf("while the vendor was asked: %v", states)
		}
		mu.Unlock()
	})
}
