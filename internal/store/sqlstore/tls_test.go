package sqlstore_test

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"landfall/internal/store/sqlstore"
	"landfall/internal/test/pgtest"
	"landfall/internal/test/tooltest"
)

// TestPostgresTLSVerification checks that the connection to PostgreSQL is
// encrypted if the URL asks for it, and that a server that cannot prove its
// identity gets no password.
func TestPostgresTLSVerification(t *testing.T) {
	t.Parallel()
	authority := tooltest.NewAuthority(t)
	folder := t.TempDir()
	certificate, key := filepath.Join(folder, "server.pem"), filepath.Join(folder, "server.key")
	authority.Issue(t, "db.example.com", certificate, key)
	if err := pgtest.ChownToServer(filepath.Dir(folder), folder, certificate, key); err != nil {
		t.Fatal(err)
	}
	cluster, err := pgtest.Start("listen_addresses=127.0.0.1,127.0.0.2", "ssl=on", "ssl_cert_file="+certificate, "ssl_key_file="+key)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cluster.Stop() })
	address, err := url.Parse(cluster.URL)
	if err != nil {
		t.Fatal(err)
	}
	connect := func(root, host string) error {
		to := *address
		to.Host = host + ":" + address.Port()
		to.RawQuery = url.Values{"sslmode": {"verify-full"}, "sslrootcert": {root}}.Encode()
		store, err := sqlstore.Open(t.Context(), to.String(), sqlstore.Options{ApplySchema: true})
		if err == nil {
			err = store.Close()
		}
		return err
	}
	if err := connect(authority.File, "127.0.0.1"); err != nil {
		t.Errorf("a server with a valid certificate is refused: %v", err)
	}
	if err := connect(tooltest.NewAuthority(t).File, "127.0.0.1"); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate of another authority: %v", err)
	}
	if err := connect(authority.File, "127.0.0.2"); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate for another name: %v", err)
	}
}
