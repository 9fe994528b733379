package app

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
)

// throttled calls test with a throttled logger and what it writes.
func throttled(t *testing.T, test func(log *slog.Logger, state *throttleState, lines func() []string)) {
	synctest.Test(t, func(*testing.T) {
		out := &noted{}
		handler := newThrottle(slog.NewTextHandler(out, nil))
		test(slog.New(handler), handler.throttleState, func() []string {
			out.mu.Lock()
			defer out.mu.Unlock()
			defer out.text.Reset()
			return strings.Split(strings.TrimSuffix(out.text.String(), "\n"), "\n")
		})
		time.Sleep(limits.LogRepeatSpan) // timers end
	})
}

func TestRepeatedWarningsAreCounted(t *testing.T) {
	throttled(t, func(log *slog.Logger, _ *throttleState, lines func() []string) {
		for i := range 100 {
			log.Warn("receiver fails", "name", "a", "request_id", fmt.Sprint(i), "try", i, "error", errors.New("refused"))
		}
		log.Warn("receiver fails", "name", "b", "error", errors.New("refused"))
		log.Info("receiver fails", "name", "a")
		if got := lines(); len(got) != limits.LogRepeats+2 {
			t.Fatalf("%d lines: %q", len(got), got)
		}
		time.Sleep(limits.LogRepeatSpan + time.Second)
		want := fmt.Sprintf("request_id=99 try=99 error=refused left_out=%d", 100-limits.LogRepeats)
		if got := lines(); len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("the minute ends with %q", got)
		}
		log.Warn("receiver fails", "name", "a", "error", errors.New("refused"))
		if got := lines(); len(got) != 1 || strings.Contains(got[0], "left_out") {
			t.Errorf("a new minute begins with %q", got)
		}
	})
}

// Callers choose addresses and names, so different lines have a limit, too.
func TestDifferentWarningsHaveALimit(t *testing.T) {
	throttled(t, func(log *slog.Logger, state *throttleState, lines func() []string) {
		for i := range 10_000 {
			log.With("a", 1).Warn("sign-in refused", "address", fmt.Sprint(i))
		}
		if got := lines(); len(got) != limits.LogMessages {
			t.Errorf("%d lines", len(got))
		}
		if known := len(state.messages["sign-in refused"].equal); known != limits.LogMessages {
			t.Errorf("%d lines are remembered", known)
		}
		state.flush()
		if got := lines(); len(got) != 1 || !strings.Contains(got[0], "a=1 address=9999 left_out=9970") {
			t.Errorf("it ends with %q", got)
		}
	})
}

// Everything that a lost database causes is one problem.
func TestLinesAboutALostDatabaseAreOneProblem(t *testing.T) {
	throttled(t, func(log *slog.Logger, state *throttleState, lines func() []string) {
		away := fmt.Errorf("claim: %w", landfall.ErrUnavailable)
		fail := func() {
			for i := range 10 {
				log.Error(fmt.Sprint("work ", i), "error", away)
			}
		}
		fail()
		if got := lines(); len(got) != limits.LogRepeats {
			t.Errorf("%d lines before the loss is known", len(got))
		}
		select {
		case <-state.wake:
		default:
			t.Error("nobody was told")
		}
		state.databaseLost(true)
		fail()
		log.Error("work", "error", errors.New("something else"))
		time.Sleep(2 * limits.LogRepeatSpan)
		if got := lines(); len(got) != 1 || !strings.Contains(got[0], "something else") {
			t.Errorf("while it is lost: %q", got)
		}
		if left := state.databaseLost(false); left != 20-limits.LogRepeats {
			t.Errorf("%d lines were left out", left)
		}
		log.Error("work", "error", errors.Join(landfall.ErrUnavailable, landfall.ErrOverloaded))
		select {
		case <-state.wake:
		default:
		}
		if got := lines(); len(got) != 1 {
			t.Errorf("after it is back: %q", got)
		}
	})
}

func BenchmarkThrottledWarning(b *testing.B) {
	log := slog.New(newThrottle(slog.DiscardHandler))
	for b.Loop() {
		log.Warn("receiver fails", "name", "a")
	}
}
