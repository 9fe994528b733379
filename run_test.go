package landfall_test

import (
	"testing"
	"time"

	"landfall"
)

// The expected values come from the textbook formula in floating point.
func TestEstimateIsWilsonInterval(t *testing.T) {
	for _, test := range []struct {
		passed, failed int
		want           landfall.Estimate
	}{
		{0, 10, landfall.Estimate{Share: 0, Low: 0, High: 2775}},
		{10, 0, landfall.Estimate{Share: 10000, Low: 7225, High: 10000}},
		{97, 3, landfall.Estimate{Share: 9700, Low: 9155, High: 9897}},
		{1, 1, landfall.Estimate{Share: 5000, Low: 945, High: 9055}},
		{950_000, 50_000, landfall.Estimate{Share: 9500, Low: 9496, High: 9504}},
		{3_000_000_000, 1_000_000_000, landfall.Estimate{Share: 7500, Low: 7500, High: 7500}},
	} {
		run := landfall.Run{Plan: landfall.RunPlan{Sample: 10}}
		run.Tally = landfall.RunTally{Selected: test.passed + test.failed, Succeeded: test.passed, Failed: test.failed}
		if got, known := run.Estimate(); !known || got != test.want {
			t.Errorf("%d of %d: %+v, want %+v", test.passed, test.passed+test.failed, got, test.want)
		}
	}
	for _, run := range []landfall.Run{
		{Tally: landfall.RunTally{Succeeded: 1}},
		{Plan: landfall.RunPlan{Sample: 1}, Tally: landfall.RunTally{Succeeded: 1}},
		{Plan: landfall.RunPlan{Sample: 2}, Tally: landfall.RunTally{Refused: 1}},
	} {
		if got, known := run.Estimate(); known {
			t.Errorf("%+v is estimated as %+v", run, got)
		}
	}
}

func TestExpectedEnd(t *testing.T) {
	now := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	run := landfall.Run{State: landfall.RunRunning, ReadAt: now, RunningTime: 10 * time.Second}
	run.Tally = landfall.RunTally{Selected: 1000, Succeeded: 200, Failed: 40, Refused: 10}
	if rate := run.PerThousandSeconds(); rate != 25_000 {
		t.Errorf("%d in a thousand seconds", rate)
	}
	if end := run.ExpectedEnd(); !end.Equal(now.Add(30 * time.Second)) {
		t.Errorf("ends at %s", end)
	}
	run.State = landfall.RunPaused
	if end := run.ExpectedEnd(); !end.IsZero() {
		t.Errorf("a paused run ends at %s", end)
	}
	run = landfall.Run{State: landfall.RunRunning, ReadAt: now, RunningTime: 24 * time.Hour * 365 * 10, Tally: landfall.RunTally{Selected: 1 << 40, Failed: 1}}
	if end := run.ExpectedEnd(); !end.IsZero() {
		t.Errorf("a run that hardly moves ends at %s", end)
	}
}

// A pause requested by a caller replaces one that would end by itself, and a
// requested pause or cancellation takes effect only when no work is in
// progress.
func TestRunStates(t *testing.T) {
	run := landfall.Run{State: landfall.RunRunning, StartedAt: time.Unix(1, 0)}
	run.Pause(landfall.PauseSupplierPaused)
	run.Pause(landfall.PauseRequested)
	run.Pause(landfall.PauseWindowOver)
	if run.Reason != landfall.PauseRequested || run.State != landfall.RunRunning || !run.Stopping() {
		t.Errorf("%+v", run)
	}
	if event := run.CompleteStop(); event == nil || event.Type != landfall.EventRunPaused || run.State != landfall.RunPaused {
		t.Errorf("%+v", run)
	}
	if event := run.CompleteStop(); event != nil {
		t.Error("it is paused twice")
	}
	run.Resume()
	if run.State != landfall.RunRunning || run.Stopping() {
		t.Errorf("%+v", run)
	}
	run.Cancel = true
	run.Pause(landfall.PauseRequested)
	if event := run.CompleteStop(); event == nil || event.Type != landfall.EventRunCancelled || run.State != landfall.RunCancelled {
		t.Errorf("%+v", run)
	}
	run.Resume()
	if run.State != landfall.RunCancelled {
		t.Error("a cancelled run lives again")
	}
	waiting := landfall.Run{State: landfall.RunPaused, Reason: landfall.PauseRequested}
	if waiting.Resume(); waiting.State != landfall.RunWaiting {
		t.Errorf("%+v", waiting)
	}
}

// A stalled run reports for how long. One that makes progress, is paused or has
// just started does not.
func TestStalledRunsAreReported(t *testing.T) {
	now := time.Now()
	ago := func(minutes int) time.Time { return now.Add(-time.Duration(minutes) * time.Minute) }
	for name, one := range map[string]struct {
		state landfall.RunState
		done  []int // a minute apart, the last one now
		want  time.Duration
	}{
		"it moves": {landfall.RunRunning, []int{10, 20, 30}, 0}, "it stands": {landfall.RunRunning, []int{10, 30, 30, 30}, 2 * time.Minute},
		"it never moved": {landfall.RunRunning, []int{30, 30}, time.Minute}, "it is paused": {landfall.RunPaused, []int{30, 30, 30}, 0},
		"nothing was noted": {landfall.RunRunning, nil, 0},
	} {
		run := landfall.Run{State: one.state, ReadAt: now, Tally: landfall.RunTally{Selected: 100, Succeeded: 30}}
		var samples []landfall.RunSample
		for i, done := range one.done {
			samples = append(samples, landfall.RunSample{At: ago(len(one.done) - 1 - i), State: one.state, Done: done})
		}
		if got := run.StalledFor(samples); got != one.want {
			t.Errorf("%s: still for %v, want %v", name, got, one.want)
		}
	}
}
