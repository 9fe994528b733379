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
	counts := newCounts[int](false)
	for i := range countsAtOnce + 1 {
		one, begun := counts.begin(strconv.Itoa(i), 1, time.Now(), nil)
		if !begun {
			t.Fatal("it did not begin")
		}
		counts.run(t.Context(), one, time.Now, func(context.Context, func(int, int)) (int, error) { panic("a fault") })
		if one.Trouble == "" || one.Ended.IsZero() {
			t.Errorf("it stands as %+v", one)
		}
	}
}

// Whoever opens page after page gets no queue without an end.
func TestCountsUnderWayAreBounded(t *testing.T) {
	counts := newCounts[int](false)
	for i := range mostCounts {
		if _, begun := counts.begin(strconv.Itoa(i), 1, time.Now(), nil); !begun {
			t.Fatalf("count %d did not begin", i)
		}
	}
	one, begun := counts.begin("one more", 1, time.Now(), nil)
	if begun || one.Trouble == "" || len(counts.byKey) != mostCounts {
		t.Errorf("begun %v, %+v, %d remembered", begun, one, len(counts.byKey))
	}
	<-one.over
	if _, begun := counts.begin("0", 1, time.Now(), nil); begun {
		t.Error("one that is under way began again")
	}
}
