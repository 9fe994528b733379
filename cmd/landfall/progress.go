package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"landfall/internal/kit/report"
)

// progressPrinter tells how far long work is: on a terminal in one line that changes,
// elsewhere now and then in a line of its own. Output of its own, such as a
// file, is never mixed with it: it goes to standard error.
type progressPrinter struct {
	out      io.Writer
	what     string
	terminal bool
	shown    time.Time
	width    int
}

// Often enough to look alive, rarely enough to cost nothing.
const (
	redrawInterval = 100 * time.Millisecond
	printInterval  = 10 * time.Second
)

// newProgressPrinter watches some work.
func newProgressPrinter(out io.Writer, what string) *progressPrinter {
	return &progressPrinter{out: out, what: what, terminal: isTerminal(out), shown: time.Now()}
}

// newCommandProgress watches a command's work; a machine that reads JSON is left in peace.
func newCommandProgress(command *cobra.Command, what string) *progressPrinter {
	if jsonWanted(command) {
		return newProgressPrinter(io.Discard, what)
	}
	return newProgressPrinter(command.ErrOrStderr(), what)
}

// count says how much is done when nobody knows how much there is.
func (p *progressPrinter) count(done int) { p.at(done, 0) }

// isTerminal reports whether a person may be looking at it now.
func isTerminal(out io.Writer) bool {
	// Whatever is no file, such as the buffer of a test, is no terminal either.
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// at says how much is done.
func (p *progressPrinter) at(done, of int) {
	every := printInterval
	if p.terminal {
		every = redrawInterval
	}
	// Asked for every line that is done, so nothing more than a look at the clock stands in front
	// of it.
	if time.Since(p.shown) < every {
		return
	}
	p.shown = time.Now()
	line := fmt.Sprintf("%s: %s", p.what, report.Number(done))
	if of > 0 {
		line += fmt.Sprintf(" of %s (%d %%)", report.Number(of), 100*done/of)
	}
	if !p.terminal {
		fmt.Fprintln(p.out, line)
		return
	}
	// Padded to what was there before, or the end of a longer line would stay.
	fmt.Fprintf(p.out, "\r%-*s", p.width, line)
	p.width = len(line)
}

// clear takes the line away, before something else is printed.
func (p *progressPrinter) clear() {
	if p.terminal && p.width > 0 {
		fmt.Fprintf(p.out, "\r%-*s\r", p.width, "")
		p.width = 0
	}
}
