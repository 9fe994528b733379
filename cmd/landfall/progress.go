package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"landfall/internal/kit/report"
)

// progress tells how far long work is: on a terminal in one line that changes,
// elsewhere now and then in a line of its own. Output of its own, such as a
// file, is never mixed with it: it goes to standard error.
type progress struct {
	out      io.Writer
	what     string
	terminal bool
	shown    time.Time
	width    int
}

// Often enough to look alive, rarely enough to cost nothing.
const (
	redrawEvery = 100 * time.Millisecond
	tellEvery   = 10 * time.Second
)

// newProgress watches some work.
func newProgress(out io.Writer, what string) *progress {
	return &progress{out: out, what: what, terminal: isTerminal(out), shown: time.Now()}
}

// watched watches a command's work; a machine that reads JSON is left in peace.
func watched(command *cobra.Command, what string) *progress {
	if asJSON(command) {
		return newProgress(io.Discard, what)
	}
	return newProgress(command.ErrOrStderr(), what)
}

// count says how much is done when nobody knows how much there is.
func (p *progress) count(done int) { p.at(done, 0) }

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
func (p *progress) at(done, of int) {
	every := tellEvery
	if p.terminal {
		every = redrawEvery
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
func (p *progress) clear() {
	if p.terminal && p.width > 0 {
		fmt.Fprintf(p.out, "\r%-*s\r", p.width, "")
		p.width = 0
	}
}
