package auth

import (
	"fmt"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestThrottleSlowsAndRecovers(t *testing.T) {
	throttle := newFailureLimiter(Limits{SourceBurst: 3, SourceEvery: time.Second, KeyBurst: 100})
	for range 3 {
		if wait := throttle.fail("192.0.2.1", "", noon); wait != 0 {
			t.Fatalf("must wait %s within the burst", wait)
		}
	}
	if wait := throttle.fail("192.0.2.1", "", noon); wait != time.Second {
		t.Errorf("waits %s over the burst, want 1s", wait)
	}
	if wait := throttle.fail("192.0.2.2", "", noon); wait != 0 {
		t.Errorf("another address waits %s", wait)
	}
	// A refusal does not use up allowance, so waiting for the given time is
	// enough.
	if wait := throttle.fail("192.0.2.1", "", noon.Add(time.Second)); wait != 0 {
		t.Errorf("still waits %s after waiting", wait)
	}
}

func TestThrottleCountsAKeyFromEverywhere(t *testing.T) {
	throttle := newFailureLimiter(Limits{KeyBurst: 2, KeyEvery: time.Minute})
	for i := range 2 {
		if wait := throttle.fail(fmt.Sprintf("192.0.2.%d", i), "k1", noon); wait != 0 {
			t.Fatalf("waits %s within the burst", wait)
		}
	}
	if wait := throttle.fail("192.0.2.9", "k1", noon); wait != time.Minute {
		t.Errorf("a third address waits %s, want 1m", wait)
	}
	if wait := throttle.fail("192.0.2.9", "k2", noon); wait != 0 {
		t.Errorf("another key waits %s", wait)
	}
}

func TestThrottleDropsTheLongestUnused(t *testing.T) {
	throttle := newFailureLimiter(Limits{SourceBurst: 1, Remembered: 100})
	throttle.fail("first", "", noon)
	for i := range 1000 {
		throttle.fail(fmt.Sprint(i), fmt.Sprint(i), noon)
	}
	if sources, keys := throttle.sources.Len(), throttle.keys.Len(); sources != 100 || keys != 100 {
		t.Errorf("%d and %d are remembered, want 100", sources, keys)
	}
	if throttle.fail("999", "", noon) == 0 {
		t.Error("the latest was forgotten")
	}
	if throttle.fail("first", "", noon) != 0 {
		t.Error("the longest unused is still remembered")
	}
}

func TestNetwork(t *testing.T) {
	for source, want := range map[string]string{
		"192.0.2.1":                "192.0.2.1",
		"192.0.2.1:4711":           "192.0.2.1",
		"::ffff:192.0.2.1":         "192.0.2.1",
		"2001:db8:1:2:3:4:5:6":     "2001:db8:1:2::/64",
		"[2001:db8:1:2::9]:443":    "2001:db8:1:2::/64",
		"fe80::1%eth0":             "fe80::/64",
		"":                         "",
		"@":                        "@",
		"somewhere over a proxy":   "somewhere over a proxy",
		"2001:db8:1:3:3:4:5:6":     "2001:db8:1:3::/64",
		"[::ffff:192.0.2.1]:65535": "192.0.2.1",
	} {
		if got := network(source); got != want {
			t.Errorf("network(%q) = %q, want %q", source, got, want)
		}
	}
}
