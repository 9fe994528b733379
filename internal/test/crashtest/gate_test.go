package crashtest_test

import (
	"database/sql"
	"testing"
	"time"
)

// gate blocks creations in a PostgreSQL database between their claim and their
// first row: a trigger on the statement that marks a process as imported waits
// for a lock that the test holds. No row is locked meanwhile.
type gate struct {
	t        *testing.T
	database *sql.DB
	session  *sql.Conn
}

func newGate(f *fleet) *gate {
	f.t.Helper()
	g := &gate{t: f.t, database: f.raw()}
	g.execute(`CREATE FUNCTION gate() RETURNS trigger LANGUAGE plpgsql AS
		$$ BEGIN
			PERFORM set_config('lock_timeout', '0', true), pg_advisory_xact_lock_shared(4711);
			RETURN NULL;
		END $$`)
	g.execute(`CREATE TRIGGER gate BEFORE UPDATE OF account_number ON process FOR EACH STATEMENT EXECUTE FUNCTION gate()`)
	var err error
	if g.session, err = g.database.Conn(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() {
		g.session.Close()
		g.database.Close()
	})
	return g
}

func (g *gate) execute(statement string) {
	g.t.Helper()
	if _, err := g.database.ExecContext(g.t.Context(), statement); err != nil {
		g.t.Fatal(err)
	}
}

func (g *gate) shut() { g.turn(`SELECT pg_advisory_lock(4711)`) }
func (g *gate) open() { g.turn(`SELECT pg_advisory_unlock(4711)`) }

func (g *gate) turn(statement string) {
	g.t.Helper()
	if _, err := g.session.ExecContext(g.t.Context(), statement); err != nil {
		g.t.Fatal(err)
	}
}

// count runs a query that returns one number.
func (g *gate) count(query string) int {
	g.t.Helper()
	var n int
	if err := g.database.QueryRowContext(g.t.Context(), query).Scan(&n); err != nil {
		g.t.Error(err)
	}
	return n
}

const (
	// heldUp counts the creating statements that wait for the gate.
	heldUp = `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
	// alive counts the claims whose lease has not expired.
	alive = `SELECT count(*) FROM process WHERE state = 'claimed' AND claim_until > extract(epoch FROM clock_timestamp()) * 1000000`
)

// soon is how long a busy machine may take for something immediate.
const soon = 30 * time.Second

// eventually waits for a condition that must become true.
func eventually(t *testing.T, patience time.Duration, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}
