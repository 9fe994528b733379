package crashtest_test

import (
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"landfall"
	"landfall/internal/test/crashtest"
	"landfall/internal/test/pgtest"
	"landfall/internal/test/tooltest"
)

// ownCluster returns a PostgreSQL server that a test may damage, and the URL of
// a database in it.
func ownCluster(t *testing.T, settings ...string) (*pgtest.Cluster, string) {
	t.Helper()
	cluster, err := pgtest.Start(settings...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cluster.Stop() })
	database, err := cluster.Database("landfall")
	if err != nil {
		t.Fatal(err)
	}
	return cluster, database
}

// stall blocks commits by making them wait for a standby that does not exist.
// With "" they continue.
func stall(t *testing.T, cluster *pgtest.Cluster, standby string) {
	t.Helper()
	for _, statement := range []string{"ALTER SYSTEM SET synchronous_standby_names = '" + standby + "'", "SELECT pg_reload_conf()"} {
		if err := cluster.Execute(statement); err != nil {
			t.Fatal(err)
		}
	}
}

// PostgreSQL is killed under load, by SIGKILL and by an immediate shutdown, and
// restarted. The servers recover on their own.
func TestPostgresKilledUnderLoad(t *testing.T) {
	tooltest.SkipIfShort(t)
	t.Parallel() // most of it is waiting
	cluster, database := ownCluster(t)
	f := newFleet(t, database, 2)
	dice := seedOf(t)
	for round, left := 0, cycles(t, "LANDFALL_POSTGRES_KILLS", 3); left > 0 && !t.Failed(); round++ {
		kills := min(left, 10)
		left -= kills
		ends := []func() error{cluster.Kill, cluster.Abort}
		l := newLoad("P", dice+uint64(round))
		disturbed(f, l, 8, func(c *caller, random *rand.Rand) {
			for i := range kills {
				time.Sleep(time.Duration(200+random.IntN(400)) * time.Millisecond)
				if err := ends[i%2](); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
				if err := cluster.Restart(); err != nil {
					t.Fatal(err)
				}
				c.recovers(l)
			}
		})
	}
	f.checkAlive()
}

// disturbed runs callers while something happens, and checks the result.
func disturbed(f *fleet, l *load, callers int, disturb func(*caller, *rand.Rand)) *caller {
	f.t.Helper()
	c := &caller{fleet: f, history: &crashtest.History{}}
	random := rand.New(rand.NewPCG(l.seed, 1<<32))
	func() {
		stop := make(chan struct{})
		defer l.run(c, callers, stop).Wait()
		defer close(stop)
		disturb(c, random)
	}()
	settle(c, random)
	checkHistory(c, l.name)
	return c
}

// recovers waits until every server accepts writes again and returns how long
// that took.
func (c *caller) recovers(l *load) time.Duration {
	c.t.Helper()
	random, began := rand.New(rand.NewPCG(l.seed, 7)), time.Now()
	for _, r := range c.replicas {
		eventually(c.t, soon, "a server takes writes again", func() bool {
			key := landfall.Key{Supplier: supplier, External: l.name + "-back-" + time.Now().Format("150405.000000")}
			answer, err := c.send(r.address(), l.staging(key, random, creatable))
			return err == nil && answer.Status == http.StatusCreated
		})
	}
	return time.Since(began)
}

// checkAlive checks that no server stopped or restarted.
func (f *fleet) checkAlive() {
	f.t.Helper()
	for _, r := range f.replicas {
		select {
		case <-r.gone:
			f.t.Errorf("a server ended:\n%s", r.said())
		default:
		}
	}
}

// ready returns the status of a server's readiness endpoint.
func (f *fleet) ready(r *replica) int {
	f.t.Helper()
	status, _ := f.readiness(r)
	return status
}

// readiness returns what a server answers to a probe.
func (f *fleet) readiness(r *replica) (status int, body string) {
	f.t.Helper()
	status, answer, err := f.request(http.MethodGet, r.address(), "/readyz", nil)
	if err != nil {
		f.t.Error(err)
	}
	return status, string(answer)
}
