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

// port checks whether the server could listen. It is fine if a server of ours already
// does.
func (d *doctor) port() {
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "tcp", d.settings.Listen)
	switch {
	case err == nil:
		_ = listener.Close() // it was only a check
	case d.answers():
		d.add("port", OK, "a Landfall server listens on "+d.settings.Listen, "")
	case errors.Is(err, os.ErrPermission):
		d.add("port", Warning, "this user may not listen on "+d.settings.Listen, "choose a port above 1023, or give the server CAP_NET_BIND_SERVICE")
	default:
		d.add("port", Problem, err.Error(), "another program uses the port: stop it, or change the setting listen")
	}
}

// answers reports whether a Landfall server listens there.
func (d *doctor) answers() bool {
	scheme := "http://"
	if d.settings.TLS.Certificate != "" {
		scheme = "https://"
	}
	host, port, _ := net.SplitHostPort(d.settings.Listen)
	if address := net.ParseIP(host); host == "" || address != nil && address.IsUnspecified() {
		host = "localhost"
	}
	// The certificate does not matter for this check.
	client := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // see above
	defer client.CloseIdleConnections()
	response, err := client.Get(scheme + net.JoinHostPort(host, port) + "/healthz") //nolint:noctx // the client has a timeout
	if err != nil {
		// A server with tls-client-ca refuses us.
		return d.settings.TLS.ClientCA != "" && strings.Contains(err.Error(), "certificate required")
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<10))
	return err == nil && strings.HasPrefix(strings.ReplaceAll(string(body), " ", ""), `{"status":"ok"`)
}

// folders checks the other folders that the server writes to.
func (d *doctor) folders() {
	for settingName, folder := range map[string]string{"bulk-spool": d.settings.BulkSpool, "audit-checkpoints": d.settings.AuditCheckpoints} {
		if folder == "" {
			continue
		}
		if settingName == "audit-checkpoints" {
			folder = filepath.Dir(folder)
		}
		probe, err := os.CreateTemp(folder, ".landfall-doctor-*")
		if err != nil {
			d.add(settingName, Problem, "cannot write to it: "+err.Error(), "create the folder and make it writable for the user of the server")
			continue
		}
		_ = errors.Join(probe.Close(), os.Remove(probe.Name()))
		d.add(settingName, OK, folder+" is writable", "")
	}
}

// secrets checks the permissions of files with secrets.
func (d *doctor) secrets() {
	for _, file := range d.settings.secretFiles() {
		switch {
		case !readableByOthers(file.path):
		case d.settings.ReadableSecrets:
			d.add(file.what, Warning, "other users can read it", "chmod 600 "+file.path)
		default:
			d.add(file.what, Problem, "other users can read it, so the server does not start", "chmod 600 "+file.path)
		}
	}
}
