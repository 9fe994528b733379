package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"landfall/internal/kit/importer"
)

// importWatcher shows how long work gets on: bars on a terminal, a plain line now and
// then elsewhere, and an object a line for machines. Standard output stays free
// for what comes of it.
type importWatcher struct {
	out      io.Writer
	terminal bool
	machine  bool
	bar      *progressbar.ProgressBar
	phase    importer.Phase
	whole    int
	told     time.Time
	began    time.Time
}

// newImportWatcher decides once how progress is told: a bar for people, lines for
// logs, objects for machines.
func newImportWatcher(command *cobra.Command) *importWatcher {
	out := command.ErrOrStderr()
	return &importWatcher{out: out, machine: jsonWanted(command), terminal: isTerminal(out) && !jsonWanted(command)}
}

// lineInterval is how often a plain line is written where nobody watches.
const lineInterval = 5 * time.Second

// Begin opens the bar of a phase, or tells it how long it will be.
func (w *importWatcher) Begin(phase importer.Phase, whole int) {
	if phase == w.phase && whole == w.whole {
		return
	}
	// The clock of a phase begins with it and not with its length, which may become known later.
	if phase != w.phase {
		w.began, w.told = time.Now(), time.Now()
		w.say("begin", map[string]any{"phase": phase}, "%s …", phase)
	}
	// The length of a phase may become known while it goes on; a new bar would begin at zero
	// again.
	if w.terminal && phase == w.phase && w.bar != nil {
		w.bar.ChangeMax(whole)
	} else if w.terminal {
		w.bar = w.newBar(phase, whole)
	}
	w.phase, w.whole = phase, whole
}

// newBar draws a bar, or counts where the end is not known.
func (w *importWatcher) newBar(phase importer.Phase, whole int) *progressbar.ProgressBar {
	if whole == 0 {
		whole = -1 // not known: a count instead of a bar
	}
	// Short enough for sixty columns, where a longer line would scroll away.
	return progressbar.NewOptions(whole,
		progressbar.OptionSetWriter(w.out), progressbar.OptionSetDescription(fmt.Sprintf("%-12s", phase)),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString(""), progressbar.OptionSetWidth(24),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetPredictTime(true), progressbar.OptionUseANSICodes(true))
}

// Progress moves the bar.
func (w *importWatcher) Progress(phase importer.Phase, done, failed int) {
	if w.bar != nil {
		_ = w.bar.Set(done) // a terminal that went away is no reason to stop
		return
	}
	// Lines are for logs; one for each account would bury everything else.
	if time.Since(w.told) < lineInterval {
		return
	}
	w.told = time.Now()
	rate := float64(done) / time.Since(w.began).Seconds()
	w.say("progress", map[string]any{"phase": phase, "done": done, "failed": failed, "whole": w.whole},
		"%s: %d done, %d failed, %.0f a second", phase, done, failed, rate)
}

// Failure tells of a kind of failure the first time, and then at every tenfold.
func (w *importWatcher) Failure(code, attr string, count int) {
	// Taking tens off leaves 1 for 1, 10, 100 and so on, and for nothing else.
	tenfold := count
	for tenfold%10 == 0 {
		tenfold /= 10
	}
	if tenfold != 1 {
		return
	}
	w.interject()
	w.say("failure", map[string]any{"code": code, "attr": attr, "count": count}, "failed %d×: %s %s", count, code, attr)
}

// End closes the bar of a phase.
func (w *importWatcher) End(phase importer.Phase) {
	if w.bar != nil {
		_ = w.bar.Exit()
		fmt.Fprintln(w.out)
		w.bar = nil
	}
	w.say("end", map[string]any{"phase": phase}, "%s: over after %v", phase, time.Since(w.began).Round(time.Second/10))
	w.phase = ""
}

// Notice interrupts the bar for a sentence.
func (w *importWatcher) Notice(sentence string) {
	w.interject()
	w.say("notice", map[string]any{"detail": sentence}, "%s", sentence)
}

// interject clears the line of the bar; the next progress draws it again.
func (w *importWatcher) interject() {
	if w.bar != nil {
		_ = w.bar.Clear()
	}
}

// say tells something that happened in the form that was chosen.
func (w *importWatcher) say(kind string, data map[string]any, sentence string, args ...any) {
	if w.machine {
		data["event"] = kind
		line, err := json.Marshal(data)
		if err == nil {
			fmt.Fprintln(w.out, escapeJSON(string(line)))
		}
		return
	}
	// A bar shows that it began and ended; lines about it would only scroll it away.
	if w.terminal && (kind == "begin" || kind == "end") {
		return // the bar says it
	}
	fmt.Fprintln(w.out, escapeText(fmt.Sprintf(sentence, args...)))
}

// done leaves the terminal as it was.
func (w *importWatcher) done() {
	if w.bar != nil {
		_ = w.bar.Exit()
		fmt.Fprintln(w.out)
	}
}
