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

	"landfall/internal/lib/limits"
)

// TLSSettings configures TLS of the API. Without a certificate it uses plain HTTP.
type TLSSettings struct {
	Certificate string // PEM file
	Key         string
	ClientCA    string // PEM file; callers must have a certificate issued by one of these; "" for none
}

// tlsSettings lists the settings about TLS.
var tlsSettings = []setting{
	{"tls-certificate", "PEM file with the certificate chain of the API, reloaded when it changes; empty for plain HTTP", func(s *Settings) settingValue {
		return textSetting(&s.TLS.Certificate, "", optional(anything))
	}},
	{"tls-key", "PEM file with the private key of the certificate", func(s *Settings) settingValue {
		return textSetting(&s.TLS.Key, "", optional(anything))
	}},
	{"tls-client-ca", "PEM file with the authorities that must have issued the certificates of callers; empty to require none", func(s *Settings) settingValue {
		return textSetting(&s.TLS.ClientCA, "", optional(anything))
	}},
}

// complete checks settings that depend on each other.
func (s TLSSettings) complete() (mistakes []error) {
	if (s.Certificate == "") != (s.Key == "") {
		mistakes = append(mistakes, errors.New("settings tls-certificate and tls-key: set both or neither"))
	}
	if s.ClientCA != "" && s.Certificate == "" {
		mistakes = append(mistakes, errors.New("setting tls-client-ca: requires tls-certificate"))
	}
	return mistakes
}

// credentials holds the certificate of a listener. Changed files are reloaded at the next
// connection; open connections are not affected. If the new files are invalid, the old
// certificate stays in use.
type credentials struct {
	settings TLSSettings
	log      *slog.Logger

	mu        sync.Mutex
	checkedAt time.Time
	files     [3]fs.FileInfo
	config    *tls.Config
	ends      time.Time // of the certificate
}

func newCredentials(settings TLSSettings, log *slog.Logger) (*credentials, error) {
	c := &credentials{settings: settings, log: log}
	files, err := c.stat()
	if err == nil {
		err = c.read()
	}
	if err != nil {
		return nil, SettingError{fmt.Errorf("settings tls-…: %w", err)}
	}
	c.files, c.checkedAt = files, time.Now()
	return c, nil
}

// server returns the TLS configuration of the listener, which uses the current
// certificate for every connection.
func (c *credentials) server() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return c.current(), nil },
	}
}

// current returns the current certificate. It checks the files now and then, so that a
// renewed certificate is used without a restart.
func (c *credentials) current() *tls.Config {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.checkedAt) < limits.CertificatePoll {
		return c.config
	}
	if err := c.refresh(); err != nil {
		// The certificate and its key are rarely replaced at the same moment. c.files
		// stays unchanged, so that the next check tries again.
		c.log.Warn("cannot reload the certificate; the old one stays in use", "error", err.Error())
	}
	return c.config
}

// refresh reads the files if they changed.
func (c *credentials) refresh() error {
	c.checkedAt = time.Now()
	files, err := c.stat()
	if err != nil || same(files, c.files) {
		return err
	}
	if err := c.read(); err != nil {
		return err
	}
	c.files = files
	c.log.Info("certificate reloaded", "expires", c.ends)
	return nil
}

// replace uses other files from now on, unless they are invalid.
func (c *credentials) replace(settings TLSSettings) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	old, files := c.settings, c.files
	if settings != old {
		c.settings, c.files = settings, [3]fs.FileInfo{}
	}
	err := c.refresh()
	if err != nil {
		c.settings, c.files = old, files
	}
	return err
}

// expiry returns when the current certificate expires.
func (c *credentials) expiry() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ends
}

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

// same reports whether no file changed.
func same(one, other [3]fs.FileInfo) bool {
	for i := range one {
		a, b := one[i], other[i]
		if a == nil && b == nil {
			continue
		}
		if a == nil || b == nil || !os.SameFile(a, b) || a.Size() != b.Size() || !a.ModTime().Equal(b.ModTime()) {
			return false
		}
	}
	return true
}

// read loads all files or none.
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
			return fmt.Errorf("%s contains no certificate", c.settings.ClientCA)
		}
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return err
	}
	c.config, c.ends = config, leaf.NotAfter
	return nil
}
