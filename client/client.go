package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// Client is safe for concurrent use.
type Client struct {
	server    string
	http      *http.Client
	tokens    *tokenSource
	retryTime time.Duration
	agent     string
	insecure  bool
	delivery  string
}

// WithDelivery returns a client whose calls name a delivery: up to 64 letters, digits and . _ -. Runs
// can be limited to what a delivery staged. Both clients share their tokens.
func (c *Client) WithDelivery(id string) *Client {
	named := *c
	named.delivery = id
	return &named
}

// setHeaders sets what every call sends.
func (c *Client) setHeaders(header http.Header, token string) {
	if token != "" {
		header.Set("Authorization", "Token "+token)
	}
	if c.delivery != "" {
		header.Set("Landfall-Delivery", c.delivery)
	}
	header.Set("User-Agent", c.agent)
}

// Option is a setting of a client.
type Option func(*Client)

// WithKey makes the client obtain its tokens with an API key.
func WithKey(key string) Option { return func(c *Client) { c.tokens.key = strings.TrimSpace(key) } }

// WithRefreshToken makes the client obtain its tokens with a refresh token instead of an API key. A
// refresh token can be used once; keep is called with every new one before it is needed, so that
// you can store it.
func WithRefreshToken(refresh string, keep func(refresh string)) Option {
	return func(c *Client) { c.tokens.refresh, c.tokens.keep = strings.TrimSpace(refresh), keep }
}

// WithHTTP replaces the HTTP client, for proxies, certificates and tests. Its Timeout should be
// zero, because streams take long. Redirects are not followed whatever it says.
func WithHTTP(below *http.Client) Option {
	return func(c *Client) {
		own := *below
		c.http = &own
	}
}

// WithRetryTime limits how long a call is retried. The default is 60 seconds; zero disables
// retries.
func WithRetryTime(duration time.Duration) Option {
	return func(c *Client) { c.retryTime = duration }
}

// WithInsecure allows plain http to another machine. Anyone on the way can then read the API key and
// the accounts.
func WithInsecure() Option { return func(c *Client) { c.insecure = true } }

// ErrInsecure means that the server's address is plain http on another machine.
var ErrInsecure = errors.New("plain http would send the API key and the accounts in clear")

// WithAgent sets the User-Agent, which the server logs.
func WithAgent(name string) Option { return func(c *Client) { c.agent = name } }

const (
	defaultRetryTime = 60 * time.Second
	// maxResponse limits the memory for one response. Lists and bulk calls are read piece by piece.
	maxResponse = 64 << 20
)

// New creates a client for the server at a base URL. It sends nothing.
func New(server string, options ...Option) (*Client, error) {
	base, err := url.Parse(server)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" || base.RawQuery != "" || base.Fragment != "" {
		return nil, fmt.Errorf("%q is not a server address; write it as https://host:port", server)
	}
	if base.User != nil {
		return nil, errors.New("the server's address must not contain a password")
	}
	c := &Client{
		server: strings.TrimSuffix(base.String(), "/"), retryTime: defaultRetryTime, agent: "landfall-client",
		// As many idle connections as callers, because a new connection costs more than a call.
		http: &http.Client{Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 256, IdleConnTimeout: 90 * time.Second,
			TLSHandshakeTimeout: 10 * time.Second, ExpectContinueTimeout: time.Second, ForceAttemptHTTP2: true,
		}},
	}
	c.tokens = &tokenSource{client: c}
	for _, option := range options {
		option(c)
	}
	if base.Scheme == "http" && !c.insecure && !isLoopback(base.Hostname()) {
		return nil, fmt.Errorf("%s: %w; use https, or allow plain http if nobody else is on the way", server, ErrInsecure)
	}
	// A redirect would send the key or the accounts to another address.
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c, nil
}

// isLoopback reports whether a host is this machine. Other names are not resolved, because they may
// resolve to something else later.
func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

// apiCall is one request of the API.
type apiCall struct {
	method, path string
	query        url.Values
	body         []byte
	// once prevents a retry if the outcome is unknown.
	once bool
}

// do sends a call, with retries, and decodes the response.
func (c *Client) do(ctx context.Context, call apiCall, into any) (status int, err error) {
	err = c.retry(ctx, call.once, func() error {
		response, err := c.send(ctx, call)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		status = response.StatusCode
		text, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
		if err != nil {
			return err
		}
		if into == nil {
			return nil
		}
		if err := json.Unmarshal(text, into); err != nil {
			return fmt.Errorf("cannot parse the server's response: %w", err)
		}
		return nil
	})
	return status, err
}

// send sends a call once, with a token, and returns a successful response. An expired token is
// renewed once.
func (c *Client) send(ctx context.Context, call apiCall) (*http.Response, error) {
	for renewed := false; ; renewed = true {
		token, err := c.tokens.current(ctx)
		if err != nil {
			return nil, err
		}
		request, err := c.request(ctx, call, token)
		if err != nil {
			return nil, err
		}
		response, err := c.http.Do(request)
		if err != nil {
			return nil, err
		}
		if response.StatusCode < http.StatusMultipleChoices {
			return response, nil
		}
		refusal := readError(response)
		if response.StatusCode == http.StatusUnauthorized && !renewed {
			c.tokens.invalidate(token)
			continue
		}
		return nil, refusal
	}
}

func (c *Client) request(ctx context.Context, call apiCall, token string) (*http.Request, error) {
	target := c.server + call.path
	if len(call.query) > 0 {
		target += "?" + call.query.Encode()
	}
	var body io.Reader
	if call.body != nil {
		body = bytes.NewReader(call.body)
	}
	request, err := http.NewRequestWithContext(ctx, call.method, target, body)
	if err != nil {
		return nil, err
	}
	if call.body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	c.setHeaders(request.Header, token)
	return request, nil
}

// apiPath builds a path; every part stays one segment.
func apiPath(parts ...string) string {
	var path strings.Builder
	path.WriteString("/v1/data-import/")
	for _, part := range parts {
		segment := url.PathEscape(part)
		// Dots would be taken for a parent folder.
		if segment == "." || segment == ".." {
			segment = strings.ReplaceAll(segment, ".", "%2e")
		}
		path.WriteString(segment + "/")
	}
	return path.String()
}
