package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// The table of the page is between these two lines and is written by a run.
const (
	tableBegins = "<!-- The table is written by `make bench PAGE=docs/speed.md`: the results of one whole run. -->\n"
	tableEnds   = "<!-- End of the table. -->\n"
)

// reportLine is a measurement with its result.
type reportLine struct {
	measurement
	measured
}

// met reports whether the goal was met.
func (l reportLine) met() bool { return (l.ratio >= l.goal) != l.atMost }

// formatTable formats the lines of a whole run for the page.
func formatTable(lines []reportLine, when time.Time) string {
	var text strings.Builder
	fmt.Fprintf(&text, "One whole run on %s, %d cores, %s:\n\n", when.Format(time.DateOnly), runtime.NumCPU(), runtime.Version())
	text.WriteString("| measurement | compared with | goal | found | Landfall | the other |\n|---|---|---|---|---|---|\n")
	for _, l := range lines {
		goal, found := fmt.Sprintf("≥ %g", l.goal), fmt.Sprintf("%.2f", l.ratio)
		if l.atMost {
			goal = fmt.Sprintf("≤ %g", l.goal)
		}
		if !l.met() {
			found = "**" + found + "**, missed"
		}
		fmt.Fprintf(&text, "| %s | %s | %s | %s | %s | %s |\n", l.name, l.against, goal, found, l.ours, l.raw)
	}
	return text.String()
}

// writePage replaces the table in the page.
func writePage(page string, lines []reportLine, when time.Time) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	// Everything outside the two markers is written by hand.
	before, rest, begins := strings.Cut(string(text), tableBegins)
	_, after, ends := strings.Cut(rest, tableEnds)
	if !begins || !ends {
		return fmt.Errorf("%s has no place for the table", page)
	}
	return os.WriteFile(page, []byte(before+tableBegins+"\n"+formatTable(lines, when)+"\n"+tableEnds+after), 0o644)
}
