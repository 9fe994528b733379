package quota_test

import (
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"landfall"
	"landfall/internal/service/quota"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
)

// each runs a test on both databases.
func each(t *testing.T, test func(*testing.T, landfall.Store)) {
	t.Helper()
	for name, address := range map[string]func(testing.TB) string{
		"sqlite":     dbtest.SQLite,
		"postgresql": dbtest.Postgres,
	} {
		t.Run(name, func(t *testing.T) {
			store, err := sqlstore.Open(t.Context(), address(t), sqlstore.Options{Server: true, ApplySchema: true})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() })
			err = store.Update(t.Context(), func(tx landfall.Tx) error {
				return errors.Join(tx.CreateOrganisation(t.Context(), "Acme"), tx.CreateOrganisation(t.Context(), "Other"))
			})
			if err != nil {
				t.Fatal(err)
			}
			test(t, store)
		})
	}
}

// fakeClock is a manually set clock.
type fakeClock struct {
	sync.Mutex
	at time.Time
}

func (c *fakeClock) now() time.Time { c.Lock(); defer c.Unlock(); return c.at }

func (c *fakeClock) pass(d time.Duration) { c.Lock(); defer c.Unlock(); c.at = c.at.Add(d) }

func noon() *fakeClock { return &fakeClock{at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func principal(organisation string, quotas landfall.Quotas) landfall.Principal {
	return landfall.Principal{Organisation: organisation, Quotas: quotas}
}

// send admits a request and reads its body to the end.
func send(t *testing.T, tracker *quota.Tracker, who landfall.Principal, body string, declared int64) error {
	t.Helper()
	metered, err := tracker.Admit(t.Context(), who, declared, io.NopCloser(strings.NewReader(body)))
	if err == nil {
		_, err = io.Copy(io.Discard, metered)
	}
	return err
}

// refusedBy checks which quota refused the request, and for how long.
func refusedBy(t *testing.T, err error, name string, wait time.Duration) {
	t.Helper()
	known, ok := errors.AsType[*landfall.Error](err)
	if !ok || known.Code != landfall.CodeQuotaExceeded || known.Kind != landfall.TooMany ||
		known.Members[0].Value != name || known.RetryAfter != wait {
		t.Errorf("got %+v (%v), want a refusal by %s for %s", known, err, name, wait)
	}
}

// TestRequestsASecond floods from one organisation while another sends normally.
// One organisation's quota must never affect another organisation.
func TestRequestsASecond(t *testing.T) {
	clock := noon()
	refused := map[[2]string]int{}
	tracker := quota.New(nil, clock.now, func(organisation, quota string) { refused[[2]string{organisation, quota}]++ })
	flooder, neighbour := principal("Acme", landfall.Quotas{RequestsPerSecond: 10}), principal("Other", landfall.Quotas{RequestsPerSecond: 10})
	for range 10 {
		if err := send(t, tracker, flooder, "", 0); err != nil {
			t.Fatal(err)
		}
	}
	for range 100 {
		refusedBy(t, send(t, tracker, flooder, "", 0), landfall.QuotaRequests, 100*time.Millisecond)
	}
	if err := send(t, tracker, neighbour, "", 0); err != nil {
		t.Errorf("the neighbour gets %v", err)
	}
	if err := send(t, tracker, principal("Third", landfall.Quotas{}), "", 0); err != nil {
		t.Errorf("an organisation without a quota gets %v", err)
	}
	clock.pass(100 * time.Millisecond)
	if err := send(t, tracker, flooder, "", 0); err != nil {
		t.Errorf("after waiting: %v", err)
	}
	if len(refused) != 1 || refused[[2]string{"Acme", landfall.QuotaRequests}] != 100 {
		t.Errorf("refusals: %v", refused)
	}
}

// TestBytesADay alternates between two servers. If each counted only its own
// bytes, the quota would double; if a restart forgot them, they would be free.
func TestBytesADay(t *testing.T) {
	each(t, func(t *testing.T, store landfall.Store) {
		clock := noon()
		servers := []*quota.Tracker{quota.New(store, clock.now, nil), quota.New(store, clock.now, nil)}
		sender := principal("Acme", landfall.Quotas{BytesPerDay: 100})
		good := func(what string, server int, body string, declared int64) {
			t.Helper()
			if err := send(t, servers[server], sender, body, declared); err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		keep := func() {
			t.Helper()
			for _, server := range servers {
				if err := server.FlushBytes(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		good("the first", 0, strings.Repeat("x", 60), 60)
		refusedBy(t, send(t, servers[0], sender, strings.Repeat("x", 41), 41), landfall.QuotaBytes, 12*time.Hour)
		good("one that does not say how long it is", 0, strings.Repeat("x", 20), -1)
		keep()
		// The other server knows the total, and so does a newly started one.
		refusedBy(t, send(t, servers[1], sender, "", 21), landfall.QuotaBytes, 12*time.Hour)
		servers[0] = quota.New(store, clock.now, nil)
		refusedBy(t, send(t, servers[0], sender, "", 21), landfall.QuotaBytes, 12*time.Hour)
		good("what is left", 1, strings.Repeat("x", 20), 20)
		good("a request without a body", 1, "", 0)
		keep()
		if err := send(t, servers[0], principal("Other", landfall.Quotas{BytesPerDay: 100}), strings.Repeat("x", 100), 100); err != nil {
			t.Errorf("the neighbour gets %v", err)
		}
		clock.pass(13 * time.Hour)
		good("the next day", 0, strings.Repeat("x", 100), 100)
		refusedBy(t, send(t, servers[0], sender, "x", 1), landfall.QuotaBytes, 23*time.Hour)
		keep()
		err := store.View(t.Context(), func(view landfall.View) error {
			for day, want := range map[string]int64{"2026-03-01": 100, "2026-03-02": 100, "2026-03-03": 0} {
				if sent, err := view.BytesSent(t.Context(), "Acme", day); err != nil || sent != want {
					t.Errorf("on %s %d were sent (%v), want %d", day, sent, err, want)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// TestConcurrentCreations creates more accounts at once than an organisation may.
// A slot that is not released would be missing until the next restart.
func TestConcurrentCreations(t *testing.T) {
	tracker := quota.New(nil, noon().now, nil)
	sender := principal("Acme", landfall.Quotas{ConcurrentCreations: 2})
	var ends []func()
	for range 2 {
		done, err := tracker.Begin(sender, 0)
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, done)
	}
	_, err := tracker.Begin(sender, 0)
	refusedBy(t, err, landfall.QuotaCreations, time.Second)
	if _, err := tracker.Begin(principal("Other", landfall.Quotas{}), 0); err != nil {
		t.Errorf("the neighbour gets %v", err)
	}
	ends[0]()
	if _, err := tracker.Begin(sender, 0); err != nil {
		t.Errorf("after one has ended: %v", err)
	}
}

// One organisation used to take every slot of the service and keep it.
func TestSlotsAreShared(t *testing.T) {
	clock := noon()
	tracker := quota.New(nil, clock.now, nil)
	greedy, modest := principal("Acme", landfall.Quotas{}), principal("Other", landfall.Quotas{})
	const places = 8
	var ends []func()
	take := func(who landfall.Principal) bool {
		done, err := tracker.Begin(who, places)
		if err == nil {
			ends = append(ends, done)
		} else if known, ok := errors.AsType[*landfall.Error](err); !ok || known.Code != landfall.CodeConcurrencyLimit || known.RetryAfter == 0 {
			t.Errorf("got %v", err)
		}
		return err == nil
	}
	// An organisation alone may use all slots.
	for range places {
		if !take(greedy) {
			t.Fatal("refused although no other organisation waits")
		}
	}
	// As soon as another organisation wants slots, the first gets no new ones
	// beyond its half.
	if !take(modest) {
		t.Error("the modest one is refused")
	}
	ends[0]()
	if take(greedy) {
		t.Error("the greedy one gets the place that another waits for")
	}
	for i := 1; i < 5; i++ {
		ends[i]()
	}
	if !take(greedy) {
		t.Error("the greedy one is refused its own half")
	}
	if take(greedy) {
		t.Error("the greedy one gets more than its half")
	}
	// When an organisation no longer wants slots, its share goes to the others.
	ends[places]()
	clock.pass(6 * time.Second)
	for range 4 {
		if !take(greedy) {
			t.Error("a free slot stays empty")
		}
	}
}
