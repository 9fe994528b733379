package webhook

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
	"landfall/internal/outbound/guard"
)

// Encoder writes an event as it leaves the service, and its id.
type Encoder func(event landfall.Event) (id string, body []byte)

// SenderOptions says how deliveries are made.
type SenderOptions struct {
	Keys      Keys
	Encode    Encoder
	Networks  []netip.Prefix // private networks receivers may be in
	PlainHTTP bool           // let receivers be reached without TLS
	TimeLimit time.Duration  // of one delivery; 10 seconds
	Roots     *x509.CertPool // nil: the host's
}

// Sender delivers events to webhooks.
type Sender struct {
	SenderOptions
	gate   *guard.Gate
	client *http.Client
}

// NewSender makes a sender.
func NewSender(options SenderOptions) *Sender {
	if options.TimeLimit <= 0 {
		options.TimeLimit = 10 * time.Second
	}
	gate := &guard.Gate{Allowed: options.Networks}
	return &Sender{SenderOptions: options, gate: gate, client: &http.Client{
		// What one webhook may have under way is bounded by its round, so that
		// webhooks of one host take nothing from each other.
		Transport: gate.Transport(0, options.Roots),
		// Nothing is followed: the signature is for this address alone.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// CheckURL says what is wrong with the address of a webhook.
func (s *Sender) CheckURL(text string) error {
	_, err := s.gate.Address(text, s.PlainHTTP)
	return err
}

// Close gives idle connections back.
func (s *Sender) Close() { s.client.CloseIdleConnections() }

// Outcome is what became of one attempt.
type Outcome struct {
	Status     int    // 0: no answer
	Reason     string // in our words; "" when it arrived
	RetryAfter time.Duration
	Took       time.Duration
}

// Arrived says that the receiver took it.
func (o Outcome) Arrived() bool { return o.Status >= 200 && o.Status <= 299 }

// Gone says that the receiver wants nothing ever again.
func (o Outcome) Gone() bool { return o.Status == http.StatusGone }

const (
	// replyLimit is what is read of an answer: nothing in it matters, but the
	// connection can only be used again when it was read.
	replyLimit = 64 << 10
	// longestRetryAfter is how long a receiver can put us off.
	longestRetryAfter = 4 * time.Hour
)

// Send delivers one event.
func (s *Sender) Send(ctx context.Context, webhook *landfall.Webhook, event landfall.Event) Outcome {
	began := time.Now()
	outcome := s.send(ctx, webhook, event)
	outcome.Took = time.Since(began)
	return outcome
}

func (s *Sender) send(ctx context.Context, webhook *landfall.Webhook, event landfall.Event) Outcome {
	// The address was good when it was set; what is allowed may have changed.
	if err := s.CheckURL(webhook.URL); err != nil {
		return Outcome{Reason: "the address is not allowed: " + err.Error()}
	}
	id, body := s.Encode(event)
	now := time.Now()
	signature, err := s.Keys.sign(webhook.Secrets, id, now, body)
	if err != nil {
		return Outcome{Reason: err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, s.TimeLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, webhook.URL, bytes.NewReader(body))
	if err != nil {
		return Outcome{Reason: "the address cannot be used"}
	}
	request.Header.Set("Content-Type", "application/cloudevents+json; charset=utf-8")
	request.Header.Set("User-Agent", "Landfall-Webhook/1")
	// Canonical spelling would be Webhook-Id; names of header fields have no case.
	request.Header["webhook-id"] = []string{id}
	request.Header["webhook-timestamp"] = []string{strconv.FormatInt(now.Unix(), 10)}
	request.Header["webhook-signature"] = []string{signature}
	response, err := s.client.Do(request)
	if err != nil {
		return Outcome{Reason: plain(err)}
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, replyLimit) // whatever it says, the status counts
	outcome := Outcome{Status: response.StatusCode, RetryAfter: guard.RetryAfter(response.Header.Get("Retry-After"), longestRetryAfter)}
	switch {
	case outcome.Arrived():
	case outcome.Status >= 300 && outcome.Status <= 399:
		outcome.Reason = fmt.Sprintf("it answered %d, and redirects are not followed", outcome.Status)
	default:
		outcome.Reason = fmt.Sprintf("it answered %d", outcome.Status)
	}
	return outcome
}

// plain says why no answer came, without words of others: errors of the
// network repeat addresses.
func plain(err error) string {
	var certificate *x509.UnknownAuthorityError
	var hostname x509.HostnameError
	var invalid x509.CertificateInvalidError
	var lookup *net.DNSError
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.Is(err, guard.ErrForbidden):
		return "its name leads to a private address, which is not allowed"
	case errors.Is(err, context.DeadlineExceeded):
		return "it did not answer in time"
	case errors.Is(err, context.Canceled):
		return "the attempt was broken off"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "it refused the connection"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "it broke the connection off"
	case errors.As(err, &lookup):
		return "its name is not known"
	case errors.As(err, &certificate), errors.As(err, &unknown), errors.As(err, &hostname), errors.As(err, &invalid):
		return "its certificate cannot be trusted"
	}
	return "it could not be reached"
}
