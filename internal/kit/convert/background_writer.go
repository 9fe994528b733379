package convert

import (
	"errors"

	"landfall/internal/kit/book"
)

// backgroundWriter writes a file of the book in the background, and syncs it now and then, so that
// closing it is fast.
type backgroundWriter struct {
	file  *book.Writer
	full  chan []byte
	empty chan []byte
	syncs chan struct{}
	ended chan error // errors of both goroutines
}

// writerBuffers is how many full buffers may wait. A buffer has space for a block and one more
// line.
const (
	writerBuffers = 2
	bufferSize    = blockSize + blockSize/8
)

// syncBytes is how much is written between two syncs.
const syncBytes = 16 << 20

// newBackgroundWriter creates the file and starts writing.
func newBackgroundWriter(path string) (*backgroundWriter, error) {
	file, err := book.CreateNamed(path)
	if err != nil {
		return nil, err
	}
	p := &backgroundWriter{
		file: file, full: make(chan []byte, writerBuffers), empty: make(chan []byte, writerBuffers+1),
		syncs: make(chan struct{}), ended: make(chan error, 2),
	}
	// The caller brings one more buffer of its own.
	for range writerBuffers {
		p.empty <- make([]byte, 0, bufferSize)
	}
	go p.writeLoop()
	go p.syncLoop()
	return p, nil
}

// writeLoop writes buffers. After an error it still takes them, so that nobody blocks.
func (p *backgroundWriter) writeLoop() {
	var wrong error
	written := 0
	for text := range p.full {
		if wrong == nil {
			_, wrong = p.file.Write(text)
		}
		if written += len(text); written >= syncBytes {
			select {
			case p.syncs <- struct{}{}:
				written = 0
			default: // the previous sync is not finished
			}
		}
		// Never blocks: the channel has space for every buffer.
		p.empty <- text[:0]
	}
	close(p.syncs)
	p.ended <- wrong
}

// syncLoop remembers the first error: the system reports it only once.
func (p *backgroundWriter) syncLoop() {
	var wrong error
	for range p.syncs {
		if err := p.file.Sync(); wrong == nil {
			wrong = err
		}
	}
	p.ended <- wrong
}

// swap hands over a full buffer and returns an empty one. Errors are returned by close.
func (p *backgroundWriter) swap(sheet []byte) []byte {
	p.full <- sheet
	return <-p.empty
}

// close writes the last buffer, makes the file durable and returns the number of lines.
func (p *backgroundWriter) close(sheet []byte) (int, error) {
	p.full <- sheet
	close(p.full)
	// Both goroutines must have ended before the file is closed.
	if err := errors.Join(<-p.ended, <-p.ended); err != nil {
		return 0, errors.Join(err, p.file.Abandon())
	}
	return p.file.Lines, p.file.Close()
}
