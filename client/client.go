package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Client is safe for many callers at once.
type Client struct {
	server    string
	http      *http.Client
	tokens    *tokenSource
	retryTime time.Duration
	agent     string
}

// Option is a setting of a client.
type Option func(*Client)

// WithKey lets the client obtain its tokens with an API key.
func WithKey(key string) Option { return func(c *Client) { c.tokens.key = strings.TrimSpace(key) } }

// WithRefreshToken lets the client obtain its tokens without the API key: with
// the refresh token that came with an earlier one. Each is good once; keep hears
// of every new one before it is needed, to be used the next time.
func WithRefreshToken(refresh string, keep func(refresh string)) Option {
	return func(c *Client) { c.tokens.refresh, c.tokens.keep = strings.TrimSpace(refresh), keep }
}

// WithHTTP replaces the client below, for proxies, certificates and tests.
// Its Timeout should be zero: streams take as long as they take.
func WithHTTP(below *http.Client) Option { return func(c *Client) { c.http = below } }

// WithRetryTime bounds how long a call is repeated, 60 seconds when nobody says
// otherwise. Zero repeats nothing.
func WithRetryTime(patience time.Duration) Option { return func(c *Client) { c.retryTime = patience } }

// WithAgent names the program in the server's log.
func WithAgent(name string) Option { return func(c *Client) { c.agent = name } }

const (
	defaultRetryTime = 60 * time.Second
	// maxResponse bounds what one answer may take of memory; lists and bulk
	// are read as they come.
	maxResponse = 64 << 20
)

// New makes a client of the server at a base URL. Nothing is sent yet.
func New(server string, options ...Option) (*Client, error) {
	base, err := url.Parse(server)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" || base.RawQuery != "" || base.Fragment != "" {
		return nil, fmt.Errorf("%q is no address of a server; write it as https://host:port", server)
	}
	if base.User != nil {
		return nil, errors.New("the server's address must not contain a password")
	}
	c := &Client{
		server: strings.TrimSuffix(base.String(), "/"), retryTime: defaultRetryTime, agent: "landfall-client",
		// As many idle connections as callers: a new one for every call would
		// cost more than the call.
		http: &http.Client{Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 256, IdleConnTimeout: 90 * time.Second,
			TLSHandshakeTimeout: 10 * time.Second, ExpectContinueTimeout: time.Second, ForceAttemptHTTP2: true,
		}},
	}
	c.tokens = &tokenSource{client: c}
	for _, option := range options {
		option(c)
	}
	return c, nil
}

// apiCall is one request of the API.
type apiCall struct {
	method, path string
	query        url.Values
	body         []byte
	// once keeps a call from being repeated when it is not known what became
	// of it.
	once bool
}

// do sends a call until it is answered, and reads the answer into a value.
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
			return fmt.Errorf("the server's answer cannot be read: %w", err)
		}
		return nil
	})
	return status, err
}

// send sends a call once, with a token, and gives an answer that is not an
// error. A token that has ended meanwhile is renewed, once.
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
		if response.StatusCode < http.StatusBadRequest {
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
	if token != "" {
		request.Header.Set("Authorization", "Token "+token)
	}
	request.Header.Set("User-Agent", c.agent)
	return request, nil
}

// apiPath puts names into a path; whatever is in them stays one segment.
func apiPath(parts ...string) string {
	var path strings.Builder
	path.WriteString("/v1/data-import/")
	for _, part := range parts {
		segment := url.PathEscape(part)
		// Bare dots would be taken for a way up.
		if segment == "." || segment == ".." {
			segment = strings.ReplaceAll(segment, ".", "%2e")
		}
		path.WriteString(segment + "/")
	}
	return path.String()
}
