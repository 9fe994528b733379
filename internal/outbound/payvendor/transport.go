package payvendor

import (
	"bytes"
	"io"
	"net/http"

	"landfall/internal/lib/limits"
	"landfall/internal/outbound/guard"
)

// checkedTransport accepts only successful replies with one well-formed JSON value of
// limited size. Everything else becomes an error. Redirects are errors too: following
// one would send our credentials to another server.
type checkedTransport struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (c *checkedTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := c.next.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, limits.VendorReply+1))
	if err != nil {
		return nil, err
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return nil, &statusError{
			status:     response.StatusCode,
			retryAfter: guard.RetryAfter(response.Header.Get("Retry-After"), limits.VendorMaxRetryAfter),
			body:       body,
		}
	}
	if len(body) > limits.VendorReply {
		return nil, badReply("it is too large")
	}
	if encoding := response.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return nil, badReply("it is compressed, which was not requested")
	}
	if _, err := parse(body); err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, nil
}

// CloseIdleConnections makes http.Client.CloseIdleConnections work.
func (c *checkedTransport) CloseIdleConnections() {
	if closer, ok := c.next.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}
