package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"landfall/internal/kit/report"
)

// progressPrinter prints the progress of long work to standard error: on a terminal as one changing
// line, otherwise as a line now and then.
type progressPrinter struct {
	out      io.Writer
	label    string
	terminal bool
	shown    time.Time
	width    int
}

// Often enough to look alive, rarely enough to cost nothing.
const (
	redrawInterval = 100 * time.Millisecond
	printInterval  = 10 * time.Second
)

// newProgressPrinter prints the progress of some work.
func newProgressPrinter(out io.Writer, label string) *progressPrinter {
	return &progressPrinter{out: out, label: label, terminal: isTerminal(out), shown: time.Now()}
}

// newCommandProgress prints the progress of a command, and nothing with --json.
func newCommandProgress(command *cobra.Command, label string) *progressPrinter {
	if jsonWanted(command) {
		return newProgressPrinter(io.Discard, label)
	}
	return newProgressPrinter(command.ErrOrStderr(), label)
}

// count prints progress towards an unknown total.
func (p *progressPrinter) count(done int) { p.at(done, 0) }

// isTerminal reports whether out is a terminal.
func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// at prints the progress, if it is time to.
func (p *progressPrinter) at(done, of int) {
	every := printInterval
	if p.terminal {
		every = redrawInterval
	}
	// Called for every line of input, so the usual path only reads the clock.
	if time.Since(p.shown) < every {
		return
	}
	p.shown = time.Now()
	line := fmt.Sprintf("%s: %s", p.label, report.Number(done))
	if of > 0 {
		line += fmt.Sprintf(" of %s (%d %%)", report.Number(of), 100*done/of)
	}
	if !p.terminal {
		fmt.Fprintln(p.out, line)
		return
	}
	// Padded to overwrite a longer previous line.
	fmt.Fprintf(p.out, "\r%-*s", p.width, line)
	p.width = len(line)
}

// clear removes the line before something else is printed.
func (p *progressPrinter) clear() {
	if p.terminal && p.width > 0 {
		fmt.Fprintf(p.out, "\r%-*s\r", p.width, "")
		p.width = 0
	}
}
