package main

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"landfall/internal/kit/importer"
	"landfall/internal/kit/report"
)

// importWatcher prints the progress of an import to standard error: bars on a terminal, plain lines
// elsewhere, and JSON objects with --json.
type importWatcher struct {
	out      io.Writer
	terminal bool
	json     bool
	bar      *progressbar.ProgressBar
	phase    importer.Phase
	total    int
	printed  time.Time
	started  time.Time
	first    int  // what was done when the phase began
	counted  bool // first is known
}

// newImportWatcher chooses the form of the output.
func newImportWatcher(command *cobra.Command) *importWatcher {
	out := command.ErrOrStderr()
	return &importWatcher{out: out, json: jsonWanted(command), terminal: isTerminal(out) && !jsonWanted(command)}
}

// lineInterval is how often a plain line is printed.
const lineInterval = 5 * time.Second

// Begin starts a phase, or updates its total.
func (w *importWatcher) Begin(phase importer.Phase, total int) {
	if phase == w.phase && total == w.total {
		return
	}
	// The clock starts with the phase; the total may become known later.
	if phase != w.phase {
		w.started, w.printed, w.counted = time.Now(), time.Now(), false
		w.printf("begin", map[string]any{"phase": phase}, "%s …", phase)
	}
	// A new bar would start at zero again.
	if w.terminal && phase == w.phase && w.bar != nil {
		w.bar.ChangeMax(total)
	} else if w.terminal {
		w.bar = w.newBar(phase, total)
	}
	w.phase, w.total = phase, total
}

// newBar creates a progress bar, or a counter if the total is unknown.
func (w *importWatcher) newBar(phase importer.Phase, total int) *progressbar.ProgressBar {
	if total == 0 {
		total = -1 // unknown: a counter instead of a bar
	}
	// Fits into sixty columns; a longer line would wrap.
	return progressbar.NewOptions(total,
		progressbar.OptionSetWriter(w.out), progressbar.OptionSetDescription(fmt.Sprintf("%-12s %9s", phase, "")),
		progressbar.OptionShowCount(), progressbar.OptionSetWidth(24),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetPredictTime(true), progressbar.OptionUseANSICodes(true))
}

// Progress updates the bar, or prints a line now and then.
func (w *importWatcher) Progress(phase importer.Phase, done, failed int) {
	// An import that continues has done something before.
	if !w.counted {
		w.first, w.counted = done, true
	}
	if w.bar != nil {
		if rate := w.rate(done); rate != "" {
			w.bar.Describe(fmt.Sprintf("%-12s %9s", phase, rate))
		}
		_ = w.bar.Set(done) // keep going if the terminal is gone
		return
	}
	if time.Since(w.printed) < lineInterval {
		return
	}
	w.printed = time.Now()
	w.printf("progress", map[string]any{"phase": phase, "done": done, "failed": failed, "whole": w.total},
		"%s: %d done, %d failed, %s", phase, done, failed, w.rate(done))
}

// rate returns how much is done per second. It means nothing in the first second.
func (w *importWatcher) rate(done int) string {
	elapsed := time.Since(w.started)
	if elapsed < time.Second {
		return ""
	}
	return report.Number(int(float64(done-w.first)/elapsed.Seconds())) + "/s"
}

// share writes the progress to an output that others write to as well.
func (w *importWatcher) share(output *sharedOutput) {
	if w.terminal {
		w.out = output.bar()
	}
}

// Failure prints a kind of failure when its count is a power of ten.
func (w *importWatcher) Failure(code, attr string, count int) {
	power := count
	for power%10 == 0 {
		power /= 10
	}
	if power != 1 {
		return
	}
	w.clearBar()
	where := code
	if attr != "" {
		where += " at " + attr
	}
	w.printf("failure", map[string]any{"code": code, "attr": attr, "count": count}, "failed %d×: %s", count, where)
}

// End ends a phase.
func (w *importWatcher) End(phase importer.Phase) {
	if w.bar != nil {
		_ = w.bar.Exit()
		fmt.Fprintln(w.out)
		w.bar = nil
	}
	w.printf("end", map[string]any{"phase": phase}, "%s: finished in %v", phase, time.Since(w.started).Round(time.Second/10))
	w.phase = ""
}

// Notice prints a message.
func (w *importWatcher) Notice(sentence string) {
	w.clearBar()
	w.printf("notice", map[string]any{"detail": sentence}, "%s", sentence)
}

// clearBar clears the line of the bar; the next progress draws it again.
func (w *importWatcher) clearBar() {
	if w.bar != nil {
		_ = w.bar.Clear()
	}
}

// printf prints an event in the chosen form.
func (w *importWatcher) printf(event string, data map[string]any, format string, values ...any) {
	if w.json {
		data["event"] = event
		_ = printLine(w.out, data) // progress is not worth failing for
		return
	}
	// A bar already shows the begin and the end of a phase.
	if w.terminal && (event == "begin" || event == "end") {
		return
	}
	fmt.Fprintln(w.out, escapeText(fmt.Sprintf(format, values...)))
}

// done removes the bar.
func (w *importWatcher) done() {
	if w.bar != nil {
		_ = w.bar.Exit()
		fmt.Fprintln(w.out)
	}
}
