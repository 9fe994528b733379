// Package pgtest gives tests a real PostgreSQL: a private cluster on a free
// loopback port with a fresh database for each caller. Only test files import
// it.
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

// URLVariable is the environment variable for the administrator's URL of a
// running cluster, so that many test processes can share one.
const URLVariable = "LANDFALL_TEST_POSTGRES"

// shared starts the cluster of this process at the first call. It stops when the
// process ends, so nothing has to stop it.
var shared = sync.OnceValues(func() (*Cluster, error) {
	if url := os.Getenv(URLVariable); url != "" {
		return &Cluster{URL: url}, nil
	}
	return Start()
})

// URL returns the URL of a fresh, empty database, dropped when the test ends.
func URL(t testing.TB) string {
	t.Helper()
	return create(t, "template0")
}

// Clone returns the URL of a copy of a database made by URL, Clone or Template.
// No connection to the original may be open meanwhile.
func Clone(t testing.TB, original string) string {
	t.Helper()
	address, err := url.Parse(original)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	return create(t, address.Path[1:])
}

// Template returns the URL of a fresh database that lives as long as its
// cluster, so that many tests can clone it.
func Template(t testing.TB) string {
	t.Helper()
	address, _ := build(t, "template0")
	return address
}

// create makes a database and drops it when the test ends. A failed drop is only
// logged, because the whole cluster is removed soon.
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

// build makes a database with a random name, so that test processes do not
// collide.
func build(t testing.TB, template string) (address string, drop func() error) {
	t.Helper()
	cluster, err := shared()
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	admin := cluster.URL
	server, err := url.Parse(admin)
	if err != nil {
		t.Fatalf("pgtest: %s is not a URL", URLVariable)
	}
	name := "t" + rand.Text()[:12]
	// By default PostgreSQL writes a copy to its log, which takes three times as long as
	// copying files.
	if err := administrate(admin, fmt.Sprintf(`CREATE DATABASE %q TEMPLATE %q STRATEGY file_copy`, name, template)); err != nil {
		t.Fatalf("pgtest: creating a database: %v", err)
	}
	server.Path = "/" + name
	return server.String(), func() error {
		// FORCE closes connections that a failed test left open.
		return administrate(admin, fmt.Sprintf(`DROP DATABASE IF EXISTS %q WITH (FORCE)`, name))
	}
}

// administrator is the connection that creates and drops databases. A new one for
// each would take as long as the work.
var administrator struct {
	sync.Mutex
	connection *pgx.Conn
}

// administrate runs a statement on the administrator's connection, and on a new one
// if a test has closed it.
func administrate(admin, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	administrator.Lock()
	defer administrator.Unlock()
	if connection := administrator.connection; connection != nil {
		if _, err := connection.Exec(ctx, statement); err == nil || !connection.IsClosed() {
			return err
		}
	}
	connection, err := pgx.Connect(ctx, admin)
	if err != nil {
		return err
	}
	administrator.connection = connection
	_, err = connection.Exec(ctx, statement)
	return err
}

// execute runs one statement as the administrator on a new connection.
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
