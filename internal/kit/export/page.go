package export

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"landfall/client"
)

const (
	// pageAccounts is how many accounts one request asks for.
	pageAccounts = 1000
	// pageMemory is how much of a page is kept in memory. The rest of a longer one is kept in a file.
	pageMemory = 16 << 20
	// pagesAhead is how many pages are requested while one is written. A server sends two streams to an
	// organisation at once.
	pagesAhead = 1
)

// accountPage is a complete page of whole accounts, one per line.
type accountPage struct {
	accounts int
	next     string // where the next page starts; "" if this is the last one
	cursor   string
	memory   []byte
	file     *os.File // the rest of a long page, or nil
	giveBack func([]byte)
}

// reader reads the page from its beginning.
func (p *accountPage) reader() io.Reader {
	if p.file == nil {
		return bytes.NewReader(p.memory)
	}
	return io.MultiReader(bytes.NewReader(p.memory), bufio.NewReaderSize(p.file, 1<<20))
}

// release frees the memory of the page.
func (p *accountPage) release() {
	p.giveBack(p.memory)
	if p.file != nil {
		_ = p.file.Close() // it was read
		_ = os.Remove(p.file.Name())
	}
}

// fetcher requests pages.
type fetcher struct {
	server   *client.Client
	supplier string
	folder   *os.Root
	query    client.AccountQuery
	buffers  chan []byte
}

// fetched is a page that is being read.
type fetched struct {
	page *accountPage
	err  error
}

// pages returns all pages in order. The next page is requested as soon as the server said where it
// starts, so that the server reads it while this one arrives. It ends with the first error.
func (f *fetcher) pages(ctx context.Context) iter.Seq2[*accountPage, error] {
	return func(yield func(*accountPage, error) bool) {
		ctx, stop := context.WithCancel(ctx)
		f.buffers = make(chan []byte, pagesAhead+2)
		waiting := make(chan chan fetched, pagesAhead)
		go f.request(ctx, waiting)
		defer func() {
			stop()
			for next := range waiting {
				if rest := <-next; rest.page != nil {
					rest.page.release()
				}
			}
		}()
		for next := range waiting {
			read := <-next
			if read.err != nil {
				yield(nil, read.err)
				return
			}
			if !yield(read.page, nil) {
				return
			}
		}
	}
}

// request requests page after page, and reads each one while the next is requested.
func (f *fetcher) request(ctx context.Context, waiting chan<- chan fetched) {
	defer close(waiting)
	for query := f.query; ; {
		done := make(chan fetched, 1)
		select {
		case waiting <- done:
		case <-ctx.Done():
			return
		}
		lines, err := f.server.AccountLines(ctx, f.supplier, query)
		if err != nil {
			done <- fetched{err: err}
			return
		}
		go func() {
			page, err := f.read(lines)
			done <- fetched{page, err}
		}()
		if query.After = lines.Next; query.After == "" {
			return
		}
	}
}

// read reads a whole page.
func (f *fetcher) read(lines *client.AccountLines) (_ *accountPage, err error) {
	defer lines.Close()
	p := &accountPage{next: lines.Next, cursor: lines.Cursor, giveBack: f.keepBuffer}
	select {
	case p.memory = <-f.buffers:
	default:
		p.memory = make([]byte, 0, 1<<20)
	}
	defer func() {
		if err == nil {
			return
		}
		if _, ofFiles := errors.AsType[lastingError](err); !ofFiles {
			err = p.cutOff(err)
		}
		p.release()
	}()
	last := byte('\n')
	for {
		if len(p.memory) == cap(p.memory) {
			if cap(p.memory) >= pageMemory {
				break
			}
			p.memory = append(make([]byte, 0, 2*cap(p.memory)), p.memory...)
		}
		n, err := lines.Read(p.memory[len(p.memory):cap(p.memory)])
		p.memory = p.memory[:len(p.memory)+n]
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read the server's accounts: %w", err)
		}
	}
	p.accounts = bytes.Count(p.memory, []byte("\n"))
	if len(p.memory) > 0 {
		last = p.memory[len(p.memory)-1]
	}
	if len(p.memory) >= pageMemory {
		if p.file, err = os.CreateTemp(f.folder.Name(), "page-*"); err != nil {
			return nil, lastingError{err}
		}
		rest := &lineCounter{out: p.file, last: last}
		_, err := io.Copy(rest, lines)
		if p.accounts += rest.lines; err != nil {
			return nil, fmt.Errorf("cannot read the server's accounts: %w", err)
		}
		if _, err := p.file.Seek(0, io.SeekStart); err != nil {
			return nil, lastingError{err}
		}
		last = rest.last
	}
	// HTTP reports a stream that was cut off. This holds even if a proxy on the way hides it.
	if last != '\n' {
		return nil, fmt.Errorf("cannot read the server's accounts: %w", io.ErrUnexpectedEOF)
	}
	return p, nil
}

// pageError says that a page ended early.
type pageError struct {
	error
	accounts int    // that arrived
	last     string // external number of the last one; "" if unknown
}

func (e pageError) Unwrap() error { return e.error }

// cutOff tells where a page ended early.
func (p *accountPage) cutOff(err error) pageError {
	cut := pageError{error: err, accounts: max(p.accounts, bytes.Count(p.memory, []byte("\n")))}
	if end := bytes.LastIndexByte(p.memory, '\n'); end >= 0 && p.file == nil {
		cut.last = client.ExternalNumber(p.memory[bytes.LastIndexByte(p.memory[:end], '\n')+1 : end])
	}
	return cut
}

// keepBuffer keeps the memory of a page for another one.
func (f *fetcher) keepBuffer(memory []byte) {
	select {
	case f.buffers <- memory[:0]:
	default:
	}
}

// lineCounter counts the lines that are written to a file.
type lineCounter struct {
	out   io.Writer
	lines int
	last  byte
}

func (c *lineCounter) Write(text []byte) (int, error) {
	if len(text) > 0 {
		c.lines, c.last = c.lines+bytes.Count(text, []byte("\n")), text[len(text)-1]
	}
	n, err := c.out.Write(text)
	if err != nil {
		err = lastingError{err}
	}
	return n, err
}
