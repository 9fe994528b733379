package pack

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// The supported encodings of a packed stream, by their HTTP names.
const (
	Gzip = "gzip"
	Zstd = "zstd"
)

const (
	// maxWindow is the memory that a packed stream may ask for. The format
	// recommends that every reader support this much.
	maxWindow = 8 << 20
	// maxRatio is how many times its packed size a stream may become, once it is
	// larger than ratioFrom. Accounts become 20 to 50 times as large.
	maxRatio  = 250
	ratioFrom = 32 << 20
)

// ErrRatio is returned for a stream that expands so much that it cannot be meant
// in good faith.
var ErrRatio = errors.New("the stream becomes too large when it is unpacked")

// ErrBroken is returned for a stream that is not valid in its encoding, from the
// start or from some position on.
var ErrBroken = errors.New("the stream cannot be unpacked")

// ErrTruncated is returned for a stream that ends too early.
var ErrTruncated = errors.New("the compressed data ends too early")

// ErrTrailing is returned for a stream that is followed by other bytes.
var ErrTrailing = errors.New("the compressed data is followed by other bytes")

// ErrWindow is returned for a valid stream that asks for more memory than
// allowed.
var ErrWindow = errors.New("the stream asks for too much memory to be unpacked")

// Reader unpacks a stream while it arrives, in bounded memory.
type Reader struct {
	packed   countingReader
	encoding string
	decoder  io.Reader
	close    func()
	unpacked int64
}

// NewReader returns a Reader of a stream in one of the encodings. It reads
// nothing before the first Read.
func NewReader(encoding string, packed io.Reader) *Reader {
	return &Reader{packed: countingReader{Reader: packed}, encoding: encoding, close: func() {}}
}

// Read reads unpacked data. It returns errors of the underlying reader
// unchanged.
func (r *Reader) Read(into []byte) (int, error) {
	if r.decoder == nil {
		if err := r.open(); err != nil {
			return 0, r.classify(err)
		}
	}
	n, err := r.decoder.Read(into)
	r.unpacked += int64(n)
	if r.unpacked > ratioFrom && r.unpacked > maxRatio*r.packed.count {
		return 0, ErrRatio
	}
	return n, r.classify(err)
}

func (r *Reader) open() error {
	if r.encoding == Gzip {
		source := bufio.NewReader(&r.packed)
		if start, _ := source.Peek(len(gzipMagic)); len(start) > 0 && !strings.HasPrefix(gzipMagic, string(start)) {
			return gzip.ErrHeader // NewReader calls less than a header truncated, whatever it is
		}
		opened, err := gzip.NewReader(source)
		if err == nil {
			opened.Multistream(false)
			r.decoder = &gzipMembers{opened, source}
		}
		return err
	}
	opened, err := zstd.NewReader(&r.packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderMaxMemory(maxWindow))
	if err == nil {
		r.decoder, r.close = opened, opened.Close
	}
	return err
}

// classify distinguishes a truncated stream from an invalid one.
func (r *Reader) classify(err error) error {
	switch {
	case err == nil, r.packed.failed != nil && err == r.packed.failed: //nolint:errorlint // the very same
		return err
	case r.packed.failed != nil && r.packed.failed != io.EOF: //nolint:errorlint // as readers are told to give it
		return r.packed.failed
	case err == io.EOF: //nolint:errorlint // likewise
		return err
	case errors.Is(err, ErrTrailing):
		return err
	case errors.Is(err, zstd.ErrMagicMismatch) && r.unpacked > 0:
		return ErrTrailing
	case errors.Is(err, io.ErrUnexpectedEOF):
		return ErrTruncated
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return ErrWindow
	}
	return fmt.Errorf("%w: %w", ErrBroken, err)
}

// gzipMembers reads the members of a gzip stream one after the other. The gzip
// package does too, but takes whatever follows the last one for a member that is
// damaged or broken off.
type gzipMembers struct {
	*gzip.Reader
	source *bufio.Reader
}

// gzipMagic is what every member begins with.
const gzipMagic = "\x1f\x8b"

// Read reads unpacked data.
func (g *gzipMembers) Read(into []byte) (int, error) {
	for {
		n, err := g.Reader.Read(into)
		if n > 0 && err == io.EOF { //nolint:errorlint // as readers are told to give it
			return n, nil // the next Read begins the next member
		}
		if err != io.EOF { //nolint:errorlint // likewise
			return n, err
		}
		start, err := g.source.Peek(len(gzipMagic))
		if len(start) == 0 {
			return 0, err
		}
		if string(start) != gzipMagic {
			return 0, ErrTrailing
		}
		if err := g.Reset(g.source); err != nil {
			return 0, err
		}
		g.Multistream(false)
	}
}

// Close releases the memory.
func (r *Reader) Close() { r.close() }

// countingReader counts the bytes read and remembers the error that ended
// reading.
type countingReader struct {
	io.Reader
	count  int64
	failed error
}

func (c *countingReader) Read(into []byte) (int, error) {
	n, err := c.Reader.Read(into)
	c.count += int64(n)
	if err != nil {
		c.failed = err
	}
	return n, err
}
