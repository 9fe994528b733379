package convert

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
)

const (
	// blockSize is how much of a table one core reads at a time.
	blockSize = 1 << 20
	// maxRow is the longest row held in memory. A line of a book may be 10 MiB, and no single row
	// fills it.
	maxRow = 4 << 20
	// maxOpenQuotes is how many unclosed quotes a file may have before it is given up. Each costs
	// reading maxRow bytes again.
	maxOpenQuotes = 20
)

// block is a sequence of whole rows.
type block struct {
	line  int // of its first row
	text  []byte
	wrong string // why the one line in it, of which text is the beginning, is not a row
}

// splitter splits a table into blocks at the ends of rows. Line ends within quotes do not end a
// row, so it tracks open quotes, which costs nothing for blocks without quotes.
type splitter struct {
	source           io.Reader
	delimiter, quote byte // quote 0: none
	line             int
	text             []byte // read but not returned yet
	ended            error
	openQuotes       int
	spare            *sync.Pool // unused blocks, or nil
	size             int        // of a block
}

// newSplitter splits a table, so that several cores can read one file.
func newSplitter(source io.Reader, delimiter, quote byte) *splitter {
	return &splitter{source: source, delimiter: delimiter, quote: quote, line: 1, size: blockSize}
}

// next returns the next block, or io.EOF.
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
			return s.hand(len(s.text)), nil // the last row need not end with a line feed
		case cut > 0:
			return s.hand(cut), nil
		case last || len(s.text) >= maxRow:
			return s.skip()
		}
		s.text = append(make([]byte, 0, 2*cap(s.text)), s.text...) // a long row
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

// hand returns the first bytes as a block and moves the rest to a new buffer.
func (s *splitter) hand(length int) block {
	given := block{line: s.line, text: s.text[:length]}
	s.line += bytes.Count(given.text, newline)
	s.text = append(s.buffer(len(s.text)-length), s.text[length:]...)
	return given
}

// buffer returns a buffer for a block of at least the given size.
func (s *splitter) buffer(least int) []byte {
	if s.spare != nil {
		if used, is := s.spare.Get().(*[]byte); is && cap(*used) >= max(s.size, least) {
			return (*used)[:0]
		}
	}
	return make([]byte, 0, max(s.size, least))
}

var newline = []byte{'\n'}

// cut finds the end of the last whole row, and whether a quote is open at the end.
func (s *splitter) cut() (end int, open bool) {
	if s.quote == 0 || bytes.IndexByte(s.text, s.quote) < 0 {
		return bytes.LastIndexByte(s.text, '\n') + 1, false
	}
	// Only a quote at the start of a field opens one; elsewhere it is an ordinary character, as in
	// 12" pipe.
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

// closingQuote finds the quote that ends a quoted field, or -1. Two quotes in a row stand for one.
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

// skip gives up the first line, which is too long or has an unclosed quote.
func (s *splitter) skip() (block, error) {
	given := block{line: s.line}
	if end := bytes.IndexByte(s.text, '\n') + 1; end > 0 || errors.Is(s.ended, io.EOF) {
		if s.openQuotes++; s.openQuotes > maxOpenQuotes {
			return block{}, fmt.Errorf("line %d: this is unclosed quote number %d; if the table does not quote its texts, set quote: none", s.line, s.openQuotes)
		}
		if end == 0 {
			end = len(s.text)
		}
		given.wrong = "a quote is not closed; double the quotes within a text, or set quote: none"
		// Only the beginning is shown. It is copied, because the buffer is reused.
		given.text = bytes.Clone(s.text[:min(end, 1<<10)])
		s.text = append(s.buffer(len(s.text)-end), s.text[end:]...)
		s.line++
		return given, nil
	}
	given.wrong = fmt.Sprintf("the row is longer than %d MiB", maxRow>>20)
	given.text = bytes.Clone(s.text[:1<<10])
	s.line++
	// Quotes in a skipped line do not matter.
	for {
		end := bytes.IndexByte(s.text, '\n') + 1
		if end > 0 {
			s.text = append(s.buffer(len(s.text)-end), s.text[end:]...)
			return given, nil
		}
		s.text = s.text[:0]
		if s.ended != nil {
			return given, nil //nolint:nilerr // returned with the next block
		}
		s.fill()
	}
}
