package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"landfall/internal/lib/limits"
)

// exportClient posts OTLP/HTTP requests in the JSON encoding. The official exporters use
// protobuf and link gRPC, which takes a sixth of the time to build this program.
type exportClient struct {
	http    *http.Client
	headers map[string]string
}

func newClient(headers map[string]string) *exportClient {
	return &exportClient{headers: headers, http: &http.Client{
		Timeout: limits.TelemetryRequest,
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: limits.TelemetryRequest, KeepAlive: limits.OutboundKeepAlive}).DialContext,
			ForceAttemptHTTP2:   true,
			MaxIdleConnsPerHost: 2,
			IdleConnTimeout:     limits.OutboundIdle,
			TLSHandshakeTimeout: limits.TelemetryRequest,
		},
	}}
}

// retryError marks a temporary failure. after is the collector's Retry-After, if any.
type retryError struct {
	cause error
	after time.Duration
}

func (e *retryError) Error() string { return e.cause.Error() }

// post sends a request and retries temporary failures.
func (c *exportClient) post(ctx context.Context, target string, payload any) error {
	body, err := encode(payload)
	if err != nil {
		return err
	}
	deadline := time.Now().Add(limits.TelemetryGiveUp)
	for pause := limits.TelemetryFirstRetry; ; pause = min(2*pause, limits.TelemetryMaxRetry) {
		err := c.send(ctx, target, body)
		var retry *retryError
		if !errors.As(err, &retry) {
			return err
		}
		wait := max(retry.after, pause/2+rand.N(pause)) //nolint:gosec // only spreads the attempts
		if time.Now().Add(wait).After(deadline) {
			return err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return fmt.Errorf("%w (last attempt: %w)", ctx.Err(), err)
		}
	}
}

// encode returns gzipped JSON. Every OTLP server must accept gzip.
func encode(payload any) ([]byte, error) {
	var body bytes.Buffer
	compressed := gzip.NewWriter(&body)
	if err := json.NewEncoder(compressed).Encode(payload); err != nil {
		return nil, err
	}
	err := compressed.Close()
	return body.Bytes(), err
}

// send makes one attempt.
func (c *exportClient) send(ctx context.Context, target string, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("User-Agent", "landfall")
	for name, value := range c.headers {
		request.Header.Set(name, value)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Content-Encoding", "gzip")
	response, err := c.http.Do(request)
	if err != nil {
		var failure *url.Error
		if errors.As(err, &failure) && failure.Timeout() && ctx.Err() == nil {
			return &retryError{cause: err}
		}
		return err
	}
	defer func() { _ = response.Body.Close() }() // it was only read
	answer, err := io.ReadAll(io.LimitReader(response.Body, limits.TelemetryReply))
	if err != nil {
		return err
	}
	switch response.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return &retryError{cause: statusError(target, response), after: retryAfter(response.Header.Get("Retry-After"))}
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return statusError(target, response)
	}
	return partialSuccess(answer)
}

func statusError(target string, response *http.Response) error {
	return fmt.Errorf("%s: the collector replied %s", target, response.Status)
}

// retryAfter parses a Retry-After header, in seconds or as a date.
func retryAfter(header string) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return time.Until(at)
	}
	return 0
}

// partialSuccess returns an error when the collector accepted only a part. A reply that
// is not JSON is ignored: the status already says that the request succeeded.
func partialSuccess(body []byte) error {
	var result struct {
		PartialSuccess struct {
			ErrorMessage string `json:"errorMessage"`
		} `json:"partialSuccess"`
	}
	if json.Unmarshal(body, &result) != nil || result.PartialSuccess.ErrorMessage == "" {
		return nil //nolint:nilerr // an answer without a message accepts everything
	}
	return errors.New("the collector did not accept everything: " + result.PartialSuccess.ErrorMessage)
}

func (c *exportClient) close() { c.http.CloseIdleConnections() }
