package bulk

import (
	"bytes"
	"errors"
	"io"

	"landfall/internal/lib/limits"
)

const (
	// chunkSize is the size of one read. Lines are slices of a chunk, not copies;
	// a chunk lives as long as the last of its lines.
	chunkSize = 256 << 10
	// maxUsualLine is the length above which a line needs a slot of the limiter
	// for large lines.
	maxUsualLine = limits.BulkLongLine
)

// lineReader splits a body into lines. A line ends with LF or CR LF; the last
// one may also end with the body.
type lineReader struct {
	source io.Reader
	limit  int
	chunk  []byte // chunk[from:] has been read but not returned
	from   int
	ended  error // why the body ended
	number int64 // of the line returned last
	// reserve is called before a line takes more memory than usual. It returns
	// the function that releases the memory.
	reserve func() (free func(), err error)
}

type bodyLine struct {
	number  int64
	text    []byte
	tooLong bool   // over the limit; it has no text
	free    func() // releases the slot of a large line; nil: it has none
}

// byteOrderMark is put in front of a file by some editors. It is not part of
// the first line.
var byteOrderMark = []byte("\xef\xbb\xbf")

// next returns the next line. Its text is never overwritten. The error is
// io.EOF after the last line. An incomplete line is not returned.
func (l *lineReader) next() (bodyLine, error) {
	line := bodyLine{number: l.number + 1}
	// Release the slot of a large line however this call ends. A leaked slot
	// would be missing for all requests until a restart.
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
		// The bytes searched so far contain no line end, so search only what
		// arrives next.
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
		if part > l.limit+1 { // one more for a CR
			release()
			if err := l.skip(); err != nil {
				return bodyLine{}, err
			}
			line.free, line.tooLong = nil, true
			break
		}
		// Reserve before taking memory, not after: a client can start as many long
		// lines as it has connections.
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
	// Only at the start of the body. Elsewhere these bytes are a mistake, which
	// the response to the line reports.
	if line.number == 1 {
		line.text = bytes.TrimPrefix(line.text, byteOrderMark)
	}
	if len(line.text) > l.limit {
		release()
		line.text, line.free, line.tooLong = nil, nil, true
	}
	return line, nil
}

// fill reads once and returns the position in the chunk where the new bytes
// start. Lines of a full chunk may still be in use, so the rest moves to a new
// chunk.
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

// skip discards the rest of a line that is too long, without storing it.
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

// blank reports whether a line is blank. Blank lines get no result.
func (c bodyLine) blank() bool {
	return !c.tooLong && len(bytes.Trim(c.text, " \t\r")) == 0
}
