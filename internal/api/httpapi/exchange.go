package httpapi

import (
	"net/http"
	"strconv"
	"time"

	"landfall"
	"landfall/internal/api/bulk"
)

// exchange is one request and what became of it. It is a ResponseWriter that
// remembers, so that the access log needs no second wrapper.
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
	authenticated time.Time // when who was last asked for
	supplier      string    // whom it was about, once that is known
	code          string    // of a refusal
	status        int       // 0 until answered
	bytes         int64
	aborted       bool         // the connection must not look well-ended
	stream        *bulk.Result // what became of the lines of a bulk request
}

// WriteHeader remembers the status.
func (x *exchange) WriteHeader(status int) {
	// The first status counts: net/http ignores a second one, and the log must say what was sent.
	if x.status == 0 {
		x.status = status
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write counts what is sent.
func (x *exchange) Write(data []byte) (int, error) {
	if x.status == 0 {
		x.status = http.StatusOK
	}
	n, err := x.ResponseWriter.Write(data)
	x.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// json answers with a whole JSON document. A client that has left cannot be
// told so; the access log has the number of bytes that went out.
func (x *exchange) json(status int, body []byte) error {
	header := x.Header()
	header["Content-Type"] = typeJSON
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	x.WriteHeader(status)
	_, _ = x.Write(body)
	return nil
}

// addSlash sends a client to the same path with the slash it forgot. Method
// and body are kept by this status, and the host is the client's own.
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
