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
	// widest is the memory a packed stream may ask for: what the format says
	// that every reader must have.
	widest = 8 << 20
	// swelling is how many times its own size a stream may become, once it is
	// larger than unsuspicious. Accounts become 20 to 50 times as large.
	swelling     = 250
	unsuspicious = 32 << 20
)

// ErrSwollen is a stream that becomes so much larger than it was that nobody
// sends it in good faith.
var ErrSwollen = errors.New("the stream becomes too large when it is unpacked")

// ErrBroken is a stream that is not what its encoding says, from some place on.
var ErrBroken = errors.New("the stream cannot be unpacked")

// ErrShort is a stream that ends before what is packed in it does.
var ErrShort = errors.New("the packed stream broke off")

// ErrWide is a stream in good order that asks for more memory than anybody gets.
var ErrWide = errors.New("the stream asks for too much memory to be unpacked")

// Reader unpacks a stream while it arrives, in bounded memory.
type Reader struct {
	packed   counted
	encoding string
	opened   io.Reader
	close    func()
	unpacked int64
}

// NewReader unpacks a stream of one of the encodings. Nothing is read before
// the first Read.
func NewReader(encoding string, packed io.Reader) *Reader {
	return &Reader{packed: counted{Reader: packed}, encoding: encoding, close: func() {}}
}

// Read gives what was packed. An error of the stream below comes back as it is.
func (r *Reader) Read(into []byte) (int, error) {
	if r.opened == nil {
		if err := r.open(); err != nil {
			return 0, r.told(err)
		}
	}
	n, err := r.opened.Read(into)
	r.unpacked += int64(n)
	if r.unpacked > unsuspicious && r.unpacked > swelling*r.packed.count {
		return 0, ErrSwollen
	}
	return n, r.told(err)
}

func (r *Reader) open() error {
	if r.encoding == Gzip {
		opened, err := gzip.NewReader(&r.packed)
		if err == nil {
			r.opened = opened
		}
		return err
	}
	opened, err := zstd.NewReader(&r.packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(widest), zstd.WithDecoderMaxMemory(widest))
	if err == nil {
		r.opened, r.close = opened, opened.Close
	}
	return err
}

// told tells a stream that broke off from one that is not packed as it should be.
func (r *Reader) told(err error) error {
	switch {
	case err == nil, r.packed.failed != nil && err == r.packed.failed: //nolint:errorlint // the very same
		return err
	case r.packed.failed != nil && r.packed.failed != io.EOF: //nolint:errorlint // as readers are told to give it
		return r.packed.failed
	case err == io.EOF: //nolint:errorlint // likewise
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return ErrShort
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return ErrWide
	}
	return fmt.Errorf("%w: %w", ErrBroken, err)
}

// Close gives back the memory.
func (r *Reader) Close() { r.close() }

// counted counts what is read, and remembers why no more can be.
type counted struct {
	io.Reader
	count  int64
	failed error
}

func (c *counted) Read(into []byte) (int, error) {
	n, err := c.Reader.Read(into)
	c.count += int64(n)
	if err != nil {
		c.failed = err
	}
	return n, err
}
