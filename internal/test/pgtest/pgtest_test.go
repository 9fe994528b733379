package pgtest_test

import (
	"bufio"
	"context"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"landfall/internal/test/pgtest"
)

// TestMain lets the test binary act as a process that is killed without
// cleanup.
func TestMain(m *testing.M) {
	if os.Getenv("PGTEST_VICTIM") != "" {
		cluster, err := pgtest.Start()
		if err != nil {
			panic(err)
		}
		os.Stdout.WriteString(cluster.URL + "\n")
		// Do not use an empty select: the runtime would report a deadlock.
		time.Sleep(time.Hour)
	}
	os.Exit(m.Run())
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	connection, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close(context.Background()) })
	return connection
}

func TestFreshDatabases(t *testing.T) {
	original, other := pgtest.URL(t), pgtest.URL(t)
	if original == other {
		t.Fatal("two callers share a database")
	}
	connection := connect(t, original)
	var fsync, durable, full, order string
	const ask = `SELECT current_setting('fsync'), current_setting('synchronous_commit'),
		current_setting('full_page_writes'), (SELECT string_agg(x, '' ORDER BY x) FROM unnest(ARRAY['B','a']) x)`
	if err := connection.QueryRow(t.Context(), ask).Scan(&fsync, &durable, &full, &order); err != nil {
		t.Fatal(err)
	}
	if fsync != "on" || durable != "on" || full != "on" {
		t.Errorf("fsync %s, synchronous_commit %s, full_page_writes %s: want all on", fsync, durable, full)
	}
	if order != "aB" {
		t.Errorf("texts sort as %q: a byte order hides queries that rely on it", order)
	}
	if _, err := connection.Exec(t.Context(), "CREATE TABLE kept (n int)"); err != nil {
		t.Fatal(err)
	}
	connection.Close(t.Context())
	if _, err := connect(t, pgtest.Clone(t, original)).Exec(t.Context(), "SELECT n FROM kept"); err != nil {
		t.Errorf("the clone lacks the original's table: %v", err)
	}
	if _, err := connect(t, other).Exec(t.Context(), "SELECT n FROM kept"); err == nil {
		t.Error("a fresh database holds another's table")
	}
}

func TestServerEndsWithItsProcess(t *testing.T) {
	victim := exec.Command(os.Args[0])
	victim.Env = append(os.Environ(), "PGTEST_VICTIM=1")
	output, err := victim.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url := strings.TrimSpace(line)
	connect(t, url).Close(t.Context())
	victim.Process.Kill()
	victim.Wait()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		connection, err := pgx.Connect(t.Context(), url)
		if err != nil {
			return
		}
		connection.Close(t.Context())
		if time.Now().After(deadline) {
			t.Fatal("the server outlived the process that started it")
		}
	}
}

// TestKilledServerComesBack kills a cluster while it works. It restarts at the
// same address with everything that was confirmed, and a standby replaces one
// that does not restart.
func TestKilledServerComesBack(t *testing.T) {
	cluster, err := pgtest.Start("wal_level=replica", "max_wal_senders=4")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cluster.Stop() })
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(cluster.Execute("CREATE TABLE kept (n int)"))
	for _, end := range []func() error{cluster.Kill, cluster.Abort} {
		must(cluster.Execute("INSERT INTO kept VALUES (1)"))
		must(end())
		if err := cluster.Execute("SELECT 1"); err == nil {
			t.Fatal("a killed server answers")
		}
		must(cluster.Restart())
	}
	address, err := url.Parse(cluster.URL)
	must(err)
	standby, err := cluster.Standby(address.Host)
	must(err)
	t.Cleanup(func() { standby.Stop() })
	if err := standby.Execute("INSERT INTO kept VALUES (1)"); err == nil {
		t.Fatal("a standby takes writes")
	}
	must(cluster.Kill())
	must(standby.Execute("SELECT pg_promote()"))
	must(standby.Execute("INSERT INTO kept VALUES (1)"))
	var n int
	must(connect(t, standby.URL).QueryRow(t.Context(), "SELECT count(*) FROM kept").Scan(&n))
	if n != 3 {
		t.Errorf("%d rows, want 3", n)
	}
	must(cluster.Restart()) // so that its data can be removed
}
