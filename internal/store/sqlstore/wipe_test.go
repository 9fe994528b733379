package sqlstore_test

import (
	"context"
	"database/sql"
	neturl "net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
	"landfall/internal/test/pgtest"
)

// TestWipeWaitsForReaders keeps a reader open that began before the
// erasure: rows that it still sees would be copied into the new files.
func TestWipeWaitsForReaders(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, url string) {
		store := openStore(t, url)
		canaryAccount(t, store)
		leave := holdSnapshot(t, url)
		if err := store.Update(t.Context(), func(tx landfall.Tx) error {
			_, err := tx.Erase(t.Context(), testKey)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		wiped := make(chan error, 1)
		go func() { wiped <- sqlstore.Wipe(t.Context(), url) }()
		select {
		case err := <-wiped:
			t.Fatalf("it did not wait: %v", err)
		case <-time.After(time.Second):
		}
		leave()
		if err := <-wiped; err != nil {
			t.Fatal(err)
		}
		file, embedded := strings.CutPrefix(url, "sqlite:")
		if embedded {
			if files := filesWith(t, filepath.Dir(file), canary); len(files) > 0 {
				t.Errorf("the word is still in %v", files)
			}
			return
		}
		wantWiped(t, store, url)
	})
}

// holdSnapshot starts a read of the database outside the store, and returns a
// function that ends it.
func holdSnapshot(t *testing.T, url string) (leave func()) {
	t.Helper()
	driver, source := "pgx", url
	if file, embedded := strings.CutPrefix(url, "sqlite:"); embedded {
		driver, source = "sqlite", "file:"+file
	}
	database, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { database.Close() })
	reader, err := database.BeginTx(context.Background(), &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil && driver == "sqlite" {
		reader, err = database.BeginTx(context.Background(), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	var count int
	if err := reader.QueryRowContext(t.Context(), `SELECT count(*) FROM customer`).Scan(&count); err != nil || count == 0 {
		t.Fatalf("%d customers, %v", count, err)
	}
	return func() {
		if err := reader.Rollback(); err != nil {
			t.Error(err)
		}
	}
}

// TestAWipeSeesTransactionsOfOtherDatabases holds transactions open in another
// database of the same PostgreSQL server. Rows that were erased since stay in the
// new files then, so the wipe must not report success, and must say what to end.
func TestAWipeSeesTransactionsOfOtherDatabases(t *testing.T) {
	t.Parallel()
	// Prepared transactions are off by default.
	cluster, err := pgtest.Start("max_prepared_transactions=4")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.Stop() })
	const database = "neighbour"
	url, other := cluster.URL, strings.Replace(cluster.URL, "/postgres?", "/"+database+"?", 1)
	store := openStore(t, url)
	canaryAccount(t, store)
	force(t, store, `CHECKPOINT`)
	admin, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	if _, err := admin.ExecContext(t.Context(), `CREATE DATABASE `+database); err != nil {
		t.Fatal(err)
	}
	neighbour, err := sql.Open("pgx", other)
	if err != nil {
		t.Fatal(err)
	}
	defer neighbour.Close()
	run := func(text string) {
		t.Helper()
		if _, err := neighbour.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	run(`CREATE TABLE work (id bigint)`)
	writing, err := neighbour.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writing.ExecContext(t.Context(), `INSERT INTO work VALUES (1)`); err != nil {
		t.Fatal(err)
	}
	prepared, err := neighbour.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer prepared.Close()
	for _, text := range []string{`BEGIN`, `INSERT INTO work VALUES (2)`, `PREPARE TRANSACTION 'half done'`} {
		if _, err := prepared.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Update(t.Context(), func(tx landfall.Tx) error {
		_, err := tx.Erase(t.Context(), testKey)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		want, absent string
		then         func() error
	}{
		{"a transaction in database " + database, "", writing.Rollback},
		{"prepared transaction half done in database " + database, "a transaction in", func() error {
			_, err := neighbour.ExecContext(t.Context(), `ROLLBACK PREPARED 'half done'`)
			return err
		}},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		err := sqlstore.Wipe(ctx, url)
		cancel()
		if err == nil || !strings.Contains(err.Error(), step.want) || step.absent != "" && strings.Contains(err.Error(), step.absent) {
			t.Errorf("Wipe returned %v, and %d tables still contain the word; want an error naming %q", err, tablesWith(t, store), step.want)
		}
		if err := step.then(); err != nil {
			t.Fatal(err)
		}
	}
	if err := sqlstore.Wipe(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	if left := tablesWith(t, store); left > 0 {
		t.Errorf("the word is still in the files of %d tables", left)
	}
}

// TestAWipeLeftSamplesOfThePlanner erases all accounts: the planner keeps samples of
// columns, and those of a table that became empty for ever.
func TestAWipeLeftSamplesOfThePlanner(t *testing.T) {
	t.Parallel()
	url := dbtest.Postgres(t)
	store := openStore(t, url)
	numbers := []string{"1", "2", "3"}
	prepareStore(t, store, numbers...)
	for _, number := range numbers {
		createCanary(t, store, number)
	}
	sampled := func() []string {
		found, err := store.Texts(t.Context(), `SELECT tablename || '.' || attname FROM pg_stats WHERE schemaname = current_schema()
			AND (histogram_bounds::text ILIKE '%`+canary+`%' OR most_common_vals::text ILIKE '%`+canary+`%')`)
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	force(t, store, `ANALYZE`)
	if len(sampled()) == 0 {
		t.Fatal("the test would not detect the fault")
	}
	t.Log(sampled())
	for _, number := range numbers {
		if err := store.Update(t.Context(), func(tx landfall.Tx) error {
			_, err := tx.Erase(t.Context(), landfall.Key{Supplier: testKey.Supplier, External: number})
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	if err := sqlstore.Wipe(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	if left := sampled(); len(left) > 0 {
		t.Errorf("the planner has samples of %v", left)
	}
	wantWiped(t, store, url)
}

// TestAWipeWaitedForATable holds the lock of a table without a snapshot.
func TestAWipeWaitedForATable(t *testing.T) {
	t.Parallel()
	url := dbtest.Postgres(t)
	store := openStore(t, url)
	canaryAccount(t, store)
	other, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	holder, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = holder.Rollback() }()
	if _, err := holder.ExecContext(t.Context(), `LOCK TABLE customer IN ACCESS SHARE MODE`); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	err = sqlstore.Wipe(ctx, url)
	if err == nil || !strings.Contains(err.Error(), "table customer is in use by a transaction in database") {
		t.Errorf("it ended with %v", err)
	}
	if err := holder.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := sqlstore.Wipe(t.Context(), url); err != nil {
		t.Error(err)
	}
}

// TestAWipeAsAnOrdinaryRole: the server hides from other roles what kind of session
// another user has, and a wipe took that for a connection of a standby.
func TestAWipeAsAnOrdinaryRole(t *testing.T) {
	t.Parallel()
	cluster, err := pgtest.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cluster.Stop() })
	admin, err := sql.Open("pgx", cluster.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	for _, text := range []string{`CREATE ROLE plain LOGIN PASSWORD 'plain'`, `CREATE DATABASE owned OWNER plain`, `CREATE TABLE work (id bigint)`} {
		if _, err := admin.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	address, err := neturl.Parse(cluster.URL)
	if err != nil {
		t.Fatal(err)
	}
	address.User, address.Path = neturl.UserPassword("plain", "plain"), "/owned"
	url := address.String()
	store := openStore(t, url)
	canaryAccount(t, store)
	writing, err := admin.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = writing.Rollback() }()
	if _, err := writing.ExecContext(t.Context(), `INSERT INTO work VALUES (1)`); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if err := sqlstore.Wipe(ctx, url); err == nil || !strings.Contains(err.Error(), "a transaction in database postgres") {
		t.Errorf("it ended with %v", err)
	}
	if err := writing.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := sqlstore.Wipe(t.Context(), url); err != nil {
		t.Error(err)
	}
	// Where the role does not own the database, the server skips what it has to do.
	if _, err := admin.ExecContext(t.Context(), `ALTER DATABASE owned OWNER TO CURRENT_USER`); err != nil {
		t.Fatal(err)
	}
	if err := sqlstore.Wipe(t.Context(), url); err == nil || !strings.Contains(err.Error(), "as the owner") {
		t.Errorf("without the right it ended with %v", err)
	}
}
