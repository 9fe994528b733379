package console

import (
	"context"
	"strconv"
	"testing"
	"time"
)

// A panic in a count must not end the service, nor keep its slot.
func TestCountJobRecoversPanic(t *testing.T) {
	counts := newCountJobs[int](false)
	for i := range maxRunningCounts + 1 {
		one, started := counts.start(strconv.Itoa(i), 1, time.Now(), nil)
		if !started {
			t.Fatal("the count did not start")
		}
		counts.run(t.Context(), one, time.Now, func(context.Context, func(int, int)) (int, error) { panic("a fault") })
		if one.Error == "" || one.EndedAt.IsZero() {
			t.Errorf("got %+v", one)
		}
	}
}

// The number of running counts is limited.
func TestRunningCountsAreLimited(t *testing.T) {
	counts := newCountJobs[int](false)
	for i := range maxCounts {
		if _, started := counts.start(strconv.Itoa(i), 1, time.Now(), nil); !started {
			t.Fatalf("count %d did not start", i)
		}
	}
	one, started := counts.start("one more", 1, time.Now(), nil)
	if started || one.Error == "" || len(counts.byKey) != maxCounts {
		t.Errorf("started %v, %+v, %d remembered", started, one, len(counts.byKey))
	}
	<-one.finished
	if _, started := counts.start("0", 1, time.Now(), nil); started {
		t.Error("a running count started again")
	}
}
