package httpapi

import (
	"net/http"
	"strconv"
	"time"

	"landfall"
	"landfall/internal/api/bulk"
)

// exchange is a request and its response. It is a ResponseWriter that records
// what is sent, so that the access log needs no other wrapper.
type exchange struct {
	http.ResponseWriter
	request       *http.Request
	started       time.Time
	id            string
	route         *route // nil until found
	path          string // as sent, without the query
	query         string
	params        [maxParams]string
	who           landfall.Principal
	authenticated time.Time // time of the last authentication
	supplier      string    // of the request, once known
	code          string    // of an error response
	status        int       // 0 until the response has started
	bytes         int64
	bodyBegun     bool         // reading the body has begun
	aborted       bool         // the connection must be aborted
	stream        *bulk.Result // result of a bulk request
	media         []string     // type of the response; nil: JSON
}

// mediaType returns the type of the response.
func (x *exchange) mediaType() []string {
	if x.media == nil {
		return typeJSON
	}
	return x.media
}

// WriteHeader records the status.
func (x *exchange) WriteHeader(status int) {
	// The first status counts: net/http ignores others.
	if x.status == 0 {
		x.status = status
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write counts the bytes sent.
func (x *exchange) Write(data []byte) (int, error) {
	if x.status == 0 {
		x.status = http.StatusOK
	}
	n, err := x.ResponseWriter.Write(data)
	x.bytes += int64(n)
	return n, err
}

// Unwrap gives http.ResponseController access to the connection.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// json responds with a complete JSON document. A write error means that the
// client is gone; the access log has the number of bytes.
func (x *exchange) json(status int, body []byte) error {
	header := x.Header()
	header["Content-Type"] = x.mediaType()
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	x.WriteHeader(status)
	_, _ = x.Write(body)
	return nil
}

// addSlash redirects to the same path with a trailing slash. The status keeps
// method and body.
func (x *exchange) addSlash() error {
	location := printable(x.path) + "/"
	if x.query != "" {
		location += "?" + printable(x.query)
	}
	x.Header().Set("Location", location)
	x.Header().Set("Content-Length", "0")
	x.WriteHeader(http.StatusPermanentRedirect)
	return nil
}
