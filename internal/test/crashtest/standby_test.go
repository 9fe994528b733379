package crashtest_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"testing"
	"time"

	"landfall/internal/test/tooltest"
)

// A synchronous standby stops responding under load: commits wait for it,
// callers give up and retry, and some responses mention what others wrote. Then
// the primary is lost and the standby is promoted. Everything that was
// confirmed is there.
func TestFailoverAfterStandbyStopsResponding(t *testing.T) {
	tooltest.SkipIfShort(t)
	t.Parallel() // most of it is waiting
	// A busy machine may be slow once, but not twice.
	for attempt := 1; ; attempt++ {
		took := failover(t)
		t.Logf("the service takes writes again %s after the promotion", took)
		if took <= resumes {
			return
		}
		if attempt == 2 {
			t.Fatalf("writes resume %s after the promotion, not within %s", took, resumes)
		}
	}
}

// resumes is how long after a promotion all servers must accept writes again.
const resumes = 20 * time.Second

// failover does one failover and returns how long after the promotion every
// server accepts writes again without a restart.
func failover(t *testing.T) (took time.Duration) {
	t.Helper()
	primary, database := ownCluster(t, "wal_level=replica", "max_wal_senders=4")
	address, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	line := newProxy(t, address.Host) // between the two servers
	standby, err := primary.Standby(line.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { standby.Stop() })
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	stall(t, primary, "*")
	other, err := url.Parse(standby.URL)
	must(err)
	both := fmt.Sprintf("postgres://%s@%s,%s%s?sslmode=disable&target_session_attrs=read-write",
		address.User, address.Host, other.Host, address.Path)
	f := newFleet(t, both, 2)
	l := newLoad("F", seedOf(t))
	l.width = 50
	c := disturbed(f, l, 48, func(c *caller, _ *rand.Rand) {
		time.Sleep(time.Second)
		line.silence()
		time.Sleep(14 * time.Second)
		must(primary.Kill())
		line.cut()
		must(standby.Execute("SELECT pg_promote()"))
		took = c.recovers(l)
	})
	t.Logf("the slowest answer took %s", c.slowest())
	f.checkAlive()
	must(primary.Restart()) // so that its data can be removed
	return took
}
