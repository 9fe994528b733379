package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"landfall"
	"landfall/internal/lib/worker"
	"landfall/internal/outbound/delivery"
	"landfall/internal/outbound/webhook"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
)

const operatorsKey = "0123456789abcdef0123456789abcdef"

// environment is a store with an organisation whose events go to receivers.
type environment struct {
	landfall.Store
	t      *testing.T
	sender *webhook.Sender
}

// onBothDatabases runs a test on both databases.
func onBothDatabases(t *testing.T, test func(*environment)) {
	t.Helper()
	for name, address := range map[string]func(testing.TB) string{
		"sqlite":   dbtest.SQLite,
		"postgres": dbtest.Postgres,
	} {
		t.Run(name, func(t *testing.T) {
			store, err := sqlstore.Open(t.Context(), address(t), sqlstore.Options{Server: true, ApplySchema: true})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = store.Close() })
			keys, err := delivery.ReadKeys(operatorsKey)
			if err != nil {
				t.Fatal(err)
			}
			e := &environment{Store: store, t: t, sender: webhook.NewSender(webhook.SenderOptions{
				ClientOptions: delivery.ClientOptions{
					Keys: keys, Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, TimeLimit: 30 * time.Second,
				},
				Encode: func(event landfall.Event, _ []byte) (string, []byte) {
					return strconv.FormatInt(event.ID, 10), fmt.Appendf(nil, "%s %s", event.Key.External, event.Details["n"])
				},
			})}
			t.Cleanup(e.sender.Close)
			e.update(func(ctx context.Context, tx landfall.Tx) error {
				return errors.Join(tx.CreateOrganisation(ctx, "Acme"), tx.CreateSupplier(ctx, landfall.NewSupplier("NORTH")), tx.Grant(ctx, "NORTH", "Acme"))
			})
			test(e)
		})
	}
}

func (e *environment) update(fn func(context.Context, landfall.Tx) error) {
	e.t.Helper()
	ctx := context.Background()
	if err := e.Update(ctx, func(tx landfall.Tx) error { return fn(ctx, tx) }); err != nil {
		e.t.Fatal(err)
	}
}

// add creates a webhook for a receiver.
func (e *environment) add(name, url string) {
	e.t.Helper()
	secret, err := e.sender.Keys.New()
	if err != nil {
		e.t.Fatal(err)
	}
	e.update(func(ctx context.Context, tx landfall.Tx) error {
		return tx.CreateWebhook(ctx, landfall.Webhook{
			Name: name, Organisation: "Acme", URL: url, State: landfall.WebhookActive, Secrets: []landfall.WebhookSecret{secret},
		})
	})
}

// addEvents appends events of some accounts in turn, numbered per account.
func (e *environment) addEvents(count, accounts int) {
	e.t.Helper()
	for from := 0; from < count; from += 100 {
		e.update(func(ctx context.Context, tx landfall.Tx) error {
			for i := from; i < min(from+100, count); i++ {
				event := landfall.Event{
					Type: landfall.EventSkipped, Key: landfall.Key{Supplier: "NORTH", External: fmt.Sprintf("acc%d", i%accounts)},
					Details: map[string]string{"n": strconv.Itoa(i / accounts)},
				}
				if err := tx.AppendEvent(ctx, event); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// deliver runs a dispatcher with short intervals. The returned function stops
// it.
func (e *environment) deliver(adjust ...func(*webhook.DispatcherOptions)) (*webhook.Dispatcher, func()) {
	options := webhook.DispatcherOptions{
		Sender: e.sender, Watcher: webhook.NewLogWatcher(e.Store), Log: slog.New(slog.DiscardHandler), PollInterval: 50 * time.Millisecond,
		Schedule: worker.Schedule{First: 20 * time.Millisecond, Longest: 200 * time.Millisecond, GiveUp: time.Minute},
	}
	for _, change := range adjust {
		change(&options)
	}
	webhooks := webhook.NewDispatcher(e.Store, options)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		webhooks.Run(ctx)
		close(done)
	}()
	return webhooks, func() { cancel(); <-done }
}

func (e *environment) webhook(name string) (found landfall.Webhook) {
	e.t.Helper()
	err := e.View(context.Background(), func(view landfall.View) (err error) {
		found, err = view.Webhook(context.Background(), name)
		return err
	})
	if err != nil {
		e.t.Fatal(err)
	}
	return found
}

// receiver records the events that arrive, in order.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	first  map[string][]int // by account, without repetitions
	count  int              // with repetitions
	known  map[string]bool
	header http.Header // of the last delivery
	body   string
}

// receive starts a receiver that replies as answer decides. Events that answer
// keeps count as arrived.
func receive(t *testing.T, answer func(account string, number, attempt int) (status int, keep bool)) *receiver {
	t.Helper()
	r := &receiver{first: map[string][]int{}, known: map[string]bool{}}
	attempts := map[string]int{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		account, text, _ := strings.Cut(string(body), " ")
		number, _ := strconv.Atoi(text)
		id := request.Header.Get("Webhook-Id")
		r.mu.Lock()
		attempts[id]++
		attempt := attempts[id]
		r.header, r.body = request.Header, string(body)
		r.mu.Unlock()
		status, keep := answer(account, number, attempt)
		if keep {
			r.mu.Lock()
			r.count++
			if !r.known[id] {
				r.known[id] = true
				r.first[account] = append(r.first[account], number)
			}
			r.mu.Unlock()
		}
		w.WriteHeader(status)
	}))
	t.Cleanup(r.Close)
	return r
}

func acceptAll(string, int, int) (int, bool) { return 200, true }

func (r *receiver) arrived() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.known)
}

// inOrder fails the test unless the events of every account arrived in order
// and without gaps.
func (r *receiver) inOrder(t *testing.T) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for account, numbers := range r.first {
		for at, number := range numbers {
			if number != at {
				t.Errorf("%s received %v", account, numbers)
				return
			}
		}
	}
}

// waitUntil waits until a condition is true.
func waitUntil(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it did not happen: %s", what)
		}
	}
}
