package crashtest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"landfall"
	"landfall/internal/test/tooltest"
)

// receiver is a webhook receiver that records what it accepted.
type receiver struct {
	*httptest.Server
	mu    sync.Mutex
	taken map[string][]string // ids by subject, in the order of their first arrival
	known map[string]bool
	count int // with repetitions
}

// newReceiver answers deliveries. It records the events that the function
// takes, independent of the status that it returns.
func newReceiver(t *testing.T, answer func(id string, attempt int) (status int, take bool)) *receiver {
	t.Helper()
	h := &receiver{taken: map[string][]string{}, known: map[string]bool{}}
	attempts := map[string]int{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var event struct{ ID, Subject string }
		if err != nil || json.Unmarshal(body, &event) != nil || event.ID != r.Header.Get("Webhook-Id") {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		h.mu.Lock()
		attempts[event.ID]++
		attempt := attempts[event.ID]
		h.mu.Unlock()
		status, take := answer(event.ID, attempt)
		if take {
			h.mu.Lock()
			h.count++
			if !h.known[event.ID] {
				h.known[event.ID] = true
				h.taken[event.Subject] = append(h.taken[event.Subject], event.ID)
			}
			h.mu.Unlock()
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *receiver) heard() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.known)
}

// Events go to five receivers, one of them slow, one down for a while, one that
// accepts an event but confirms it only the second time, while servers are
// killed at random and, on PostgreSQL, the database is restarted. Each event
// arrives everywhere, in order for each account, and none arrives that never
// happened.
func TestWebhooksSurviveKills(t *testing.T) {
	tooltest.SkipIfShort(t)
	t.Parallel() // most of it is waiting
	events := cycles(t, "LANDFALL_WEBHOOK_EVENTS", 600)
	settings := []string{"--webhook-lease", "2s"}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		deliverThroughKills(newFleet(t, "sqlite:"+t.TempDir()+"/landfall.db", 1, settings...), events, nil)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		cluster, database := ownCluster(t)
		deliverThroughKills(newFleet(t, database, 3, settings...), events, func() error {
			if err := cluster.Abort(); err != nil {
				return err
			}
			return cluster.Restart()
		})
	})
}

func deliverThroughKills(f *fleet, events int, disturb func() error) {
	t := f.t
	random := rand.New(rand.NewPCG(seedOf(t), 9))
	began := time.Now()
	// A refused event waits for its retry, and so do later events of its
	// account. Only a few events of each account are refused, however many
	// there are.
	every := int64(max(7, events/100|1))
	receivers := map[string]*receiver{
		"quick": newReceiver(t, func(string, int) (int, bool) { return 204, true }),
		"other": newReceiver(t, func(string, int) (int, bool) { return 200, true }),
		"slow": newReceiver(t, func(string, int) (int, bool) {
			time.Sleep(10 * time.Millisecond)
			return 200, true
		}),
		"down": newReceiver(t, func(string, int) (int, bool) {
			if time.Since(began) < 4*time.Second {
				return 503, false
			}
			return 200, true
		}),
		"twice": newReceiver(t, func(id string, attempt int) (int, bool) {
			place, _, _ := strings.Cut(id, "-")
			if n, err := strconv.ParseInt(place, 10, 64); err != nil || attempt == 1 && n%every == 0 {
				return 500, true
			}
			return 200, true
		}),
	}
	for name, h := range receivers {
		f.operate("webhook", "add", name, "Acme", h.URL, "--from-start")
	}
	written := make(chan struct{})
	store := f.open() // before anything is restarted
	go func() {
		defer close(written)
		defer store.Close()
		f.tellEvents(store, events)
	}()
	for kills := 0; ; kills++ {
		done := written
		if disturb != nil && kills == 0 {
			done = nil // not before the database was restarted
		}
		select {
		case <-done:
			log := f.logged()
			f.awaitReceivers(receivers, log.count, random)
			for name, h := range receivers {
				t.Logf("%s: %d events, %d deliveries", name, h.heard(), h.count)
			}
			f.compareReceivers(receivers, log)
			return
		case <-time.After(time.Duration(300+random.IntN(700)) * time.Millisecond):
		}
		victim := f.replicas[random.IntN(len(f.replicas))]
		victim.kill()
		if disturb != nil && kills == 0 {
			if err := disturb(); err != nil {
				t.Error(err)
			}
		}
		victim.start()
	}
}

// tellEvents writes events of forty accounts beside the servers, as an operator
// who skips and unskips would, and retries until each is stored.
func (f *fleet) tellEvents(store landfall.Store, count int) {
	for i := 0; i < count; {
		err := store.Update(f.t.Context(), func(tx landfall.Tx) error {
			for n := i; n < min(i+20, count); n++ {
				event := landfall.Event{
					Type: landfall.EventSkipped, Key: landfall.Key{Supplier: supplier, External: fmt.Sprintf("W%d", n%40)},
				}
				if err := tx.AppendEvent(f.t.Context(), event); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil {
			i += 20
		}
		time.Sleep(max(20*time.Millisecond, 5*time.Second*20/time.Duration(count))) // long enough for something to happen
	}
}

// awaitReceivers kills from time to time until every receiver has everything.
func (f *fleet) awaitReceivers(receivers map[string]*receiver, events int, random *rand.Rand) {
	f.t.Helper()
	for deadline := time.Now().Add(2*time.Minute + time.Duration(events)*50*time.Millisecond); ; time.Sleep(100 * time.Millisecond) {
		complete := true
		for _, h := range receivers {
			complete = complete && h.heard() >= events
		}
		if complete {
			return
		}
		if time.Now().After(deadline) {
			for name, h := range receivers {
				f.t.Errorf("%s has %d of %d", name, h.heard(), events)
			}
			f.t.Fatal("some receivers lack events")
		}
		if random.IntN(60) == 0 {
			victim := f.replicas[random.IntN(len(f.replicas))]
			victim.kill()
			victim.start()
		}
	}
}

// loggedEvents contains the events in the log, by subject and in order.
type loggedEvents struct {
	ids   map[string][]string
	count int
}

func (f *fleet) logged() loggedEvents {
	f.t.Helper()
	store := f.open()
	defer store.Close()
	log := loggedEvents{ids: map[string][]string{}}
	err := store.View(f.t.Context(), func(view landfall.View) error {
		found, err := view.EventsAfter(f.t.Context(), landfall.EventQuery{Suppliers: []string{supplier}, UpTo: 1 << 60, Limit: 1 << 20})
		for _, event := range found {
			subject := event.Key.Supplier + "/" + event.Key.External
			log.ids[subject] = append(log.ids[subject], strconv.FormatInt(event.ID, 10)+"-"+strconv.FormatInt(event.At.UnixMicro(), 36))
			log.count++
		}
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return log
}

// compareReceivers compares what arrived with the log.
func (f *fleet) compareReceivers(receivers map[string]*receiver, log loggedEvents) {
	f.t.Helper()
	for name, h := range receivers {
		h.mu.Lock()
		for subject, ids := range log.ids {
			if got := fmt.Sprint(h.taken[subject]); got != fmt.Sprint(ids) {
				f.t.Errorf("%s received of %s %s\nthe log has %v", name, subject, got, ids)
			}
		}
		if len(h.taken) != len(log.ids) || len(h.known) != log.count {
			f.t.Errorf("%s heard %d events of %d accounts, the log has %d of %d", name, len(h.known), len(h.taken), log.count, len(log.ids))
		}
		h.mu.Unlock()
	}
}
