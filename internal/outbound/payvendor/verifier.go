// Package payvendor verifies payment instructions at payment vendors: whether one exists,
// its type, and whether it can be used. There is one adapter per vendor. The Verifier does
// what they have in common: time limits, retries, circuit breakers, and a dialer that
// refuses private addresses.
package payvendor

import (
	"context"
	"crypto/x509"
	"errors"
	"net"
	"net/netip"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"landfall"
	"landfall/internal/lib/limits"
)

// Options configures a Verifier; zero values mean the defaults.
type Options struct {
	TimeLimit         time.Duration // of one Verify including retries; default 10 seconds
	Tries             int           // per Verify; default 3
	BreakerPause      time.Duration // how long an open breaker blocks requests; default 30 seconds
	OutOfServiceAfter time.Duration // when an outage counts as persistent; default 5 minutes

	// SecretVariables may contain a vendor's secret in addition to those whose names
	// start with SecretPrefix.
	SecretVariables []string

	// Alarm, if set, is called once when a vendor starts to reject our credentials or
	// configuration, and once when its breaker opens. Only the operator can fix that.
	// It must not block.
	Alarm func(vendor string, cause error)

	// Observe, if set, is called with the outcome and duration of every
	// request.
	Observe func(vendor, outcome string, took time.Duration)
}

// Verifier verifies payment instructions at every configured vendor. It is safe for
// concurrent use.
type Verifier struct {
	options Options
	// For tests; nil: those of package net.
	resolve func(ctx context.Context, network, host string) ([]netip.Addr, error)
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	roots   *x509.CertPool // nil: the system's

	mu      sync.Mutex
	clients map[string]*vendorClient
	warned  map[string]bool // vendors with an invalid configuration that the operator was alerted of
}

var _ landfall.InstructionVerifier = (*Verifier)(nil)

// New returns a Verifier. Close closes its idle connections.
func New(options Options) *Verifier {
	if options.TimeLimit <= 0 {
		options.TimeLimit = limits.Vendor
	}
	if options.Tries <= 0 {
		options.Tries = 3
	}
	if options.BreakerPause <= 0 {
		options.BreakerPause = limits.VendorPause
	}
	if options.OutOfServiceAfter <= 0 {
		options.OutOfServiceAfter = limits.VendorOutOfService
	}
	if options.Alarm == nil {
		options.Alarm = func(string, error) {}
	}
	return &Verifier{
		options: options,
		clients: map[string]*vendorClient{},
		warned:  map[string]bool{},
	}
}

// Verify implements landfall.InstructionVerifier.
func (v *Verifier) Verify(ctx context.Context, organisation string, vendor landfall.Vendor, instruction landfall.Instruction) (landfall.InstructionDetails, error) {
	target, err := v.clientFor(vendor)
	if err != nil {
		// An invalid configuration fails for every reference, so it is reported before
		// the reference is checked.
		v.warn(vendor.Code, err)
		return landfall.InstructionDetails{}, rejectedError(err)
	}
	if !isValidReference(instruction.Reference) {
		return landfall.InstructionDetails{}, notFoundError()
	}
	org := target.forOrganisation(organisation)
	found, err := org.lookup(ctx, instruction.Reference)
	switch {
	case err != nil:
		return landfall.InstructionDetails{}, org.publicError(err)
	case !slices.Contains(found.types, instruction.Type):
		return landfall.InstructionDetails{}, landfall.RefuseField("type", landfall.CodeInstructionTypeMismatch,
			"The payment vendor has this instruction with another type.")
	case !found.active:
		return landfall.InstructionDetails{}, landfall.RefuseField("reference", landfall.CodeInstructionInactive,
			"The payment vendor has this instruction, but it can no longer be used.")
	}
	return found.details, nil
}

// Close closes idle connections. Requests in progress continue.
func (v *Verifier) Close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for code, target := range v.clients {
		target.client.CloseIdleConnections()
		delete(v.clients, code)
	}
}

// clientFor returns the client of a vendor. After a change of the configuration it is a new
// one, with a closed breaker and new connections.
func (v *Verifier) clientFor(vendor landfall.Vendor) (*vendorClient, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if known, ok := v.clients[vendor.Code]; ok {
		if reflect.DeepEqual(known.vendor, vendor) {
			return known, nil
		}
		known.client.CloseIdleConnections()
		delete(v.clients, vendor.Code)
	}
	config, err := parseConfig(vendor, v.options.SecretVariables)
	if err != nil {
		return nil, err
	}
	secret, err := secretOf(vendor)
	if err != nil {
		return nil, err
	}
	client := v.httpClient(config.networks)
	target := newVendorClient(vendor, v.options, client, config.build(client, secret))
	v.clients[vendor.Code] = target
	delete(v.warned, vendor.Code)
	return target, nil
}

// warn alerts the operator once of a vendor with an invalid configuration.
func (v *Verifier) warn(code string, err error) {
	v.mu.Lock()
	known := v.warned[code]
	v.warned[code] = true
	v.mu.Unlock()
	if !known {
		v.options.Alarm(code, err)
	}
}

// secretOf reads a vendor's secret from the environment. Its errors name the variable and
// never its value.
func secretOf(vendor landfall.Vendor) (string, error) {
	if vendor.SecretEnv == "" {
		return "", nil
	}
	secret := strings.TrimSpace(os.Getenv(vendor.SecretEnv))
	if secret == "" {
		return "", errors.New("environment variable " + vendor.SecretEnv + " is not set")
	}
	for _, char := range []byte(secret) {
		if char <= ' ' || char > '~' {
			return "", errors.New("environment variable " + vendor.SecretEnv + " contains characters that are not allowed in a header")
		}
	}
	return secret, nil
}

// isValidReference reports whether a reference can be sent as one path segment. A proxy
// could treat a segment of dots as a parent folder, even when escaped.
func isValidReference(reference string) bool {
	if reference == "" || len(reference) > 512 || !utf8.ValidString(reference) || strings.Trim(reference, ".") == "" {
		return false
	}
	return !strings.ContainsFunc(reference, unicode.IsControl)
}
