package console

import (
	"context"
	"strconv"
	"testing"
	"time"
)

// A fault of ours behind a page must not end the service, nor keep the turn that
// the next count waits for.
func TestACountThatPanicsTellsOfTrouble(t *testing.T) {
	counts := newCountJobs[int](false)
	for i := range maxRunningCounts + 1 {
		one, begun := counts.start(strconv.Itoa(i), 1, time.Now(), nil)
		if !begun {
			t.Fatal("it did not begin")
		}
		counts.run(t.Context(), one, time.Now, func(context.Context, func(int, int)) (int, error) { panic("a fault") })
		if one.Error == "" || one.EndedAt.IsZero() {
			t.Errorf("it stands as %+v", one)
		}
	}
}

// Whoever opens page after page gets no queue without an end.
func TestCountsUnderWayAreBounded(t *testing.T) {
	counts := newCountJobs[int](false)
	for i := range maxCounts {
		if _, begun := counts.start(strconv.Itoa(i), 1, time.Now(), nil); !begun {
			t.Fatalf("count %d did not begin", i)
		}
	}
	one, begun := counts.start("one more", 1, time.Now(), nil)
	if begun || one.Error == "" || len(counts.byKey) != maxCounts {
		t.Errorf("begun %v, %+v, %d remembered", begun, one, len(counts.byKey))
	}
	<-one.finished
	if _, begun := counts.start("0", 1, time.Now(), nil); begun {
		t.Error("one that is under way began again")
	}
}
