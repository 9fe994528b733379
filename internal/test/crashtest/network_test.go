package crashtest_test

import (
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"landfall"
	"landfall/internal/test/pgtest"
	"landfall/internal/test/tooltest"
)

// All responses of the database are lost at once and every connection ends, as
// in a failover, while every writing connection waits for its commit. New
// connections work. Every caller gets a response soon, and nearly all of them
// the true outcome, which can be looked up.
func TestAllDatabaseResponsesLost(t *testing.T) {
	tooltest.SkipIfShort(t)
	t.Parallel() // most of it is waiting
	cluster, direct := ownCluster(t, "wal_level=replica", "max_wal_senders=4")
	line, database := startProxy(t, direct)
	f := newFleet(t, database, 1)
	l := newLoad("L", seedOf(t))
	l.width = 200 // so that callers use every connection
	var slowest time.Duration
	disturbed(f, l, 64, func(c *caller, _ *rand.Rand) {
		for range 2 {
			time.Sleep(500 * time.Millisecond)
			stall(t, cluster, "nobody")
			time.Sleep(time.Second)
			line.lose(func() { stall(t, cluster, "") })
			if took := c.recovers(l); took > wellWithin {
				t.Errorf("new connections work, and the service takes writes only after %s", took)
			}
		}
		slowest = c.slowest()
	})
	if slowest > wellWithin {
		t.Errorf("a caller waited %s", slowest)
	}
	f.checkAlive()
}

// silenceLimit is how long a connection may be silent before it is closed,
// doubled for a busy machine. A shorter silence leaves connections that look as
// if they worked.
const silenceLimit = 2 * 9 * time.Second

// requestLimit is the longest time until any response, whatever the database
// does.
const requestLimit = 30 * time.Second

// leeway allows a busy machine to deliver the response.
const leeway = 8 * time.Second

// wellWithin is clearly less than requestLimit.
const wellWithin = requestLimit * 2 / 3

// The database accepts connections and never responds, as a dead host or a hung
// disk does. Callers get responses, readiness fails, and working connections
// are used as soon as there are any.
func TestSilentDatabase(t *testing.T) {
	tooltest.SkipIfShort(t)
	t.Parallel() // most of it is waiting
	line, database := startProxy(t, pgtest.URL(t))
	f := newFleet(t, database, 1)
	l := newLoad("S", seedOf(t))
	c := disturbed(f, l, 16, func(c *caller, random *rand.Rand) {
		time.Sleep(500 * time.Millisecond)
		line.silence()
		began := time.Now()
		eventually(t, soon, "the service says that it is not ready", func() bool { return f.ready(f.replicas[0]) == http.StatusServiceUnavailable })
		var asking sync.WaitGroup
		for range 8 {
			key := landfall.Key{Supplier: supplier, External: l.name + "-silent-" + l.text("key")}
			intent := l.staging(key, random, creatable)
			asking.Go(func() {
				asked := time.Now()
				answer, err := c.send(f.replicas[0].address(), intent)
				if err != nil || answer.Status != http.StatusServiceUnavailable {
					t.Errorf("the database is silent, and a staging was answered %v %v", answer, err)
				}
				if took := time.Since(asked); took > requestLimit+leeway {
					t.Errorf("the database is silent, and a caller was answered after %s", took)
				}
			})
		}
		asking.Wait()
		t.Logf("the silence lasts for %s", time.Since(began))
		line.restore()
		if took := c.recovers(l); took > silenceLimit {
			t.Errorf("new connections work, and the service takes writes only after %s", took)
		}
		eventually(t, soon, "the service says that it is ready", func() bool { return f.ready(f.replicas[0]) == http.StatusOK })
	})
	if slowest := c.slowest(); slowest > requestLimit+leeway {
		t.Errorf("a caller waited %s", slowest)
	}
	f.checkAlive()
}
