package pack

import (
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// NewWriter returns a writer that packs a stream in one of the encodings. Close
// ends the stream and does not close the underlying writer.
func NewWriter(encoding string, to io.Writer) (io.WriteCloser, error) {
	if encoding == Gzip {
		return gzip.NewWriterLevel(to, gzip.BestSpeed)
	}
	return zstd.NewWriter(to, zstd.WithWindowSize(maxWindow), zstd.WithEncoderLevel(zstd.SpeedDefault))
}
