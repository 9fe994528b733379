package convert

import (
	"errors"

	"landfall/internal/kit/book"
)

// backgroundWriter writes a file of the book beside whoever makes its lines, so that
// neither waits for the other, and has the disk take what was written while
// there is more to come.
type backgroundWriter struct {
	file  *book.Writer
	full  chan []byte
	empty chan []byte
	syncs chan struct{}
	ended chan error // of those who write and keep
}

// writerBuffers is how many sheets of lines may wait to be written, each of a
// block and the line that goes over its end.
const (
	writerBuffers = 2
	bufferSize    = blockSize + blockSize/8
)

// syncBytes is how much is written before the disk is asked to take it.
const syncBytes = 16 << 20

// newBackgroundWriter opens a file of the book and begins to write it beside those who
// make its lines.
func newBackgroundWriter(path string) (*backgroundWriter, error) {
	file, err := book.CreateNamed(path)
	if err != nil {
		return nil, err
	}
	p := &backgroundWriter{
		file: file, full: make(chan []byte, writerBuffers), empty: make(chan []byte, writerBuffers+1),
		syncs: make(chan struct{}), ended: make(chan error, 2),
	}
	// The press brings a sheet of its own, so there is one more of them than is
	// made here, and room for it.
	for range writerBuffers {
		p.empty <- make([]byte, 0, bufferSize)
	}
	go p.writeLoop()
	go p.syncLoop()
	return p, nil
}

// writeLoop writes until there is no more. After an error it goes on taking
// sheets, so that nobody waits for ever to hand one over.
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
			default: // the disk is busy with what was written before
			}
		}
		// There is room for every sheet there is, so that this never waits.
		p.empty <- text[:0]
	}
	close(p.syncs)
	p.ended <- wrong
}

// syncLoop remembers what goes wrong: the system tells of it only once.
func (p *backgroundWriter) syncLoop() {
	var wrong error
	for range p.syncs {
		if err := p.file.Sync(); wrong == nil {
			wrong = err
		}
	}
	p.ended <- wrong
}

// swap takes a sheet of lines and gives an empty one. What goes wrong is told at
// the end.
func (p *backgroundWriter) swap(sheet []byte) []byte {
	p.full <- sheet
	return <-p.empty
}

// close takes the last sheet, makes the file durable and gives the number of
// its lines.
func (p *backgroundWriter) close(sheet []byte) (int, error) {
	p.full <- sheet
	close(p.full)
	// Both must have ended before the file is closed, since neither may touch it
	// afterwards.
	if err := errors.Join(<-p.ended, <-p.ended); err != nil {
		return 0, errors.Join(err, p.file.Abandon())
	}
	return p.file.Lines, p.file.Close()
}
