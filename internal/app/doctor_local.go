package app

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"landfall/internal/lib/limits"
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
	status, body, err := askServer(context.Background(), d.settings, "/healthz")
	if err != nil {
		// A server with tls-client-ca refuses us.
		return d.settings.TLS.ClientCA != "" && strings.Contains(err.Error(), "certificate required")
	}
	return status == http.StatusOK && strings.HasPrefix(strings.ReplaceAll(body, " ", ""), `{"status":"ok"`)
}

// askServer asks the server with these settings on this machine for a page.
func askServer(ctx context.Context, settings Settings, path string) (status int, body string, err error) {
	scheme := "http://"
	if settings.TLS.Certificate != "" {
		scheme = "https://"
	}
	host, port, _ := net.SplitHostPort(settings.Listen)
	if address := net.ParseIP(host); host == "" || address != nil && address.IsUnspecified() {
		host = "localhost"
	}
	// The name in the certificate is not localhost.
	client := &http.Client{Timeout: limits.HealthCheck, Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // see above
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+net.JoinHostPort(host, port)+path, nil)
	if err != nil {
		return 0, "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(io.LimitReader(response.Body, 1<<10))
	return response.StatusCode, string(content), err
}

// Healthy asks the server with these settings on this machine whether it is ready, or whether
// it is alive. If not, it returns why, as the server says.
func Healthy(ctx context.Context, settings Settings, alive bool) (healthy bool, reason string, err error) {
	path := "/readyz"
	if alive {
		path = "/healthz"
	}
	status, body, err := askServer(ctx, settings, path)
	var answer struct {
		Detail string `json:"detail"`
	}
	if json.Unmarshal([]byte(body), &answer) != nil || answer.Detail == "" {
		answer.Detail = "It answers with status " + strconv.Itoa(status) + "."
	}
	return status == http.StatusOK, answer.Detail, err
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
