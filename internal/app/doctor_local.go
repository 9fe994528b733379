package app

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// port looks whether the server could listen. That one of ours does already is
// how it should be: the doctor may be asked beside it.
func (d *doctor) port() {
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "tcp", d.settings.Listen)
	switch {
	case err == nil:
		_ = listener.Close() // nobody has come
	case d.answers():
		d.add("port", OK, "a server of Landfall listens on "+d.settings.Listen, "")
	case errors.Is(err, os.ErrPermission):
		d.add("port", Warning, "this user may not listen on "+d.settings.Listen, "choose a port above 1023, or give the server CAP_NET_BIND_SERVICE")
	default:
		d.add("port", Problem, err.Error(), "another program has the port: end it, or set listen to another one")
	}
}

// answers says whether whoever listens is one of ours.
func (d *doctor) answers() bool {
	scheme := "http://"
	if d.settings.TLS.Certificate != "" {
		scheme = "https://"
	}
	host, port, _ := net.SplitHostPort(d.settings.Listen)
	if address := net.ParseIP(host); host == "" || address != nil && address.IsUnspecified() {
		host = "localhost"
	}
	// Whose certificate it is does not matter for this question.
	client := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // see above
	defer client.CloseIdleConnections()
	response, err := client.Get(scheme + net.JoinHostPort(host, port) + "/healthz") //nolint:noctx // the client has a limit of its own
	if err != nil {
		// A server of ours that wants a certificate of its callers refuses us.
		return d.settings.TLS.ClientCA != "" && strings.Contains(err.Error(), "certificate required")
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<10))
	return err == nil && strings.HasPrefix(strings.ReplaceAll(string(body), " ", ""), `{"status":"ok"`)
}

// folders looks at those the server writes to besides the database's.
func (d *doctor) folders() {
	for setting, folder := range map[string]string{"bulk-spool": d.settings.BulkSpool, "audit-checkpoints": d.settings.AuditCheckpoints} {
		if folder == "" {
			continue
		}
		if setting == "audit-checkpoints" {
			folder = filepath.Dir(folder)
		}
		probe, err := os.CreateTemp(folder, ".landfall-doctor-*")
		if err != nil {
			d.add(setting, Problem, "nothing can be written there: "+err.Error(), "make the folder, and give it to the user the server runs as")
			continue
		}
		_ = errors.Join(probe.Close(), os.Remove(probe.Name()))
		d.add(setting, OK, folder+" can be written to", "")
	}
}

// secrets looks at the files that nobody but the server should read.
func (d *doctor) secrets() {
	for _, secret := range []struct{ what, path string }{
		{"private key", d.settings.TLS.Key},
		{"encryption key", d.settings.EncryptionKeyFile},
		{"audit key", d.settings.AuditKeyFile},
		{"webhook key", d.settings.WebhookKeyFile},
		{"database password", d.settings.DatabasePasswordFile},
		{"mail password", d.settings.Mail.PasswordFile},
	} {
		d.checkPrivate(secret.what, secret.path)
	}
}

// checkPrivate warns of a file that others than its owner can read. One that is not
// there is told of elsewhere.
func (d *doctor) checkPrivate(what, path string) {
	if info, err := os.Stat(path); path != "" && err == nil && info.Mode().Perm()&0o077 != 0 {
		d.add(what, Warning, "others than its owner can read it", "chmod 600 "+path)
	}
}
