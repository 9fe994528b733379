package landfall_test

import (
	"reflect"
	"testing"

	"landfall"
)

func TestWatermarkWaitsForOpenWriters(t *testing.T) {
	var mark landfall.Watermark
	for i, step := range []struct {
		last     int64
		writing  []string
		complete int64
	}{
		{5, []string{"a"}, 0},        // a may still add 3
		{7, []string{"a", "b"}, 0},   // it still may
		{8, []string{"b", "c"}, 5},   // a has ended; b may have drawn 6 and c anything from 6 to 8
		{9, []string{"c"}, 5},        // c may have drawn 6
		{9, []string{"d"}, 8},        // d started when 8 was already there
		{9, nil, 9},                  // no writers
		{20, nil, 20},                //
		{10, []string{"e"}, 0},       // the database was restored to an earlier state
		{10, nil, 10},                //
		{10, []string{"f"}, 10},      // nothing new
		{30, []string{"f", "g"}, 10}, // f may have drawn 11
	} {
		mark = mark.Next(step.last, step.writing)
		if mark.Complete != step.complete {
			t.Fatalf("step %d: complete up to %d, want %d", i, mark.Complete, step.complete)
		}
	}
	before := landfall.Watermark{Complete: 1, Last: 2, Writing: []string{"a", "b"}}
	before.Next(3, []string{"b"})
	if !reflect.DeepEqual(before.Writing, []string{"a", "b"}) {
		t.Error("an earlier watermark was changed")
	}
}
