// Package payvendor asks payment vendors about payment instructions: does this
// one exist, of what type is it, can it be used? One adapter per vendor speaks
// the vendor's language; the Verifier around them holds what all have in common:
// time limits, repetition, circuit breakers, and a network that cannot be
// talked into dialling private addresses.
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
)

// Options are the Verifier's limits; zero values mean the defaults.
type Options struct {
	TimeLimit         time.Duration // of one Verify, repetitions included; 10 seconds
	Tries             int           // of one Verify at most; 3
	PauseFor          time.Duration // how long an open breaker spares the vendor; 30 seconds
	OutOfServiceAfter time.Duration // trouble this long is persistent; 5 minutes

	// SecretVariables may hold a vendor's secret besides those whose names
	// begin with SecretPrefix.
	SecretVariables []string

	// Alarm, when set, is told once when a vendor begins to refuse our
	// credentials or configuration and once when its breaker opens: nobody
	// but the operator can mend that. It must not block.
	Alarm func(vendor string, cause error)

	// Watch, when set, is told how every question ended and how long it took.
	Watch func(vendor, outcome string, took time.Duration)
}

// Verifier verifies payment instructions at every configured vendor. It is safe
// for use by many goroutines.
type Verifier struct {
	options Options
	// How names are looked up and dialled; nil: as usual.
	lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
	roots  *x509.CertPool // nil: the host's

	mu     sync.Mutex
	lines  map[string]*line
	warned map[string]bool // vendors without a line, of which the operator was told
}

// The use cases know it by this port alone.
var _ landfall.InstructionVerifier = (*Verifier)(nil)

// New makes a Verifier. Close gives its idle connections back.
func New(options Options) *Verifier {
	if options.TimeLimit <= 0 {
		options.TimeLimit = 10 * time.Second
	}
	if options.Tries <= 0 {
		options.Tries = 3
	}
	if options.PauseFor <= 0 {
		options.PauseFor = 30 * time.Second
	}
	if options.OutOfServiceAfter <= 0 {
		options.OutOfServiceAfter = 5 * time.Minute
	}
	if options.Alarm == nil {
		options.Alarm = func(string, error) {}
	}
	return &Verifier{
		options: options,
		lines:   map[string]*line{},
		warned:  map[string]bool{},
	}
}

// Verify implements landfall.InstructionVerifier.
func (v *Verifier) Verify(ctx context.Context, organisation string, vendor landfall.Vendor, instruction landfall.Instruction) (landfall.InstructionDetails, error) {
	line, err := v.line(vendor)
	if err != nil {
		// A faulty configuration fails alike for every reference, so it is
		// reported before the reference is even looked at.
		v.warn(vendor.Code, err)
		return landfall.InstructionDetails{}, rejected(err)
	}
	if !sound(instruction.Reference) {
		return landfall.InstructionDetails{}, missing()
	}
	lane := line.lane(organisation)
	answer, err := lane.ask(ctx, instruction.Reference)
	switch {
	case err != nil:
		return landfall.InstructionDetails{}, lane.explain(err)
	case !slices.Contains(answer.types, instruction.Type):
		return landfall.InstructionDetails{}, landfall.RefuseField("type", landfall.CodeInstructionTypeMismatch,
			"The payment vendor has this instruction under another type.")
	case !answer.active:
		return landfall.InstructionDetails{}, landfall.RefuseField("reference", landfall.CodeInstructionInactive,
			"The payment vendor has this instruction, but it can no longer be used.")
	}
	return answer.details, nil
}

// Close gives idle connections back. Calls under way end by themselves.
func (v *Verifier) Close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	for code, line := range v.lines {
		line.client.CloseIdleConnections()
		delete(v.lines, code)
	}
}

// line gives the line to a vendor. A vendor that the operator configured anew
// gets a new one, with a closed breaker and fresh connections.
func (v *Verifier) line(vendor landfall.Vendor) (*line, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if known, ok := v.lines[vendor.Code]; ok {
		if reflect.DeepEqual(known.vendor, vendor) {
			return known, nil
		}
		known.client.CloseIdleConnections()
		delete(v.lines, vendor.Code)
	}
	design, err := read(vendor, v.options.SecretVariables)
	if err != nil {
		return nil, err
	}
	secret, err := secretOf(vendor)
	if err != nil {
		return nil, err
	}
	client := v.client(design.networks)
	line := newLine(vendor, v.options, client, design.build(client, secret))
	v.lines[vendor.Code] = line
	delete(v.warned, vendor.Code)
	return line, nil
}

// warn tells the operator, once, of a vendor that no line can be made to.
func (v *Verifier) warn(code string, err error) {
	v.mu.Lock()
	known := v.warned[code]
	v.warned[code] = true
	v.mu.Unlock()
	if !known {
		v.options.Alarm(code, err)
	}
}

// secretOf reads a vendor's credential from the environment. Its errors name
// the variable and never what is in it.
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
			return "", errors.New("environment variable " + vendor.SecretEnv + " holds characters that no header can carry")
		}
	}
	return secret, nil
}

// sound reports whether a reference can be sent as one path segment. Dots
// alone would be taken for a step up by a proxy on the way, however escaped.
func sound(reference string) bool {
	if reference == "" || len(reference) > 512 || !utf8.ValidString(reference) || strings.Trim(reference, ".") == "" {
		return false
	}
	return !strings.ContainsFunc(reference, unicode.IsControl)
}
