package app

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"
)

// TLSSettings say how the API speaks TLS; without a certificate it does not.
type TLSSettings struct {
	Certificate string // files in PEM
	Key         string
	ClientCA    string // callers must show a certificate of one of these; "" when they need none
}

// tlsSettings are the settings of the line to callers.
var tlsSettings = []setting{
	{"tls-certificate", "PEM file with the certificate of the API and those it was issued by; read again when it changes; plain HTTP when empty", func(s *Settings) value {
		return textSetting(&s.TLS.Certificate, "", optional(anything))
	}},
	{"tls-key", "PEM file with the private key of that certificate", func(s *Settings) value {
		return textSetting(&s.TLS.Key, "", optional(anything))
	}},
	{"tls-client-ca", "PEM file with certificates by which callers' own must be issued; callers need none when empty", func(s *Settings) value {
		return textSetting(&s.TLS.ClientCA, "", optional(anything))
	}},
}

// complete finds settings that need each other.
func (s TLSSettings) complete() (mistakes []error) {
	if (s.Certificate == "") != (s.Key == "") {
		mistakes = append(mistakes, errors.New("settings tls-certificate and tls-key: one is of no use without the other"))
	}
	if s.ClientCA != "" && s.Certificate == "" {
		mistakes = append(mistakes, errors.New("setting tls-client-ca: callers show certificates over TLS alone, so tls-certificate is needed too"))
	}
	return mistakes
}

// lookEvery is how often files are looked at, and only when somebody calls.
const lookEvery = time.Second

// credentials are what the listener proves itself with. Files that change are
// read again at the next caller; connections that are open stay as they are.
// What cannot be read leaves the former in place.
type credentials struct {
	settings TLSSettings
	log      *slog.Logger

	mu     sync.Mutex
	looked time.Time
	files  [3]fs.FileInfo
	config *tls.Config
	ends   time.Time // of the certificate
}

// newCredentials reads the files, or says what is wrong with them.
func newCredentials(settings TLSSettings, log *slog.Logger) (*credentials, error) {
	c := &credentials{settings: settings, log: log}
	files, err := c.stat()
	if err == nil {
		err = c.read()
	}
	if err != nil {
		return nil, SettingError{fmt.Errorf("settings tls-…: %w", err)}
	}
	c.files, c.looked = files, time.Now()
	return c, nil
}

// server gives what a listener is configured with: it asks anew for every
// caller, which costs nothing while nothing changes.
func (c *credentials) server() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return c.current(), nil },
	}
}

// current gives the certificate as the files have it. They are looked at now
// and then, so that a renewed one is used without a restart.
func (c *credentials) current() *tls.Config {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) < lookEvery {
		return c.config
	}
	c.looked = time.Now()
	files, err := c.stat()
	if err == nil && same(files, c.files) {
		return c.config
	}
	if err == nil {
		err = c.read()
	}
	if err != nil {
		// A certificate and its key are rarely replaced in the same instant.
		// What was seen of the files is not kept, so that the next look tries them
		// again.
		c.log.Warn("the changed certificate cannot be used; the former is shown on", "error", err.Error())
		return c.config
	}
	c.files = files
	c.log.Info("the certificate was read again", "ends", c.ends)
	return c.config
}

// expiry is when the certificate that is shown ends.
func (c *credentials) expiry() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ends
}

// stat says what the files are now.
func (c *credentials) stat() (files [3]fs.FileInfo, err error) {
	for i, name := range []string{c.settings.Certificate, c.settings.Key, c.settings.ClientCA} {
		if name == "" {
			continue
		}
		if files[i], err = os.Stat(name); err != nil {
			return files, err
		}
	}
	return files, nil
}

// same reports whether none of them was changed.
func same(one, other [3]fs.FileInfo) bool {
	for i := range one {
		a, b := one[i], other[i]
		// Which files there are is up to the settings, which stay: what is missing in
		// one is missing in both.
		if a == nil || b == nil {
			continue
		}
		if !os.SameFile(a, b) || a.Size() != b.Size() || !a.ModTime().Equal(b.ModTime()) {
			return false
		}
	}
	return true
}

// read takes the files up, all or none: a certificate without its key would
// turn everybody away.
func (c *credentials) read() error {
	pair, err := tls.LoadX509KeyPair(c.settings.Certificate, c.settings.Key)
	if err != nil {
		return err
	}
	config := &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2", "http/1.1"},
	}
	if c.settings.ClientCA != "" {
		text, err := os.ReadFile(c.settings.ClientCA)
		if err != nil {
			return err
		}
		config.ClientCAs, config.ClientAuth = x509.NewCertPool(), tls.RequireAndVerifyClientCert
		if !config.ClientCAs.AppendCertsFromPEM(text) {
			return fmt.Errorf("%s holds no certificate", c.settings.ClientCA)
		}
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return err
	}
	c.config, c.ends = config, leaf.NotAfter
	return nil
}
