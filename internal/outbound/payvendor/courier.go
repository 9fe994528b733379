package payvendor

import (
	"bytes"
	"io"
	"net/http"
	"time"

	"landfall/internal/outbound/guard"
)

// replyLimit is far more than any instruction needs.
const replyLimit = 256 << 10

// quietLimit is the longest a vendor can make us stay away with Retry-After.
const quietLimit = 5 * time.Minute

// courier carries a request and lets only sound replies through: a success
// with one well-formed JSON value of sane size. Anything else becomes an error
// here, before a library that is less strict than we are gets to see it. A
// redirect is such an error and is not followed: our credential would travel
// with it.
type courier struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (c *courier) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := c.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, replyLimit+1))
	if err != nil {
		return nil, err
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return nil, &statusError{
			status:     response.StatusCode,
			retryAfter: guard.RetryAfter(response.Header.Get("Retry-After"), quietLimit),
			body:       body,
		}
	}
	if len(body) > replyLimit {
		return nil, broken("it is too long")
	}
	if encoding := response.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return nil, broken("it is compressed, though nobody asked for that")
	}
	if _, err := parse(body); err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, nil
}

// CloseIdleConnections lets the client's method of that name through.
func (c *courier) CloseIdleConnections() {
	if closer, ok := c.next.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}
