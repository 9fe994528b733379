package sqlstore_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
	"landfall/internal/test/pgtest"
	"landfall/internal/test/tooltest"
)

// TestRefusedURLs checks that errors never contain the password, whatever is
// wrong with the URL.
func TestRefusedURLs(t *testing.T) {
	const secret = "hunter2"
	for name, url := range map[string]string{
		"nothing":             "",
		"no file":             "sqlite:",
		"in memory":           "sqlite::memory:",
		"settings on a file":  "sqlite:x.db?password=" + secret,
		"another kind":        "mysql://u:" + secret + "@h/d",
		"bad escape":          "postgres://u:" + secret + "%zz@h/d",
		"bad port":            "postgres://u:" + secret + "@h:notaport/d",
		"bad setting":         "postgres://u:" + secret + "@h/d?connect_timeout=soon",
		"simple protocol":     "postgres://u:" + secret + "@h/d?default_query_exec_mode=simple_protocol",
		"nobody at that port": "postgres://u:" + secret + "@127.0.0.1:1/d",
	} {
		t.Run(name, func(t *testing.T) {
			store, err := sqlstore.Open(t.Context(), url, sqlstore.Options{})
			if err == nil {
				store.Close()
				t.Fatal("the database was opened")
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the password is in %q", err)
			}
		})
	}
}

// TestPoolerModes runs with the settings that a connection pooler needs.
func TestPoolerModes(t *testing.T) {
	for _, mode := range []string{"exec", "cache_describe"} {
		t.Run(mode, func(t *testing.T) {
			url := dbtest.Postgres(t)
			glue := "?"
			if strings.Contains(url, "?") {
				glue = "&"
			}
			openStaged(t, url+glue+"default_query_exec_mode="+mode)
		})
	}
}

// TestACommandWaitsForASlowServer connects to a PostgreSQL server that accepts connections
// slowly: Landfall's server gives up, a command does not.
func TestACommandWaitsForASlowServer(t *testing.T) {
	tooltest.SkipIfShort(t)
	t.Parallel()
	proxy := pgtest.NewProxy(t, dbtest.Postgres(t))
	open := func(server bool) error {
		proxy.Delay(limits.DatabaseConnect + time.Second) // of the first connection; the next ones are fast
		fast := time.AfterFunc(limits.DatabaseConnect-time.Second, func() { proxy.Delay(0) })
		defer fast.Stop()
		store, err := sqlstore.Open(t.Context(), proxy.URL, sqlstore.Options{Server: server})
		if err == nil {
			store.Close()
		}
		return err
	}
	if err := open(true); !errors.Is(err, landfall.ErrUnavailable) {
		t.Errorf("a server got %v", err)
	}
	if err := open(false); err != nil {
		t.Errorf("a command got %v", err)
	}
}
