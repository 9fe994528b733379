package engine

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"landfall/internal/test/pgtest"
)

// A statement that is sent early is sent again, and prepared again, on a new connection when the idle
// one turns out to be dead.
func TestEarlyStatementOnADeadConnection(t *testing.T) {
	address := pgtest.URL(t)
	db := openTest(t, address, Options{})
	locks := db.NewKind(func(ctx context.Context, tx *Tx, _ []*Call) error {
		if err := tx.ExecEarly(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(7)); err != nil {
			return err
		}
		var held int
		if err := tx.One(ctx, `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 7 AND pid = pg_backend_pid()`, nil, []any{&held}); err != nil {
			return err
		}
		if held != 1 {
			t.Errorf("%d locks are held", held)
		}
		return nil
	})
	name, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	beside, err := pgx.Connect(t.Context(), pgtest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer beside.Close(t.Context())
	for range 3 {
		if err := locks.Do(t.Context(), &Call{Key: "x", Weight: 1}); err != nil {
			t.Fatal(err)
		}
		if _, err := beside.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1`, strings.TrimPrefix(name.Path, "/")); err != nil {
			t.Fatal(err)
		}
	}
}
