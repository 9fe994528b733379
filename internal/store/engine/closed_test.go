package engine

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"landfall/internal/test/pgtest"
)

// TestClosedDatabase closes a database to a program that uses it, as an
// operator does before a restore. The program must report a temporary error and
// work again afterwards.
func TestClosedDatabase(t *testing.T) {
	address := pgtest.URL(t)
	db := openTest(t, address, Options{})
	name, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	beside, err := pgx.Connect(t.Context(), pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer beside.Close(t.Context())
	tell := func(statement string, args ...any) {
		t.Helper()
		if _, err := beside.Exec(t.Context(), statement, args...); err != nil {
			t.Fatal(err)
		}
	}
	own := strings.TrimPrefix(name.Path, "/")
	if err := db.works(t.Context(), "open"); err != nil {
		t.Fatal(err)
	}
	tell(`ALTER DATABASE "` + own + `" ALLOW_CONNECTIONS false`)
	tell(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1`, own)
	if err := db.put(t.Context(), "closed", "closed"); !errors.Is(err, ErrUnavailable) {
		t.Errorf("got %v, want that it is away", err)
	}
	tell(`ALTER DATABASE "` + own + `" ALLOW_CONNECTIONS true`)
	if err := db.works(t.Context(), "open again"); err != nil {
		t.Errorf("it did not recover: %v", err)
	}
}
