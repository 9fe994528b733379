// Package identity signs people in with an OpenID Connect provider: the authorization
// code flow with PKCE. It says who somebody is; the console decides what they may do.
package identity

import (
	"context"
	"crypto/subtle"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"landfall"
	"landfall/internal/lib/limits"
)

// Options describe a provider.
type Options struct {
	Issuer   string // its https address, as in its tokens
	ClientID string
	Secret   string // "" for a client without one
	Claim    string // names the operator: "email", "preferred_username", …
	Client   *http.Client
}

// Provider is an OpenID Connect provider. It is asked for its description at the first
// sign-in, so that the service starts without it.
type Provider struct {
	options Options
	mu      sync.Mutex
	known   *oidc.Provider
}

// New returns a provider.
func New(options Options) *Provider {
	if options.Client == nil {
		options.Client = &http.Client{}
	}
	client := *options.Client
	if client.Transport == nil {
		client.Transport = http.DefaultTransport
	}
	client.Transport, client.Timeout = limited{client.Transport}, limits.IdentityRequest
	options.Client = &client
	return &Provider{options: options}
}

// limited limits the size of what a provider may send.
type limited struct{ http.RoundTripper }

func (l limited) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := l.RoundTripper.RoundTrip(request)
	if err == nil {
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(response.Body, limits.IdentityResponse), response.Body}
	}
	return response, err
}

// Attempt is one sign-in. The browser keeps it in a cookie until it comes back.
type Attempt struct{ State, Nonce, Verifier string }

// NewAttempt returns random values for one sign-in.
func NewAttempt() Attempt {
	return Attempt{State: oauth2.GenerateVerifier(), Nonce: oauth2.GenerateVerifier(), Verifier: oauth2.GenerateVerifier()}
}

// errUnreachable says that nobody can sign in like this now.
func errUnreachable(cause error) error {
	return &landfall.Error{
		Kind: landfall.UpstreamUnavailable, Code: landfall.CodeVendorUnavailable, Cause: cause,
		Detail: "The sign-in provider cannot be reached. Try again later, or sign in with your password.",
	}
}

// errRefused says that the provider did not vouch for the person.
func errRefused(detail string, cause error) error {
	return &landfall.Error{Kind: landfall.Unauthenticated, Code: landfall.CodeNotAuthenticated, Detail: detail, Cause: cause}
}

// client returns the provider and our registration with it.
func (p *Provider) client(ctx context.Context, redirect string) (context.Context, *oidc.Provider, *oauth2.Config, error) {
	ctx = oidc.ClientContext(ctx, p.options.Client)
	p.mu.Lock()
	known := p.known
	p.mu.Unlock()
	if known == nil {
		var err error
		// The keys of tokens are fetched with this context later, so it must not end.
		if known, err = oidc.NewProvider(context.WithoutCancel(ctx), p.options.Issuer); err != nil {
			return ctx, nil, nil, errUnreachable(err)
		}
		p.mu.Lock()
		p.known = known
		p.mu.Unlock()
	}
	return ctx, known, &oauth2.Config{
		ClientID: p.options.ClientID, ClientSecret: p.options.Secret, Endpoint: known.Endpoint(), RedirectURL: redirect,
		Scopes: []string{oidc.ScopeOpenID, "email", "profile"},
	}, nil
}

// Start returns the address of the provider to which the browser is sent.
func (p *Provider) Start(ctx context.Context, attempt Attempt, redirect string) (string, error) {
	_, _, config, err := p.client(ctx, redirect)
	if err != nil {
		return "", err
	}
	return config.AuthCodeURL(attempt.State, oidc.Nonce(attempt.Nonce), oauth2.S256ChallengeOption(attempt.Verifier)), nil
}

// Finish returns the name of the operator who comes back from the provider with a code.
func (p *Provider) Finish(ctx context.Context, attempt Attempt, state, code, redirect string) (string, error) {
	if attempt.State == "" || subtle.ConstantTimeCompare([]byte(state), []byte(attempt.State)) != 1 {
		return "", errRefused("This sign-in took too long or began in another browser. Start again.", nil)
	}
	ctx, known, config, err := p.client(ctx, redirect)
	if err != nil {
		return "", err
	}
	token, err := config.Exchange(ctx, code, oauth2.VerifierOption(attempt.Verifier))
	if refusal := (*oauth2.RetrieveError)(nil); errors.As(err, &refusal) {
		return "", errRefused("The sign-in provider refused the sign-in. Start again.", err)
	} else if err != nil {
		return "", errUnreachable(err)
	}
	raw, _ := token.Extra("id_token").(string)
	id, err := known.Verifier(&oidc.Config{ClientID: p.options.ClientID}).Verify(ctx, raw)
	if err != nil {
		return "", errRefused("The answer of the sign-in provider is not valid. Start again, or ask an administrator.", err)
	}
	if subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(attempt.Nonce)) != 1 {
		return "", errRefused("The answer of the sign-in provider belongs to another sign-in. Start again.", nil)
	}
	claims := map[string]any{}
	if err := id.Claims(&claims); err != nil {
		return "", errRefused("The answer of the sign-in provider is not valid.", err)
	}
	name, _ := claims[p.options.Claim].(string)
	if verified, given := claims["email_verified"].(bool); p.options.Claim == "email" && (!given || !verified) {
		return "", errRefused("The sign-in provider has not verified your e-mail address, so it does not say who you are.", nil)
	}
	return strings.ToLower(name), nil
}
