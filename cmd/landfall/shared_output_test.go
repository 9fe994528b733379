package main

import (
	"bytes"
	"fmt"
	"testing"
)

// TestLogLinesDoNotBreakTheProgressBar draws a bar, logs a line, and draws the bar again.
func TestLogLinesDoNotBreakTheProgressBar(t *testing.T) {
	var screen bytes.Buffer
	output := &sharedOutput{out: &screen}
	bar := output.bar()
	fmt.Fprint(bar, "\raccounts 10%")
	fmt.Fprint(output, "level=WARN msg=slow\n")
	fmt.Fprint(output, "level=WARN msg=again\n")
	fmt.Fprint(bar, "\raccounts 20%")
	fmt.Fprint(bar, "\n")
	fmt.Fprint(output, "level=INFO msg=done\n")
	want := "\raccounts 10%" + clearLine + "level=WARN msg=slow\nlevel=WARN msg=again\n\raccounts 20%\nlevel=INFO msg=done\n"
	if screen.String() != want {
		t.Errorf("%q\nwant\n%q", screen.String(), want)
	}
}
