package main

import (
	"io"
	"sync"
)

// sharedOutput is a terminal on which log lines and a progress bar are printed. A log line replaces the
// bar, which is drawn again below it.
type sharedOutput struct {
	out   io.Writer
	mutex sync.Mutex
	drawn bool // the last line is a bar
}

// clearLine moves to the start of the line and clears it.
const clearLine = "\r\x1b[2K"

// Write writes whole lines.
func (o *sharedOutput) Write(text []byte) (int, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.drawn {
		o.drawn = false
		if _, err := io.WriteString(o.out, clearLine); err != nil {
			return 0, err
		}
	}
	return o.out.Write(text)
}

// bar returns the writer of the bar, which ends no line while it is drawn.
func (o *sharedOutput) bar() io.Writer { return barOutput{o} }

type barOutput struct{ *sharedOutput }

// Write draws the bar, or ends its line.
func (o barOutput) Write(text []byte) (int, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if len(text) > 0 {
		o.drawn = text[len(text)-1] != '\n'
	}
	return o.out.Write(text)
}
