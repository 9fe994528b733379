package crashtest_test

import (
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"landfall"
	"landfall/internal/test/crashtest"
	"landfall/internal/test/pgtest"
	"landfall/internal/test/tooltest"
)

// shows returns the status of an account on one replica.
func (f *fleet) shows(r *replica, key landfall.Key) string {
	f.t.Helper()
	_, body, err := f.request(http.MethodGet, r.address(), imports+"/account-transfer-status/"+key.Supplier+"/"+key.External+"/", nil)
	if err != nil {
		f.t.Fatal(err)
	}
	return string(body)
}

const inProgress = `{"status":"IN_PROGRESS","platform_account_number":""}`

// asks sends a process request without waiting for its response. Requests wait
// at a gate for a few seconds at most, so on a busy machine some are repeated.
func (c *caller) asks(waiting *sync.WaitGroup, r *replica, key landfall.Key, then func(crashtest.Answer, error)) {
	base := r.address()
	waiting.Go(func() {
		for {
			answer, err := c.send(base, crashtest.Intent{Verb: crashtest.Process, Key: key})
			if err != nil || answer.Status != http.StatusServiceUnavailable {
				then(answer, err)
				return
			}
		}
	})
}

// A replica is killed while it creates an account. Every replica shows that the
// account is in progress until the lease expires. Then any of them can create
// it.
func TestKilledCreationFreesItself(t *testing.T) {
	tooltest.SkipIfShort(t)
	const longLease = 5 * time.Second // everything below happens within it
	f := newFleet(t, pgtest.URL(t), 3, "--claim-lease", longLease.String())
	c := &caller{fleet: f, history: &crashtest.History{}}
	key := c.stage("lease", 1)[0]
	g := newGate(f)
	g.shut()
	var waiting sync.WaitGroup
	c.asks(&waiting, f.replicas[0], key, func(answer crashtest.Answer, err error) {
		if err == nil {
			t.Errorf("a killed replica answered %v", answer)
		}
	})
	eventually(t, soon, "the creation stands before the gate", func() bool { return g.count(heldUp) == 1 })
	for _, r := range f.replicas {
		if got := f.shows(r, key); got != inProgress {
			t.Errorf("status is %s while the account is being created", got)
		}
	}
	intents := []crashtest.Intent{ // not a dry run: nothing refuses it, so it would wait at the gate as well
		{Verb: crashtest.Process, Key: key},
		(&load{name: "again"}).staging(key, rand.New(rand.NewPCG(3, 4)), creatable),
	}
	for _, intent := range intents {
		if answer, err := c.send(f.replicas[1].address(), intent); err != nil || answer.Code != landfall.CodeImportInProgress {
			t.Errorf("%s was answered %v %v while the account is being created", intent.Verb, answer, err)
		}
	}
	f.replicas[0].kill()
	killed := time.Now()
	g.open()
	waiting.Wait()
	if got := f.shows(f.replicas[1], key); got != inProgress && time.Since(killed) < longLease/2 { // the lease was renewed before
		t.Errorf("status is %s as soon as the creator was killed, which cannot be known yet", got)
	}
	eventually(t, longLease+soon, "the account is free again", func() bool { return f.shows(f.replicas[2], key) != inProgress })
	if answer, err := c.send(f.replicas[2].address(), crashtest.Intent{Verb: crashtest.Process, Key: key}); err != nil || answer.Status != http.StatusCreated {
		t.Errorf("the account cannot be created any more: %v %v", answer, err)
	}
	checkHistory(c, "lease")
}

// A replica is suspended past its leases and another one finishes its work.
// Then the first one continues as if it still held its claims.
func TestSuspendedReplicaIsFenced(t *testing.T) {
	tooltest.SkipIfShort(t)
	f := newFleet(t, pgtest.URL(t), 2)
	c := &caller{fleet: f, history: &crashtest.History{}}
	keys := c.stage("sleep", 24)
	fillers, sleepers := keys[:20], keys[20:]
	g := newGate(f)
	g.shut()
	sleeper, other := f.replicas[0], f.replicas[1]
	// The first creations occupy all workers of that replica. The others then
	// wait inside the program with nothing but a claim, which is the state in
	// which a suspended replica is dangerous.
	var waiting sync.WaitGroup
	for _, key := range keys {
		c.asks(&waiting, sleeper, key, func(_ crashtest.Answer, err error) {
			if err != nil {
				t.Error(err)
			}
		})
		eventually(t, soon, key.External+" is claimed", func() bool { return f.shows(other, key) == inProgress })
	}
	if n := g.count(heldUp); n == 0 || n >= len(fillers) {
		t.Fatalf("%d creations wait at the gate, want some of %d", n, len(fillers))
	}
	sleeper.signal(syscall.SIGSTOP)
	g.open()
	for _, key := range sleepers {
		eventually(t, lease+soon, "another creates "+key.External, func() bool {
			answer, err := c.send(other.address(), crashtest.Intent{Verb: crashtest.Process, Key: key})
			if err != nil {
				t.Fatal(err)
			}
			return answer.Status == http.StatusCreated
		})
	}
	sleeper.signal(syscall.SIGCONT)
	waiting.Wait()
	checkHistory(c, "sleep")
}

// A limit, of a supplier or of the service, applies to all replicas together,
// and what a killed replica held of it becomes available again.
func TestLimitHoldsOverReplicas(t *testing.T) {
	tooltest.SkipIfShort(t)
	t.Run("supplier", func(t *testing.T) {
		f := newFleet(t, pgtest.URL(t), 3, "--claim-lease", "4s")
		f.operate("supplier", "set", supplier, "--concurrency-limit", "4")
		holdsLimit(t, f)
	})
	t.Run("service", func(t *testing.T) {
		holdsLimit(t, newFleet(t, pgtest.URL(t), 3, "--claim-lease", "4s", "--concurrency-limit", "4"))
	})
}

func holdsLimit(t *testing.T, f *fleet) {
	const limit, accounts = 4, 24
	c := &caller{fleet: f, history: &crashtest.History{}}
	keys := c.stage("limit", accounts)
	g := newGate(f)
	stop, watching := make(chan struct{}), sync.WaitGroup{}
	watching.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(3 * time.Millisecond):
			}
			if n := g.count(alive); n > limit {
				t.Errorf("%d accounts are being created at once, the limit is %d", n, limit)
			}
		}
	})
	g.shut()
	var waiting sync.WaitGroup
	var refusals atomic.Int64
	var pending [3]atomic.Int64
	for i, key := range keys {
		pending[i%3].Add(1)
		c.asks(&waiting, f.replicas[i%3], key, func(answer crashtest.Answer, err error) {
			pending[i%3].Add(-1)
			if err == nil && answer.Status == http.StatusTooManyRequests && answer.Code == landfall.CodeConcurrencyLimit {
				refusals.Add(1)
			}
		})
	}
	eventually(t, soon, "all but the limit are refused", func() bool { return refusals.Load() == accounts-limit })
	eventually(t, soon, "as many as the limit are being created", func() bool { return g.count(alive) == limit })
	victim := 0
	for pending[victim].Load() == 0 {
		victim++
	}
	f.replicas[victim].kill()
	g.open()
	waiting.Wait()
	for i, key := range keys {
		eventually(t, soon, key.External+" gets a slot", func() bool {
			answer, err := c.send(f.replicas[(victim+1+i%2)%3].address(), crashtest.Intent{Verb: crashtest.Process, Key: key})
			return err == nil && (answer.Status == http.StatusCreated || answer.Code == landfall.CodeAlreadyImported)
		})
	}
	close(stop)
	watching.Wait()
	checkHistory(c, "limit")
}
