package bulk

import (
	"bytes"
	"errors"
	"io"
)

const (
	// chunkSize is how much is asked for at once. Lines are cut out of chunks
	// without being copied; a chunk lives as long as the last of its lines.
	chunkSize = 256 << 10
	// maxUsualLine is the longest line that needs no place of its own.
	maxUsualLine = 128 << 10
)

// lineReader cuts what arrives into lines. A line ends with LF or CR LF, the last
// one also with the end of everything.
type lineReader struct {
	source io.Reader
	limit  int
	chunk  []byte // chunk[from:] has arrived and was not given out
	from   int
	ended  error // why no more arrives
	number int64 // of the line given out last
	// swell is asked before a line takes more memory than usual, and gives back
	// what ends that.
	reserve func() (free func(), err error)
}

// bodyLine is a line that was given out.
type bodyLine struct {
	number  int64
	text    []byte
	tooLong bool   // over the limit: there is no text
	free    func() // what it holds besides its memory; nil for nothing
}

// byteOrderMark is what some editors put in front of a file; it is part of no
// line.
var byteOrderMark = []byte("\xef\xbb\xbf")

// next gives the next line. Its text is the caller's for good. The error is
// io.EOF after the last one; a line that did not arrive whole is none.
func (l *lineReader) next() (bodyLine, error) {
	line := bodyLine{number: l.number + 1}
	// Whatever way this line ends, a place it took for its length goes back: a
	// lost place would be missing for all requests until a restart.
	release := func() {
		if line.free != nil {
			line.free()
		}
	}
	for searched := l.from; ; {
		if at := bytes.IndexByte(l.chunk[searched:], '\n'); at >= 0 {
			end := searched + at
			line.text = l.chunk[l.from:end:end]
			l.from = end + 1
			break
		}
		// What was looked through holds no end; only what arrives next need be.
		searched = len(l.chunk)
		if errors.Is(l.ended, io.EOF) && searched > l.from {
			line.text = l.chunk[l.from:searched:searched]
			l.from = searched
			break
		}
		if l.ended != nil {
			release()
			return bodyLine{}, l.ended
		}
		part := searched - l.from
		if part > l.limit+1 { // one more for the CR
			release()
			if err := l.skip(); err != nil {
				return bodyLine{}, err
			}
			line.free, line.tooLong = nil, true
			break
		}
		// Before memory is taken and not after: a caller can begin as many long
		// lines as he has connections.
		if part > maxUsualLine && line.free == nil {
			free, err := l.reserve()
			if err != nil {
				return bodyLine{}, err
			}
			line.free = free
		}
		searched = l.fill()
	}
	l.number++
	line.text = bytes.TrimSuffix(line.text, []byte("\r"))
	// Only here: elsewhere these bytes are a mistake, and the line is told so.
	if line.number == 1 {
		line.text = bytes.TrimPrefix(line.text, byteOrderMark)
	}
	if len(line.text) > l.limit {
		release()
		line.text, line.free, line.tooLong = nil, nil, true
	}
	return line, nil
}

// fill reads once, and gives the place in the chunk from which on it is new.
// What was given out of a full chunk may still be in use, so the rest moves to
// another one.
func (l *lineReader) fill() (searched int) {
	part := len(l.chunk) - l.from
	if len(l.chunk) == cap(l.chunk) {
		larger := make([]byte, part, max(chunkSize, 2*part))
		copy(larger, l.chunk[l.from:])
		l.chunk, l.from = larger, 0
	}
	before := len(l.chunk)
	n, err := l.source.Read(l.chunk[before:cap(l.chunk)])
	l.chunk, l.ended = l.chunk[:before+n], err
	return before
}

// skip drops the rest of a line that is too long, without keeping it.
func (l *lineReader) skip() error {
	scratch := make([]byte, 0, chunkSize)
	for l.ended == nil {
		var n int
		n, l.ended = l.source.Read(scratch[:cap(scratch)])
		if at := bytes.IndexByte(scratch[:n], '\n'); at >= 0 {
			l.chunk, l.from = scratch[:n], at+1
			return nil
		}
	}
	l.chunk, l.from = nil, 0
	if errors.Is(l.ended, io.EOF) {
		return nil
	}
	return l.ended
}

// blank says whether a line is one that is not answered.
func (c bodyLine) blank() bool {
	return !c.tooLong && len(bytes.Trim(c.text, " \t\r")) == 0
}
