package webhook_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"landfall"
	"landfall/internal/outbound/delivery"
	"landfall/internal/outbound/webhook"
)

// TestEveryReceiverGetsEverythingInOrder delivers to receivers that are slow,
// down or forgetful at the same time. None of them may cause another one to
// miss an event or to get events out of order.
func TestEveryReceiverGetsEverythingInOrder(t *testing.T) {
	onBothDatabases(t, func(e *environment) {
		const events, accounts = 600, 30
		began := time.Now()
		down := func() bool { return time.Since(began) < time.Second }
		receivers := map[string]*receiver{
			"quick": receive(t, acceptAll),
			"slow": receive(t, func(string, int, int) (int, bool) {
				time.Sleep(5 * time.Millisecond)
				return 204, true
			}),
			"down": receive(t, func(string, int, int) (int, bool) {
				if down() {
					return 503, false
				}
				return 200, true
			}),
			// It accepts an event but confirms it only at the second delivery.
			"twice": receive(t, func(_ string, number, attempt int) (int, bool) {
				if attempt == 1 && number%3 == 0 {
					return 500, true
				}
				return 200, true
			}),
			"picky": receive(t, func(account string, number, attempt int) (int, bool) {
				if account == "acc7" && number < 2 && attempt < 3 {
					return 422, false
				}
				return 200, true
			}),
		}
		for name, r := range receivers {
			e.add(name, r.URL)
		}
		_, stop := e.deliver()
		defer stop()
		e.addEvents(events, accounts)
		for name, r := range receivers {
			waitUntil(t, name+" has everything", func() bool { return r.arrived() == events })
			r.inOrder(t)
		}
		if repeated := receivers["quick"].count - events; repeated > 0 {
			t.Errorf("%d repetitions without a reason", repeated)
		}
	})
}

// TestRefusedEventBlocksOnlyItsAccount has a receiver that always refuses
// one event. Only later events of the same account may wait for it.
func TestRefusedEventBlocksOnlyItsAccount(t *testing.T) {
	onBothDatabases(t, func(e *environment) {
		var fixed atomic.Bool
		var refused atomic.Int64
		r := receive(t, func(account string, number, _ int) (int, bool) {
			if account == "acc0" && number == 0 && !fixed.Load() {
				refused.Add(1)
				return 400, false
			}
			return 200, true
		})
		e.add("picky", r.URL)
		// Stopping may leave a lease that the next dispatcher has to wait for.
		_, stop := e.deliver(func(o *webhook.DispatcherOptions) { o.Lease = 2 * time.Second })
		e.addEvents(40, 4)
		waitUntil(t, "the others have theirs", func() bool { return r.arrived() >= 30 && refused.Load() >= 3 })
		stop()
		if r.arrived() != 30 {
			t.Errorf("%d arrived", r.arrived())
		}
		webhooks, stop := e.deliver(func(o *webhook.DispatcherOptions) { o.Schedule.GiveUp = time.Millisecond })
		defer stop()
		waitUntil(t, "it is given up and those behind it go on", func() bool { return r.arrived() == 39 })
		waitUntil(t, "it is counted", func() bool { return webhooks.Counts().Dead == 1 })
		fixed.Store(true)
		e.update(func(ctx context.Context, tx landfall.Tx) error {
			dead, count, err := tx.Deliveries(ctx, "picky", landfall.DeliveryDead, 10)
			if count != 1 || len(dead) != 1 || dead[0].Status != 400 || dead[0].Attempts < 3 {
				t.Errorf("dead: %+v", dead)
			}
			if _, err := tx.Replay(ctx, "picky", nil); err != nil {
				return err
			}
			return err
		})
		waitUntil(t, "it is replayed", func() bool { return r.arrived() == 40 })
	})
}

// An event that a quiet receiver always refuses held back the events of other
// accounts for as long as the growing pause of the whole webhook.
func TestRefusedEventDoesNotHoldUpAQuietReceiver(t *testing.T) {
	onBothDatabases(t, func(e *environment) {
		var refused atomic.Int64
		r := receive(t, func(account string, _, _ int) (int, bool) {
			if account == "acc0" {
				refused.Add(1)
				return 500, false
			}
			return 200, true
		})
		e.add("quiet", r.URL)
		// A pause of the whole webhook would be longer than the test.
		_, stop := e.deliver(func(o *webhook.DispatcherOptions) {
			o.Schedule.First, o.Schedule.Longest, o.Schedule.GiveUp = time.Hour, time.Hour, 24*time.Hour
		})
		defer stop()
		e.addEvents(1, 1)
		waitUntil(t, "it is refused", func() bool { return refused.Load() > 0 })
		e.addEvents(2, 2)
		waitUntil(t, "the event of the other account arrives", func() bool { return r.arrived() == 1 })
	})
}

// TestGoneDisablesTheWebhook has a receiver that replies 410 Gone. Otherwise it
// would be sent events for years.
func TestGoneDisablesTheWebhook(t *testing.T) {
	onBothDatabases(t, func(e *environment) {
		r := receive(t, func(string, int, int) (int, bool) { return http.StatusGone, false })
		e.add("gone", r.URL)
		webhooks, stop := e.deliver()
		defer stop()
		e.addEvents(50, 10)
		waitUntil(t, "it is switched off", func() bool { return e.webhook("gone").State == landfall.WebhookGone })
		waitUntil(t, "it is counted", func() bool { return webhooks.Counts().Gone == 1 }) // shortly after it is stored
		if e.webhook("gone").Position != 0 {
			t.Errorf("%+v", e.webhook("gone"))
		}
	})
}

// TestPermanentlyFailingDeliveriesBecomeDead has a receiver that stays down for longer
// than the retry period. Its events end up in the dead list, where an operator
// can see them, and later events still get their full retry period.
func TestPermanentlyFailingDeliveriesBecomeDead(t *testing.T) {
	onBothDatabases(t, func(e *environment) {
		r := receive(t, func(string, int, int) (int, bool) { return 500, false })
		e.add("down", r.URL)
		_, stop := e.deliver(func(o *webhook.DispatcherOptions) { o.Schedule.GiveUp = 500 * time.Millisecond })
		defer stop()
		e.addEvents(100, 10)
		waitUntil(t, "all of them are dead", func() bool {
			var count int
			err := e.View(context.Background(), func(view landfall.View) (err error) {
				_, count, err = view.Deliveries(context.Background(), "down", landfall.DeliveryDead, 1)
				return err
			})
			return err == nil && count == 100
		})
	})
}

// TestReceiversAreLimited sends to receivers that redirect and to one whose
// response never ends. Following a redirect could reach our network, and
// reading a whole response could exhaust memory.
func TestReceiversAreLimited(t *testing.T) {
	onBothDatabases(t, func(e *environment) {
		var reached atomic.Int64
		target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
		t.Cleanup(target.Close)
		redirecting := httptest.NewServer(http.RedirectHandler(target.URL, http.StatusTemporaryRedirect))
		t.Cleanup(redirecting.Close)
		endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := w.Write([]byte(strings.Repeat("x", 1<<10))); err != nil {
					return
				}
			}
		}))
		t.Cleanup(endless.Close)
		send := func(url string) delivery.Outcome {
			secret, _ := e.sender.Keys.New()
			return e.sender.Send(t.Context(), &landfall.Webhook{URL: url, Secrets: []landfall.WebhookSecret{secret}}, landfall.Event{ID: 1})
		}
		if outcome := send(redirecting.URL); outcome.Arrived() || outcome.Status != 307 || reached.Load() != 0 {
			t.Errorf("a redirect: %+v, followed %d times", outcome, reached.Load())
		}
		if outcome := send(endless.URL); !outcome.Arrived() {
			t.Errorf("an endless answer: %+v", outcome)
		}
		for url, reason := range map[string]string{
			"https://10.1.2.3/":        "private",
			"https://[::1]:9/":         "private",
			"http://receiver.example/": "https",
			"https://127.0.0.1:1/":     "refused the connection",
		} {
			if outcome := send(url); outcome.Arrived() || !strings.Contains(outcome.Reason, reason) {
				t.Errorf("%s: %+v", url, outcome)
			}
		}
		silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not notice that we disconnected
			<-r.Context().Done()
		}))
		t.Cleanup(silent.Close)
		e.sender.TimeLimit = time.Second
		if outcome := send(silent.URL); outcome.Reason != "it did not answer in time" || outcome.Took > 20*time.Second {
			t.Errorf("one that says nothing: %+v", outcome)
		}
	})
}

// TestRetryAfterOfReceiversIsHonoured has a receiver that replies with
// Retry-After. A receiver that is retried immediately has no chance to recover.
func TestRetryAfterOfReceiversIsHonoured(t *testing.T) {
	onBothDatabases(t, func(e *environment) {
		var first, second atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if first.CompareAndSwap(0, time.Now().UnixMilli()) {
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			second.CompareAndSwap(0, time.Now().UnixMilli())
		}))
		t.Cleanup(server.Close)
		e.add("busy", server.URL)
		_, stop := e.deliver(func(o *webhook.DispatcherOptions) { o.Schedule.Longest = time.Hour })
		defer stop()
		e.addEvents(1, 1)
		waitUntil(t, "it is tried again", func() bool { return second.Load() != 0 })
		if waited := second.Load() - first.Load(); waited < 950 {
			t.Errorf("it was tried again after %d ms", waited)
		}
	})
}

// TestManyWebhooksDoNotStarveEachOther checks that many receivers that are slow
// or down do not slow down the others.
func TestManyWebhooksDoNotStarveEachOther(t *testing.T) {
	onBothDatabases(t, func(e *environment) {
		const many, events = 120, 5
		slow := receive(t, func(string, int, int) (int, bool) {
			time.Sleep(300 * time.Millisecond)
			return 200, true
		})
		var quick atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { quick.Add(1) }))
		t.Cleanup(server.Close)
		for i := range many {
			switch i % 4 {
			case 0:
				e.add(fmt.Sprintf("slow%d", i), slow.URL)
			case 1:
				e.add(fmt.Sprintf("down%d", i), "https://127.0.0.1:1/")
			default:
				e.add(fmt.Sprintf("quick%d", i), server.URL)
			}
		}
		// There are far fewer slots than webhooks, so they have to take turns.
		_, stop := e.deliver(func(o *webhook.DispatcherOptions) { o.Concurrency, o.Parallel = 48, 2 })
		defer stop()
		e.addEvents(events, 1)
		waitUntil(t, "every quick one has everything", func() bool { return quick.Load() >= many/2*events })
	})
}
