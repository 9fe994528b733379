package admission

import (
	"fmt"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestBucketsEmptyAndFill(t *testing.T) {
	buckets, limit := NewBuckets(10), Per(4, time.Second)
	for range 4 {
		if wait := buckets.Take("a", limit, noon); wait != 0 {
			t.Fatalf("waits %s within the burst", wait)
		}
	}
	if wait := buckets.Take("a", limit, noon); wait != 250*time.Millisecond {
		t.Errorf("waits %s over it", wait)
	}
	if wait := buckets.Take("b", limit, noon); wait != 0 {
		t.Errorf("another waits %s", wait)
	}
	if wait := buckets.Take("a", limit, noon.Add(250*time.Millisecond)); wait != 0 {
		t.Errorf("waits %s after waiting", wait)
	}
	if wait := buckets.Take("a", Per(100, time.Second), noon.Add(250*time.Millisecond)); wait != 0 {
		t.Errorf("waits %s under a higher limit", wait)
	}
}

func TestLongestUnusedBucketIsDropped(t *testing.T) {
	buckets, limit := NewBuckets(100), Rate{Burst: 1, Every: time.Hour}
	buckets.Take("first", limit, noon)
	for i := range 1000 {
		buckets.Take(fmt.Sprint(i), limit, noon)
	}
	if buckets.Len() != 100 {
		t.Errorf("%d buckets, want 100", buckets.Len())
	}
	if buckets.Take("999", limit, noon) == 0 {
		t.Error("the latest was dropped")
	}
	if buckets.Take("first", limit, noon) != 0 {
		t.Error("the longest unused is still there")
	}
}
