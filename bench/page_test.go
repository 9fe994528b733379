package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The page lists every measurement with its current goal.
func TestPageShowsEveryMeasurement(t *testing.T) {
	text, err := os.ReadFile("../docs/speed.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(text), tableBegins)
	shown, _, _ = strings.Cut(shown, tableEnds)
	rows := 0
	for line := range strings.Lines(shown) {
		if strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| measurement") {
			rows++
		}
	}
	if rows != len(measurements) {
		t.Errorf("the page has %d rows, there are %d measurements", rows, len(measurements))
	}
	for _, m := range measurements {
		begins := fmt.Sprintf("| %s | %s | ", m.name, m.against)
		at := strings.Index(shown, begins)
		if at < 0 {
			t.Errorf("the page does not have %s, compared with %s", m.name, m.against)
			continue
		}
		goal, _, _ := strings.Cut(shown[at+len(begins):], " |")
		if goal != fmt.Sprintf("≥ %g", m.goal) && goal != fmt.Sprintf("≤ %g", m.goal) {
			t.Errorf("the page says that the goal of %s is %s, it is %g", m.name, goal, m.goal)
		}
	}
}

func TestTableIsWrittenIntoThePage(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("before\n"+tableBegins+"old\n"+tableEnds+"after\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	lines := []reportLine{
		{measurement{name: "fast", against: "slow", goal: 0.5}, measured{ratio: 0.75, ours: "3/s", raw: "4/s"}},
		{measurement{name: "small", against: "large", goal: 2}, measured{ratio: 3, atMost: true, ours: "3", raw: "1"}},
	}
	if err := writePage(page, lines, time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"before\n" + tableBegins, tableEnds + "after\n", "One whole run on 2026-03-01",
		"| fast | slow | ≥ 0.5 | 0.75 | 3/s | 4/s |\n", "| small | large | ≤ 2 | **3.00**, missed | 3 | 1 |\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "old") {
		t.Error("the old table is still there")
	}
}
