package book

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"landfall/internal/store/pack"
)

const (
	// blockSize is how much is read at once: large enough to be efficient, small enough to keep all
	// cores busy.
	blockSize = 1 << 20
	// maxLine is the maximum length of a request body.
	maxLine = 10 << 20
	// keptPrefix is how much of a longer line is kept, to identify it.
	keptPrefix = 1 << 10
)

// Line is one request body. Blank lines are counted but skipped.
type Line struct {
	Number  int // from 1
	Text    []byte
	TooLong bool // Text is only the beginning
}

// Block is a sequence of whole lines.
type Block struct {
	first int // number of its first line
	text  []byte
	long  bool // the beginning of one line that is too long
}

// Lines iterates over the lines of a block. They are valid as long as the block is.
func (b Block) Lines() iter.Seq[Line] {
	return func(yield func(Line) bool) {
		number := b.first
		for text := range bytes.Lines(b.text) {
			text = bytes.TrimRight(text, "\r\n")
			line := Line{Number: number, Text: text, TooLong: b.long || len(text) > maxLine}
			if line.TooLong {
				line.Text = text[:keptPrefix]
			}
			if len(bytes.TrimSpace(text)) > 0 && !yield(line) {
				return
			}
			number++
		}
	}
}

// Blocks reads a file, decompressing it, in blocks that belong to the caller. Memory does not grow
// with the file or with a line without end.
func (f File) Blocks() iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		opened, err := f.open()
		if err != nil {
			yield(Block{}, err)
			return
		}
		defer opened.Close()
		c := lineCutter{source: opened, next: 1, text: make([]byte, 0, blockSize)}
		for {
			block, err := c.block()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				where := f.Path
				if c.next > 1 {
					where = fmt.Sprintf("%s, after line %d", f.Path, c.next-1)
				}
				yield(Block{}, fmt.Errorf("%s: %w", where, err))
				return
			}
			if !yield(block, nil) {
				return
			}
		}
	}
}

// Lines reads a file line by line.
func (f File) Lines() iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		for block, err := range f.Blocks() {
			if err != nil {
				yield(Line{}, err)
				return
			}
			for line := range block.Lines() {
				if !yield(line, nil) {
					return
				}
			}
		}
	}
}

// open opens the file and decompresses it.
func (f File) open() (io.ReadCloser, error) {
	file, err := os.Open(f.Path)
	if err != nil {
		return nil, err
	}
	_, how := compression(f.Path)
	if how == "" {
		return file, nil
	}
	return unpackedFile{pack.NewReader(how, file), file}, nil
}

type unpackedFile struct {
	*pack.Reader
	file *os.File
}

// Close closes both.
func (u unpackedFile) Close() error {
	u.Reader.Close()
	return u.file.Close()
}

// lineCutter splits a stream into blocks of whole lines.
type lineCutter struct {
	source io.Reader
	next   int    // number of the next line
	text   []byte // read but not returned yet
	begun  bool
	ended  error // error of the source
}

// block returns the next lines.
func (c *lineCutter) block() (Block, error) {
	for {
		c.fill()
		cut := bytes.LastIndexByte(c.text, '\n') + 1
		switch {
		case c.ended != nil && !errors.Is(c.ended, io.EOF):
			return Block{}, c.ended
		case c.ended != nil && len(c.text) == 0:
			return Block{}, io.EOF
		case c.ended != nil:
			return c.take(len(c.text)), nil //nolint:nilerr // the last line need not end; the error comes with the next call
		case cut > 0:
			return c.take(cut), nil
		case len(c.text) > maxLine:
			return c.skip()
		}
		c.text = append(make([]byte, 0, 2*cap(c.text)), c.text...) // a long line
	}
}

// fill reads until the block is full or the source has ended.
func (c *lineCutter) fill() {
	for c.ended == nil && len(c.text) < cap(c.text) {
		n, err := c.source.Read(c.text[len(c.text):cap(c.text)])
		c.text, c.ended = c.text[:len(c.text)+n], err
	}
	if !c.begun {
		c.begun = true
		c.text = bytes.TrimPrefix(c.text, []byte("\xef\xbb\xbf")) // a byte order mark
	}
}

// take returns the first bytes as a block and moves the rest to a new buffer, because the caller
// may keep the block.
func (c *lineCutter) take(length int) Block {
	block := Block{first: c.next, text: c.text[:length]}
	c.next += bytes.Count(block.text, []byte("\n"))
	c.text = append(make([]byte, 0, blockSize), c.text[length:]...)
	return block
}

// skip returns the beginning of a line that is too long, and skips the rest of it.
func (c *lineCutter) skip() (Block, error) {
	block := Block{first: c.next, text: c.text[:keptPrefix:keptPrefix], long: true}
	c.next++
	c.text = make([]byte, 0, blockSize)
	for {
		c.fill()
		if end := bytes.IndexByte(c.text, '\n') + 1; end > 0 {
			c.text = append(make([]byte, 0, blockSize), c.text[end:]...)
			return block, nil
		}
		if c.ended != nil {
			c.text = c.text[:0]
			return block, nil //nolint:nilerr // returned with the next call
		}
		c.text = c.text[:0]
	}
}
