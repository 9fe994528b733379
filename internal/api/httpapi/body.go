package httpapi

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"

	"landfall"
	"landfall/internal/api/answer"
	"landfall/internal/api/rules"
)

// initialBuffer is the memory a body gets before any of it has arrived: a large
// declared length alone must not cost memory.
const initialBuffer = 64 << 10

// buffers holds buffers for bodies and responses. Large ones are left to the
// garbage collector, so that thousands of quiet connections do not hold the
// memory that a few busy ones needed.
var buffers sync.Pool

// getBuffer returns a buffer from the pool.
func getBuffer() *[]byte {
	if buffer, is := buffers.Get().(*[]byte); is {
		return buffer
	}
	return new([]byte)
}

// putBuffer returns a buffer to the pool unless it is large.
func putBuffer(buffer *[]byte) {
	if cap(*buffer) <= initialBuffer {
		*buffer = (*buffer)[:0]
		buffers.Put(buffer)
	}
}

// checkMedia accepts only uncompressed JSON in UTF-8.
func checkMedia(header http.Header) error {
	types := header["Content-Type"]
	if len(types) != 1 || !isJSON(types[0]) {
		return unsupportedMedia("The body must be application/json.")
	}
	for _, encoding := range header["Content-Encoding"] {
		if !strings.EqualFold(encoding, "identity") {
			return unsupportedMedia("The body must not be compressed.")
		}
	}
	return nil
}

// isJSON checks a media type, with a shortcut for the usual form.
func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil || media != "application/json" || len(params) > 1 {
		return false
	}
	charset, given := params["charset"]
	return len(params) == 0 || given && strings.EqualFold(charset, "utf-8")
}

// unsupportedMedia refuses a body by its header, before it is read.
func unsupportedMedia(detail string) error {
	return &landfall.Error{Kind: landfall.UnsupportedMedia, Code: landfall.CodeUnsupportedMedia, Detail: detail}
}

// readBody appends the whole body to buffer. A declared length over the limit is
// refused before reading, so that a client that sent Expect: 100-continue does
// not send the body. pay is called before the buffer grows.
func (x *exchange) readBody(limit int64, buffer []byte, pay func(size int64) error) ([]byte, error) {
	declared := x.request.ContentLength
	if declared > limit {
		return nil, answer.TooLarge(limit)
	}
	source := io.Reader(x.request.Body)
	if declared < 0 {
		source = http.MaxBytesReader(x.ResponseWriter, x.request.Body, limit)
	}
	// One byte more than declared, so that the last Read sees the end.
	if want := int(min(max(declared, 511), initialBuffer)) + 1; cap(buffer) < want {
		buffer = make([]byte, 0, want)
	}
	x.bodyBegun = true
	for {
		n, err := source.Read(buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		if err == io.EOF {
			return buffer, nil
		}
		if err != nil {
			return nil, unreadable(err, limit)
		}
		if len(buffer) == cap(buffer) {
			if err := pay(min(2*int64(cap(buffer)), limit)); err != nil {
				return nil, err
			}
			larger := make([]byte, len(buffer), 2*cap(buffer))
			copy(larger, buffer)
			buffer = larger
		}
	}
}

// unreadable is the error for a body that did not arrive completely: too long,
// cut off or badly framed.
func unreadable(err error, limit int64) error {
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return answer.TooLarge(limit)
	}
	return &landfall.Error{
		Kind: landfall.Invalid, Code: rules.CodeMalformedJSON,
		Detail: "The body is incomplete.", Cause: err,
	}
}
