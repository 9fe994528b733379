package payvendor

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"landfall"
)

// record returns a Verifier whose lookups resolve to the given addresses, one
// after the other, and whose dialer only records the addresses.
func record(t *testing.T, answers ...string) (*Verifier, *[]string) {
	t.Helper()
	var dialled []string
	verifier := New(Options{Tries: 1})
	t.Cleanup(verifier.Close)
	verifier.resolve = func(context.Context, string, string) ([]netip.Addr, error) {
		addr := netip.MustParseAddr(answers[0])
		if len(answers) > 1 {
			answers = answers[1:]
		}
		return []netip.Addr{addr}, nil
	}
	verifier.dial = func(_ context.Context, _, address string) (net.Conn, error) {
		dialled = append(dialled, address)
		return nil, errors.New("nothing leaves this test")
	}
	return verifier, &dialled
}

// TestPrivateAddressesAreNotDialled uses vendors at every kind of private
// address. If one were missing, an operator's setting or a vendor's DNS name
// could reach the secrets of the cloud's metadata service.
func TestPrivateAddressesAreNotDialled(t *testing.T) {
	for _, addr := range []string{
		"127.0.0.1", "127.1.2.3", "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
		"100.64.0.1", "100.100.100.200", "169.254.169.254", "169.254.170.2", "192.0.0.192", "168.63.129.16", "198.18.0.1",
		"192.0.2.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
		"::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1", "2002:7f00:1::", "64:ff9b::7f00:1",
		"::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:10.0.0.1", "::127.0.0.1", "100::1", "2001::1", "5f00::1",
	} {
		for adapter, instruction := range asked {
			verifier, dialled := record(t, addr)
			vendor := vendorAt(t, adapter, "https://vendor.example")
			vendor.Networks = nil
			_, err := verifier.Verify(t.Context(), "Acme", vendor, instruction)
			if code := codeOf(t, err); code != landfall.CodeVendorRejected || len(*dialled) != 0 {
				t.Errorf("%s by %s: %v, dialled %q", addr, adapter, err, *dialled)
			}
		}
	}
	for _, addr := range []string{"93.184.216.34", "8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8"} {
		verifier, dialled := record(t, addr)
		vendor := vendorAt(t, JSON, "https://vendor.example")
		vendor.Networks = nil
		_, err := verifier.Verify(t.Context(), "Acme", vendor, asked[JSON])
		if code := codeOf(t, err); code != landfall.CodeVendorUnavailable || len(*dialled) != 1 {
			t.Errorf("%s: %v, dialled %q", addr, err, *dialled)
		}
	}
}

// TestOddSpellingsOfAddresses uses unusual spellings of 127.0.0.1: a resolver
// of the C library accepts 2130706433, 0x7f.1 and 0177.0.0.1. The check must
// use the resolved address and not the spelling.
func TestOddSpellingsOfAddresses(t *testing.T) {
	for _, host := range []string{"2130706433", "0x7f.1", "0177.0.0.1", "127.1", "localhost", "localhost."} {
		verifier, dialled := record(t, "127.0.0.1")
		vendor := vendorAt(t, JSON, "https://"+host)
		vendor.Networks = nil
		_, err := verifier.Verify(t.Context(), "Acme", vendor, asked[JSON])
		if code := codeOf(t, err); code != landfall.CodeVendorRejected || len(*dialled) != 0 {
			t.Errorf("%s: %v, dialled %q", host, err, *dialled)
		}
	}
}

// TestRebinding changes the address of a name between two lookups. The address
// that was checked must be the one that is dialled.
func TestRebinding(t *testing.T) {
	verifier, dialled := record(t, "93.184.216.34", "10.0.0.1")
	vendor := vendorAt(t, JSON, "https://vendor.example")
	vendor.Networks = nil
	for range 3 {
		verifier.Verify(t.Context(), "Acme", vendor, asked[JSON])
	}
	if len(*dialled) != 1 || (*dialled)[0] != "93.184.216.34:443" {
		t.Errorf("dialled %q", *dialled)
	}
}

// TestOneForbiddenAddressRefusesTheHost uses a name with a public and a private address.
// It must be refused, because either address could be dialled.
func TestOneForbiddenAddressRefusesTheHost(t *testing.T) {
	verifier, dialled := record(t)
	verifier.resolve = func(context.Context, string, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("93.184.216.34"), netip.MustParseAddr("10.0.0.1")}, nil
	}
	_, err := verifier.Verify(t.Context(), "Acme", vendorAt(t, JSON, "https://vendor.example"), asked[JSON])
	if code := codeOf(t, err); code != landfall.CodeVendorRejected || len(*dialled) != 0 {
		t.Errorf("%v, dialled %q", err, *dialled)
	}
}

// TestAllowedNetworks allows one private network. Neighbouring networks and
// link-local addresses must stay forbidden.
func TestAllowedNetworks(t *testing.T) {
	for addr, want := range map[string]string{
		"10.20.3.4": landfall.CodeVendorUnavailable, "::ffff:10.20.3.4": landfall.CodeVendorUnavailable,
		"10.21.3.4": landfall.CodeVendorRejected, "169.254.169.254": landfall.CodeVendorRejected,
	} {
		verifier, dialled := record(t, addr)
		vendor := vendorAt(t, JSON, "https://vendor.internal")
		vendor.Networks = []string{"10.20.0.0/16"}
		_, err := verifier.Verify(t.Context(), "Acme", vendor, asked[JSON])
		if code := codeOf(t, err); code != want || (len(*dialled) == 1) != (want == landfall.CodeVendorUnavailable) {
			t.Errorf("%s: %v, dialled %q", addr, err, *dialled)
		}
	}
}

// TestCertificates connects to vendors that cannot prove their identity. The
// credential must not reach them.
func TestCertificates(t *testing.T) {
	authority, authorityKey := newTestCertificate(t, nil, nil, "authority", time.Now().Add(time.Hour))
	unknown, unknownKey := newTestCertificate(t, nil, nil, "stranger", time.Now().Add(time.Hour))
	roots := x509.NewCertPool()
	roots.AddCert(authority)
	for _, c := range []struct {
		name    string
		issuer  *x509.Certificate
		key     *ecdsa.PrivateKey
		host    string
		until   time.Time
		version uint16
		want    string
	}{
		{"good", authority, authorityKey, "localhost", time.Now().Add(time.Hour), tls.VersionTLS12, ""},
		{"expired", authority, authorityKey, "localhost", time.Now().Add(-time.Minute), tls.VersionTLS13, landfall.CodeVendorUnavailable},
		{"another name", authority, authorityKey, "vendor.example", time.Now().Add(time.Hour), tls.VersionTLS13, landfall.CodeVendorUnavailable},
		{"unknown issuer", unknown, unknownKey, "localhost", time.Now().Add(time.Hour), tls.VersionTLS13, landfall.CodeVendorUnavailable},
		{"self-signed", nil, nil, "localhost", time.Now().Add(time.Hour), tls.VersionTLS13, landfall.CodeVendorUnavailable},
		{"TLS 1.1", authority, authorityKey, "localhost", time.Now().Add(time.Hour), tls.VersionTLS11, landfall.CodeVendorUnavailable},
	} {
		t.Run(c.name, func(t *testing.T) {
			leaf, key := newTestCertificate(t, c.issuer, c.key, c.host, c.until)
			reached := false
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				reached = true
				fmt.Fprint(w, acceptedReplies[JSON])
			}))
			server.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: c.version,
				Certificates: []tls.Certificate{{Certificate: [][]byte{leaf.Raw}, PrivateKey: key}}}
			server.Config.ErrorLog = quiet
			server.StartTLS()
			t.Cleanup(server.Close)
			verifier := New(Options{Tries: 1})
			t.Cleanup(verifier.Close)
			verifier.roots = roots
			_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
			_, err := verifier.Verify(t.Context(), "Acme", vendorAt(t, JSON, "https://localhost:"+port), asked[JSON])
			if code := codeOf(t, err); code != c.want || reached != (c.want == "") {
				t.Errorf("code %q, want %q; reached %v (%v)", code, c.want, reached, err)
			}
		})
	}
}

// newTestCertificate creates a certificate, self-signed when there is no issuer.
func newTestCertificate(t *testing.T, issuer *x509.Certificate, issuerKey *ecdsa.PrivateKey, host string, until time.Time) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: until, IsCA: issuer == nil, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	if issuer == nil {
		issuer, issuerKey = template, key
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, issuer, &key.PublicKey, issuerKey)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return parsed, key
}
