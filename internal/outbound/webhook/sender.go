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
	"landfall/internal/lib/limits"
	"landfall/internal/outbound/guard"
)

// Encoder returns the body and the id of an event. Members of its data about the
// account are nil unless the webhook includes them.
type Encoder func(event landfall.Event, account []byte) (id string, body []byte)

// SenderOptions configures a Sender.
type SenderOptions struct {
	Keys   Keys
	Encode Encoder
	// Account returns the members of an event's data that carry the whole account,
	// for webhooks that include it.
	Account   func(ctx context.Context, event landfall.Event) ([]byte, error)
	Networks  []netip.Prefix // private networks where receivers are allowed
	PlainHTTP bool           // allow receivers without TLS
	TimeLimit time.Duration  // of one delivery; default 10 seconds
	Roots     *x509.CertPool // nil: the system's
}

// Sender delivers events to webhooks.
type Sender struct {
	SenderOptions
	dialer *guard.Dialer
	client *http.Client
}

// NewSender returns a sender.
func NewSender(options SenderOptions) *Sender {
	if options.TimeLimit <= 0 {
		options.TimeLimit = limits.Webhook
	}
	dialer := &guard.Dialer{Allowed: options.Networks}
	return &Sender{SenderOptions: options, dialer: dialer, client: &http.Client{
		// The round limits the deliveries of one webhook, so there is no limit per host,
		// which several webhooks could share.
		Transport: dialer.Transport(0, options.Roots),
		// Do not follow redirects: the signature is for this URL only.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// CheckURL validates the URL of a webhook.
func (s *Sender) CheckURL(text string) error {
	_, err := s.dialer.ParseURL(text, s.PlainHTTP)
	return err
}

// Close closes idle connections.
func (s *Sender) Close() { s.client.CloseIdleConnections() }

// Outcome is the result of one attempt.
type Outcome struct {
	Status     int    // 0: no response
	Reason     string // "" when it was delivered
	RetryAfter time.Duration
	Took       time.Duration
}

// Arrived reports whether the receiver accepted the event.
func (o Outcome) Arrived() bool { return o.Status >= 200 && o.Status <= 299 }

// Gone reports whether the receiver wants no more events.
func (o Outcome) Gone() bool { return o.Status == http.StatusGone }

const (
	// maxReplySize is how much of a response is read. Its content does not matter, but
	// the connection can be reused only after it was read.
	maxReplySize = limits.WebhookReply
	// maxRetryAfter limits how long a receiver can delay the next attempt.
	maxRetryAfter = limits.WebhookMaxRetry
)

// Send delivers one event.
func (s *Sender) Send(ctx context.Context, webhook *landfall.Webhook, event landfall.Event) Outcome {
	began := time.Now()
	outcome := s.send(ctx, webhook, event)
	outcome.Took = time.Since(began)
	return outcome
}

func (s *Sender) send(ctx context.Context, webhook *landfall.Webhook, event landfall.Event) Outcome {
	// The allowed networks may have changed since the URL was set.
	if err := s.CheckURL(webhook.URL); err != nil {
		return Outcome{Reason: "the URL is not allowed: " + err.Error()}
	}
	var account []byte
	if webhook.IncludeData && s.Account != nil {
		var err error
		if account, err = s.Account(ctx, event); err != nil {
			return Outcome{Reason: "the account could not be read"}
		}
	}
	id, body := s.Encode(event, account)
	now := time.Now()
	signature, err := s.Keys.sign(webhook.Secrets, id, now, body)
	if err != nil {
		return Outcome{Reason: err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, s.TimeLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, webhook.URL, bytes.NewReader(body))
	if err != nil {
		return Outcome{Reason: "the URL cannot be used"}
	}
	request.Header.Set("Content-Type", "application/cloudevents+json; charset=utf-8")
	request.Header.Set("User-Agent", "Landfall-Webhook/1")
	// Standard Webhooks writes these names in lower case; header names are case-insensitive.
	request.Header["webhook-id"] = []string{id}
	request.Header["webhook-timestamp"] = []string{strconv.FormatInt(now.Unix(), 10)}
	request.Header["webhook-signature"] = []string{signature}
	response, err := s.client.Do(request)
	if err != nil {
		return Outcome{Reason: reasonFor(err)}
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, maxReplySize) // only the status matters
	outcome := Outcome{Status: response.StatusCode, RetryAfter: guard.RetryAfter(response.Header.Get("Retry-After"), maxRetryAfter)}
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
