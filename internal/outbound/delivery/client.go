package delivery

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"syscall"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
	"landfall/internal/outbound/guard"
)

// ClientOptions configures a Client.
type ClientOptions struct {
	Keys      Keys
	Networks  []netip.Prefix // private networks where receivers are allowed
	PlainHTTP bool           // allow receivers without TLS
	TimeLimit time.Duration  // of one request
	Roots     *x509.CertPool // nil: the system's
	// IdlePerHost is how many unused connections to a host are kept; 0: a few.
	IdlePerHost int
}

// Client sends signed requests to receivers outside.
type Client struct {
	ClientOptions
	dialer *guard.Dialer
	client *http.Client
}

// NewClient returns a client.
func NewClient(options ClientOptions) *Client {
	dialer := &guard.Dialer{Allowed: options.Networks}
	// A round limits the deliveries to one receiver, so there is no limit per host,
	// which several receivers could share.
	transport := dialer.Transport(0, options.Roots)
	if options.IdlePerHost > 0 {
		transport.MaxIdleConnsPerHost = options.IdlePerHost
	}
	return &Client{ClientOptions: options, dialer: dialer, client: &http.Client{
		Transport: transport,
		// Do not follow redirects: the signature is for this URL only.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// CheckURL validates the URL of a receiver.
func (c *Client) CheckURL(text string) error {
	_, err := c.dialer.ParseURL(text, c.PlainHTTP)
	return err
}

// Close closes idle connections.
func (c *Client) Close() { c.client.CloseIdleConnections() }

// Outcome is the result of one attempt.
type Outcome struct {
	Status     int    // 0: no response
	Reason     string // "" when it was delivered
	RetryAfter time.Duration
	Took       time.Duration
	Reply      []byte // the beginning of the response
}

// Arrived reports whether the receiver accepted the message.
func (o Outcome) Arrived() bool { return o.Status >= 200 && o.Status <= 299 }

// Gone reports whether a webhook's receiver wants no more events.
func (o Outcome) Gone() bool { return o.Status == http.StatusGone }

const (
	// maxReplySize is how much of a response is read. The connection can be reused
	// only after it was read.
	maxReplySize = limits.WebhookReply
)

// Message is a request to a receiver.
type Message struct {
	Method, URL string
	ID          string // also the idempotency key
	Body        []byte
	ContentType string
	Agent       string
	Secrets     []landfall.WebhookSecret
	Secret      []byte // signs besides the others; nil: none
	Idempotent  bool   // send the id as Idempotency-Key
}

// Send sends a message.
func (c *Client) Send(ctx context.Context, message *Message) Outcome {
	began := time.Now()
	outcome := c.send(ctx, message)
	outcome.Took = time.Since(began)
	return outcome
}

func (c *Client) send(ctx context.Context, message *Message) Outcome {
	// The allowed networks may have changed since the URL was set.
	if err := c.CheckURL(message.URL); err != nil {
		return Outcome{Reason: "the URL is not allowed: " + err.Error()}
	}
	now := time.Now()
	signature, err := c.Keys.sign(message.Secrets, message.Secret, message.ID, now, message.Body)
	if err != nil {
		return Outcome{Reason: err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, c.TimeLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, message.Method, message.URL, bytes.NewReader(message.Body))
	if err != nil {
		return Outcome{Reason: "the URL cannot be used"}
	}
	if message.ContentType != "" {
		request.Header.Set("Content-Type", message.ContentType)
	}
	request.Header.Set("User-Agent", message.Agent)
	if message.Idempotent {
		request.Header.Set("Idempotency-Key", message.ID)
	}
	// Standard Webhooks writes these names in lower case; header names are case-insensitive.
	request.Header["webhook-id"] = []string{message.ID}
	request.Header["webhook-timestamp"] = []string{strconv.FormatInt(now.Unix(), 10)}
	request.Header["webhook-signature"] = []string{signature}
	response, err := c.client.Do(request)
	if err != nil {
		return Outcome{Reason: reasonFor(err)}
	}
	defer response.Body.Close()
	reply, _ := io.ReadAll(io.LimitReader(response.Body, maxReplySize)) // the status matters most
	outcome := Outcome{
		Status: response.StatusCode, Reply: reply, RetryAfter: guard.RetryAfter(response.Header.Get("Retry-After"), limits.WebhookMaxRetry),
	}
	switch {
	case outcome.Arrived():
	case outcome.Status >= 300 && outcome.Status <= 399:
		outcome.Reason = fmt.Sprintf("it answered %d, and redirects are not followed", outcome.Status)
	default:
		outcome.Reason = fmt.Sprintf("it answered %d", outcome.Status)
	}
	return outcome
}

// reasonFor says why there was no response. It does not repeat the error, which contains the
// URL.
func reasonFor(err error) string {
	var certificate *x509.UnknownAuthorityError
	var hostname x509.HostnameError
	var invalid x509.CertificateInvalidError
	var lookup *net.DNSError
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.Is(err, guard.ErrForbidden):
		return "its name resolves to a private address, which is not allowed"
	case errors.Is(err, context.DeadlineExceeded):
		return "it did not answer in time"
	case errors.Is(err, context.Canceled):
		return "the attempt was cancelled"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "it refused the connection"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "it closed the connection"
	case errors.As(err, &lookup):
		return "its host name does not exist"
	case errors.As(err, &certificate), errors.As(err, &unknown), errors.As(err, &hostname), errors.As(err, &invalid):
		return "its certificate is not trusted"
	}
	return "it could not be reached"
}
