package app

import (
	"errors"
	"fmt"
	"net/url"
	"os"

	"landfall/internal/console"
	"landfall/internal/outbound/identity"
)

// ProviderSettings describe the OpenID Connect provider of the console.
type ProviderSettings struct{ Issuer, ClientID, SecretEnv, Claim string }

// checkIssuer requires TLS, except for a provider on this machine.
func checkIssuer(text string) error {
	parsed, err := url.Parse(text)
	if err != nil || parsed.Host == "" || parsed.Scheme != "https" && (parsed.Scheme != "http" || parsed.Hostname() != "127.0.0.1" && parsed.Hostname() != "localhost") {
		return errors.New("want an https address such as https://login.example.com")
	}
	return nil
}

func checkVariable(text string) error {
	if !variableForm.MatchString(text) {
		return errors.New("want the name of an environment variable in upper case")
	}
	return nil
}

// signInProvider returns the provider of the settings, or nil without one.
func (s ProviderSettings) signInProvider() (console.Provider, error) {
	if s.Issuer == "" {
		return nil, nil //nolint:nilnil // people sign in with passwords
	}
	if s.ClientID == "" {
		return nil, errors.New("oidc-issuer is set, so oidc-client-id is needed too")
	}
	options := identity.Options{Issuer: s.Issuer, ClientID: s.ClientID, Claim: s.Claim}
	if s.SecretEnv != "" {
		if options.Secret = os.Getenv(s.SecretEnv); options.Secret == "" {
			return nil, fmt.Errorf("oidc-secret-env names %s, but that environment variable is empty", s.SecretEnv)
		}
	}
	return identity.New(options), nil
}
