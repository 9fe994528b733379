package app_test

import (
	"crypto/tls"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"landfall/internal/app"
	"landfall/internal/test/dbtest"
	"landfall/internal/test/tooltest"
)

// secured starts a program with TLS and returns the authority that its callers
// trust.
func secured(t *testing.T, change func(*app.Settings)) (r *testServer, authority *tooltest.Authority, certificate, key string) {
	t.Helper()
	authority = tooltest.NewAuthority(t)
	certificate, key = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	authority.Issue(t, "first", certificate, key)
	r = startServer(t, dbtest.SQLite(t), func(settings *app.Settings) {
		settings.TLS = app.TLSSettings{Certificate: certificate, Key: key}
		if change != nil {
			change(settings)
		}
	})
	r.base = strings.Replace(r.base, "http:", "https:", 1)
	return r, authority, certificate, key
}

// trusting returns a client that trusts an authority.
func trusting(authority *tooltest.Authority, config *tls.Config, protocols ...string) *http.Client {
	config.RootCAs = authority.Pool
	config.NextProtos = protocols
	transport := &http.Transport{TLSClientConfig: config, Protocols: new(http.Protocols)}
	transport.Protocols.SetHTTP2(len(protocols) == 0)
	transport.Protocols.SetHTTP1(true)
	return &http.Client{Transport: transport, Timeout: 30 * time.Second}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	r, authority, _, _ := secured(t, nil)
	for protocol, client := range map[string]*http.Client{
		"HTTP/2.0": trusting(authority, &tls.Config{}), "HTTP/1.1": trusting(authority, &tls.Config{}, "http/1.1"),
	} {
		response, err := client.Do(r.request(http.MethodPost, "/v1/data-import/account-import-process/create-or-update/", stageBody("T-"+protocol[5:6])))
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode != http.StatusCreated || response.Proto != protocol {
			t.Errorf("%s: %s %d %s", protocol, response.Proto, response.StatusCode, body)
		}
		for header, want := range map[string]string{
			"Strict-Transport-Security": "max-age=31536000", "X-Content-Type-Options": "nosniff",
			"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
		} {
			if got := response.Header.Get(header); got != want {
				t.Errorf("%s: %s: %q", protocol, header, got)
			}
		}
	}
	for version, welcome := range map[uint16]bool{tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		line, err := tls.Dial("tcp", strings.TrimPrefix(r.base, "https://"),
			&tls.Config{RootCAs: authority.Pool, MinVersion: tls.VersionTLS10, MaxVersion: version})
		if (err == nil) != welcome {
			t.Errorf("%s: %v", tls.VersionName(version), err)
		}
		if err == nil {
			line.Close()
		}
	}
}

// A server without TLS does not tell browsers to require it.
func TestPlainHTTPPromisesNoTLS(t *testing.T) {
	t.Parallel()
	r := startServer(t, dbtest.SQLite(t), nil)
	response, err := http.Get(r.base + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if got := response.Header.Get("Strict-Transport-Security"); got != "" {
		t.Errorf("got %q", got)
	}
}

// A renewed certificate is used for the next connection, an invalid one is not,
// and no open connection is closed.
func TestCertificatesAreReloaded(t *testing.T) {
	t.Parallel()
	r, authority, certificate, key := secured(t, nil)
	steady := trusting(authority, &tls.Config{})
	ask := func(client *http.Client) string {
		response, err := client.Get(r.base + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		_, _ = io.Copy(io.Discard, response.Body)
		return response.TLS.PeerCertificates[0].Subject.CommonName
	}
	connect := func() string { return ask(trusting(authority, &tls.Config{})) }
	if name := ask(steady); name != "first" {
		t.Fatalf("shown: %s", name)
	}
	if err := os.WriteFile(key, []byte("half a key"), 0o600); err != nil {
		t.Fatal(err)
	}
	time.Sleep(1100 * time.Millisecond)
	if name := connect(); name != "first" {
		t.Errorf("shown with a broken key: %s", name)
	}
	authority.Issue(t, "second", certificate, key)
	for deadline := time.Now().Add(30 * time.Second); connect() != "second"; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the new certificate is not shown")
		}
	}
	if name := ask(steady); name != "first" {
		t.Errorf("the open connection was cut: it is shown %s", name)
	}
}

func TestClientCertificates(t *testing.T) {
	t.Parallel()
	callers := tooltest.NewAuthority(t)
	r, authority, _, _ := secured(t, func(settings *app.Settings) { settings.TLS.ClientCA = callers.File })
	shown := func(by *tooltest.Authority) *tls.Config {
		if by == nil {
			return &tls.Config{}
		}
		certificate, key := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
		by.Issue(t, "caller", certificate, key)
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			t.Fatal(err)
		}
		return &tls.Config{Certificates: []tls.Certificate{pair}}
	}
	for name, try := range map[string]struct {
		by   *tooltest.Authority
		good bool
	}{"theirs": {callers, true}, "somebody else's": {tooltest.NewAuthority(t), false}, "none": {nil, false}} {
		response, err := trusting(authority, shown(try.by)).Get(r.base + "/healthz")
		if (err == nil) != try.good {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			response.Body.Close()
		}
	}
}
