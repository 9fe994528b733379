package pack

import (
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// The encodings, as HTTP calls them, in which a stream may arrive packed.
const (
	Gzip = "gzip"
	Zstd = "zstd"
)

const (
	// maxWindow is the memory a packed stream may ask for: what the format says
	// that every reader must have.
	maxWindow = 8 << 20
	// maxRatio is how many times its own size a stream may become, once it is
	// larger than unsuspicious. Accounts become 20 to 50 times as large.
	maxRatio  = 250
	ratioFrom = 32 << 20
)

// ErrRatio is a stream that becomes so much larger than it was that nobody
// sends it in good faith.
var ErrRatio = errors.New("the stream becomes too large when it is unpacked")

// ErrBroken is a stream that is not what its encoding says, from some place on.
var ErrBroken = errors.New("the stream cannot be unpacked")

// ErrTruncated is a stream that ends before what is packed in it does.
var ErrTruncated = errors.New("the packed stream broke off")

// ErrWindow is a stream in good order that asks for more memory than anybody gets.
var ErrWindow = errors.New("the stream asks for too much memory to be unpacked")

// Reader unpacks a stream while it arrives, in bounded memory.
type Reader struct {
	packed   countingReader
	encoding string
	decoder  io.Reader
	close    func()
	unpacked int64
}

// NewReader unpacks a stream of one of the encodings. Nothing is read before
// the first Read.
func NewReader(encoding string, packed io.Reader) *Reader {
	return &Reader{packed: countingReader{Reader: packed}, encoding: encoding, close: func() {}}
}

// Read gives what was packed. An error of the stream below comes back as it is.
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
		opened, err := gzip.NewReader(&r.packed)
		if err == nil {
			r.decoder = opened
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

// classify tells a stream that broke off from one that is not packed as it should be.
func (r *Reader) classify(err error) error {
	switch {
	case err == nil, r.packed.failed != nil && err == r.packed.failed: //nolint:errorlint // the very same
		return err
	case r.packed.failed != nil && r.packed.failed != io.EOF: //nolint:errorlint // as readers are told to give it
		return r.packed.failed
	case err == io.EOF: //nolint:errorlint // likewise
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return ErrTruncated
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return ErrWindow
	}
	return fmt.Errorf("%w: %w", ErrBroken, err)
}

// Close gives back the memory.
func (r *Reader) Close() { r.close() }

// countingReader counts what is read, and remembers why no more can be.
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
