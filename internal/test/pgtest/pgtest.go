// Package pgtest gives tests a real PostgreSQL of their own: a private cluster
// on a free loopback port, and in it a fresh database for every caller. Only
// test files import it.
package pgtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Environment names the variable that holds the administrator's URL of a
// cluster that is already running, so that many test processes can share one.
const Environment = "LANDFALL_TEST_POSTGRES"

// shared starts the cluster of this process at the first call. Nobody stops
// it: it ends by itself when the process does, however that happens.
var shared = sync.OnceValues(func() (*Cluster, error) {
	if given := os.Getenv(Environment); given != "" {
		return &Cluster{URL: given}, nil
	}
	return Start()
})

// URL gives the address of a fresh, empty database, dropped when the test ends.
func URL(t testing.TB) string {
	t.Helper()
	return create(t, "template0")
}

// Clone gives a fresh copy of a database made by URL or Clone, so that a schema
// need be built only once. Nobody may be connected to the original meanwhile.
func Clone(t testing.TB, original string) string {
	t.Helper()
	address, err := url.Parse(original)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	return create(t, address.Path[1:])
}

// Template gives the address of a fresh database that lives as long as its
// cluster, to be prepared once and cloned by many tests.
func Template(t testing.TB) string {
	t.Helper()
	address, _ := build(t, "template0")
	return address
}

// create drops the database when the test ends. A drop that fails is only noted: the
// whole cluster goes soon.
func create(t testing.TB, template string) string {
	t.Helper()
	address, drop := build(t, template)
	t.Cleanup(func() {
		if err := drop(); err != nil {
			t.Logf("pgtest: dropping a database: %v", err)
		}
	})
	return address
}

// build gives every database a name of its own, so that tests of many processes
// never meet.
func build(t testing.TB, template string) (address string, drop func() error) {
	t.Helper()
	cluster, err := shared()
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	admin := cluster.URL
	server, err := url.Parse(admin)
	if err != nil {
		t.Fatalf("pgtest: %s is not a URL", Environment)
	}
	name := "t" + rand.Text()[:12]
	if err := execute(admin, fmt.Sprintf(`CREATE DATABASE %q TEMPLATE %q`, name, template)); err != nil {
		t.Fatalf("pgtest: making a database: %v", err)
	}
	server.Path = "/" + name
	return server.String(), func() error {
		// FORCE ends connections a failed test left open.
		return execute(admin, fmt.Sprintf(`DROP DATABASE IF EXISTS %q WITH (FORCE)`, name))
	}
}

// execute runs one statement as the administrator, on a connection of its own:
// databases come and go too rarely to keep one open.
func execute(admin, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	connection, err := pgx.Connect(ctx, admin)
	if err != nil {
		return err
	}
	defer connection.Close(ctx)
	_, err = connection.Exec(ctx, statement)
	return err
}
