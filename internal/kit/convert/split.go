package convert

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
)

const (
	// blockSize is how much of a table is handed to a core at once.
	blockSize = 1 << 20
	// maxRow is the longest row that is held in memory. A line of a book may
	// be 10 MiB, and no single row gives all of it.
	maxRow = 4 << 20
	// maxOpenQuotes is how many quotes of a file may stay open before it is given
	// up: each costs reading a longestRow again.
	maxOpenQuotes = 20
)

// block is a run of whole rows of a table.
type block struct {
	line  int // number of its first
	text  []byte
	wrong string // why the one line in it is no row, of which text is the beginning
}

// splitter cuts a table into blocks at the ends of rows. A line end within
// quotes is none, so it has to know which quotes are open; where a block has no
// quotes at all, which is most of them, that costs nothing.
type splitter struct {
	source           io.Reader
	delimiter, quote byte // quote 0: there are none
	line             int
	text             []byte // read and not yet handed on
	ended            error
	openQuotes       int
	spare            *sync.Pool // of blocks that were read, or nil
	size             int        // of a block
}

// newSplitter cuts a table into blocks of whole rows, so that several cores
// can read one file.
func newSplitter(source io.Reader, delimiter, quote byte) *splitter {
	return &splitter{source: source, delimiter: delimiter, quote: quote, line: 1, size: blockSize}
}

// next gives the next block, or io.EOF.
func (s *splitter) next() (block, error) {
	for {
		s.fill()
		if s.ended != nil && !errors.Is(s.ended, io.EOF) {
			return block{}, s.ended
		}
		last := s.ended != nil
		if last && len(s.text) == 0 {
			return block{}, io.EOF
		}
		cut, open := s.cut()
		switch {
		case last && !open:
			return s.hand(len(s.text)), nil // the last row need not end
		case cut > 0:
			return s.hand(cut), nil
		case last || len(s.text) >= maxRow:
			return s.skip()
		}
		s.text = append(make([]byte, 0, 2*cap(s.text)), s.text...) // one long row
	}
}

// fill reads until the block is full.
func (s *splitter) fill() {
	if s.text == nil {
		s.text = s.buffer(0)
	}
	for s.ended == nil && len(s.text) < cap(s.text) {
		n, err := s.source.Read(s.text[len(s.text):cap(s.text)])
		s.text, s.ended = s.text[:len(s.text)+n], err
	}
}

// hand gives away the first bytes and keeps the others in a buffer of its own.
func (s *splitter) hand(length int) block {
	given := block{line: s.line, text: s.text[:length]}
	s.line += bytes.Count(given.text, newline)
	s.text = append(s.buffer(len(s.text)-length), s.text[length:]...)
	return given
}

// buffer gives room for a block, and for so much at least.
func (s *splitter) buffer(least int) []byte {
	if s.spare != nil {
		if used, is := s.spare.Get().(*[]byte); is && cap(*used) >= max(s.size, least) {
			return (*used)[:0]
		}
	}
	return make([]byte, 0, max(s.size, least))
}

var newline = []byte{'\n'}

// cut finds the end of the last whole row, and whether a quote is open at the
// end of what was read.
func (s *splitter) cut() (end int, open bool) {
	if s.quote == 0 || bytes.IndexByte(s.text, s.quote) < 0 {
		return bytes.LastIndexByte(s.text, '\n') + 1, false
	}
	// Only a quote at the beginning of a field opens one; within a field that
	// has none it is a character like any other, as in 12" pipe.
	text, begins := s.text, true
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == s.quote && begins:
			closing := closingQuote(text[i+1:], s.quote)
			if closing < 0 {
				return end, true
			}
			i += closing + 1
			begins = false
		case c == '\n':
			end, begins = i+1, true
		default:
			begins = c == s.delimiter
		}
	}
	return end, false
}

// closingQuote finds the quote that ends a quoted field; two in a row stand for
// one in the text. It is -1 when the field does not end.
func closingQuote(text []byte, quote byte) int {
	for i := 0; ; i++ {
		at := bytes.IndexByte(text[i:], quote)
		if at < 0 {
			return -1
		}
		i += at
		if i+1 == len(text) || text[i+1] != quote {
			return i
		}
		i++
	}
}

// skip gives up the first line of what was read, which is no row: it is too
// long, or opens a quote that nothing closes. Reading goes on behind it.
func (s *splitter) skip() (block, error) {
	given := block{line: s.line}
	if end := bytes.IndexByte(s.text, '\n') + 1; end > 0 || errors.Is(s.ended, io.EOF) {
		if s.openQuotes++; s.openQuotes > maxOpenQuotes {
			return block{}, fmt.Errorf("line %d: this is the %dth quote that nothing closes; if the table does not quote its texts, say quote: none", s.line, s.openQuotes)
		}
		if end == 0 {
			end = len(s.text)
		}
		given.wrong = "it opens a quote that nothing closes; double the quotes within a text, or say quote: none"
		// Only the beginning is shown, and it is copied, since the buffer is used
		// again.
		given.text = bytes.Clone(s.text[:min(end, 1<<10)])
		s.text = append(s.buffer(len(s.text)-end), s.text[end:]...)
		s.line++
		return given, nil
	}
	given.wrong = fmt.Sprintf("it is longer than %d MiB", maxRow>>20)
	given.text = bytes.Clone(s.text[:1<<10])
	s.line++
	// Only the end of its line is looked for: quotes in a line that is given up
	// mean nothing.
	for {
		end := bytes.IndexByte(s.text, '\n') + 1
		if end > 0 {
			s.text = append(s.buffer(len(s.text)-end), s.text[end:]...)
			return given, nil
		}
		s.text = s.text[:0]
		if s.ended != nil {
			return given, nil //nolint:nilerr // it is told with the next
		}
		s.fill()
	}
}
