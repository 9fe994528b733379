package sqlstore_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"

	"landfall"
	"landfall/internal/test/dbtest"
	"landfall/internal/test/pgtest"
)

const maxRequests = 40 // more than any write below needs

// TestLostResponseOfStage loses each exchange with the database in turn, for
// each write. Whatever is lost, the result must be true and nothing may be
// written twice.
func TestLostResponseOfStage(t *testing.T) {
	server := dbtest.Postgres(t)
	proxy := pgtest.NewProxy(t, server)
	store := openStore(t, proxy.URL)
	direct := openStore(t, server)
	update := func(fn func(landfall.Tx) error) {
		t.Helper()
		if err := direct.Update(t.Context(), fn); err != nil {
			t.Fatal(err)
		}
	}
	update(func(tx landfall.Tx) error { return tx.CreateSupplier(t.Context(), landfall.NewSupplier("S")) })
	update(func(tx landfall.Tx) error { return tx.CreateOrganisation(t.Context(), "O") })

	// Each write gets its own name and has a query that counts its rows.
	writes := map[string]struct {
		write func(ctx context.Context, name string) error
		count string
	}{
		"update of several statements": {func(ctx context.Context, name string) error {
			return store.Update(ctx, func(tx landfall.Tx) error {
				if _, err := tx.Supplier(ctx, "S"); err != nil {
					return err
				}
				if err := tx.AppendAudit(ctx, landfall.AuditEntry{Subject: name}); err != nil {
					return err
				}
				return tx.AppendEvent(ctx, landfall.Event{Key: landfall.Key{Supplier: name}})
			})
		}, `SELECT (SELECT count(*) FROM audit WHERE subject = $1) * (SELECT count(*) FROM event WHERE supplier = $1)`},
		"first staging": {func(ctx context.Context, name string) error {
			_, err := store.Stage(ctx, landfall.Staging{
				Key: landfall.Key{Supplier: "S", External: name}, Document: []byte(`{}`), Hash: sha256.Sum256([]byte(name)),
			})
			return err
		}, `SELECT count(*) FROM staging g JOIN process p ON p.id = g.process_id WHERE p.external = $1`},
		"key": {func(ctx context.Context, name string) error {
			return store.Update(ctx, func(tx landfall.Tx) error {
				return tx.CreateKey(ctx, landfall.APIKey{ID: name, Organisation: "O", Role: landfall.RoleViewer})
			})
		}, `SELECT count(*) FROM api_key WHERE id = $1`},
	}
	for name, each := range writes {
		for _, request := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, request %v", name, request), func(t *testing.T) {
				for n := int64(1); ; n++ {
					if n > maxRequests {
						t.Fatal("the write never ends")
					}
					id := fmt.Sprintf("%s %v %d", name, request, n)
					// Idle connections differ in the statements they have
					// prepared, so the number of exchanges varies.
					proxy.Lose(n, request)
					before := proxy.Lost()
					err := each.write(t.Context(), id)
					swallowed := proxy.Lost() > before
					proxy.Lose(0, false)
					count, countErr := direct.Count(t.Context(), each.count, id)
					if countErr != nil {
						t.Fatal(countErr)
					}
					switch {
					case err == nil && count == 1:
					case errors.Is(err, landfall.ErrUnavailable) && count == 0:
						t.Logf("exchange %d: %v", n, err)
					default:
						t.Errorf("exchange %d lost: got %v, stored %d times", n, err, count)
					}
					if !swallowed {
						return
					}
				}
			})
		}
	}
}

// TestAutocommitDoubles shows that the proxy works, and why every write needs a
// transaction: the driver repeats a write whose reply was lost. If this test ever
// fails, the driver has been fixed.
func TestAutocommitDoubles(t *testing.T) {
	server := dbtest.Postgres(t)
	direct := openStore(t, server)
	proxy := pgtest.NewProxy(t, server)
	db, err := sql.Open("pgx", proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for range 2 { // the driver pings a connection before its second use
		if err := db.PingContext(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	proxy.Lose(1, false)
	if _, err := db.ExecContext(t.Context(), `INSERT INTO audit (at, actor, action, subject, detail) VALUES (1, '', '', 'twice', '')`); err != nil {
		t.Fatal(err)
	}
	count, err := direct.Count(t.Context(), `SELECT count(*) FROM audit WHERE subject = $1`, "twice")
	if err != nil || count != 2 {
		t.Errorf("%d rows, %v", count, err)
	}
}
