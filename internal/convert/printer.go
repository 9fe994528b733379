package convert

import (
	"errors"

	"landfall/internal/book"
)

// printer writes a file of the book beside whoever makes its lines, so that
// neither waits for the other.
type printer struct {
	file  *book.Writer
	text  []byte
	full  chan []byte
	empty chan []byte
	ended chan error
}

// printerSheets is how many blocks of lines may wait to be written.
const printerSheets = 3

func newPrinter(path string) (*printer, error) {
	file, err := book.CreateNamed(path)
	if err != nil {
		return nil, err
	}
	p := &printer{file: file, full: make(chan []byte, printerSheets), empty: make(chan []byte, printerSheets), ended: make(chan error, 1)}
	for range printerSheets {
		p.empty <- make([]byte, 0, blockSize+blockSize/8)
	}
	p.text = <-p.empty
	go func() {
		var wrong error
		for text := range p.full {
			if wrong == nil {
				_, wrong = p.file.Write(text)
			}
			p.empty <- text[:0]
		}
		p.ended <- wrong
	}()
	return p, nil
}

// write adds a line with its end. What goes wrong is told at the end.
func (p *printer) write(line []byte) error {
	p.text = append(p.text, line...)
	if len(p.text) >= blockSize {
		p.full <- p.text
		p.text = <-p.empty
	}
	return nil
}

// close makes the file durable and gives the number of its lines.
func (p *printer) close() (int, error) {
	p.full <- p.text
	close(p.full)
	if err := <-p.ended; err != nil {
		return 0, errors.Join(err, p.file.Abandon())
	}
	return p.file.Lines, p.file.Close()
}
