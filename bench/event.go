package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"time"

	"landfall"
	"landfall/internal/store/sqlstore"
)

// deliveries is the number of events that one arm delivers.
const deliveries = 20_000

// measureWebhook measures how many events per second reach a receiver on this
// machine, over HTTP and signed, from a log that has them all.
func measureWebhook(place func(context.Context, *harness) (string, error)) func(context.Context, plan, *harness) (measured, error) {
	return func(ctx context.Context, _ plan, m *harness) (measured, error) {
		database, err := place(ctx, m)
		if err != nil {
			return measured{}, err
		}
		for name, value := range map[string]string{
			"LANDFALL_WEBHOOK_KEY": "0123456789abcdef0123456789abcdef", "LANDFALL_WEBHOOK_NETWORKS": "127.0.0.0/8",
		} {
			if err := os.Setenv(name, value); err != nil {
				return measured{}, err
			}
			// Restore the environment, because later servers inherit it.
			defer func() { _ = os.Unsetenv(name) }()
		}
		s, err := m.start(ctx, database)
		if err != nil {
			return measured{}, err
		}
		defer s.stop()
		if err := tellMany(ctx, database); err != nil {
			return measured{}, err
		}
		var arrived atomic.Int64
		all := make(chan struct{})
		// The receiver reads the body and responds at once, so that only
		// sending is measured.
		receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if arrived.Add(1) == deliveries {
				close(all)
			}
		}))
		defer receiver.Close()
		// Start when the webhook is added, so that discovering the events
		// counts as well.
		began := time.Now()
		if _, err := m.tell(ctx, "webhook", "add", "bench", "Bench", receiver.URL, "--from-start", "--database", database); err != nil {
			return measured{}, err
		}
		select {
		case <-all:
		// Far beyond the goal. A slower sender has failed, and the number that
		// arrived says by how much.
		case <-time.After(2 * time.Minute):
			return measured{}, fmt.Errorf("only %d of %d events arrived", arrived.Load(), deliveries)
		case <-ctx.Done():
			return measured{}, ctx.Err()
		}
		rate := deliveries / time.Since(began).Seconds()
		return measured{ratio: rate, ours: fmt.Sprintf("%.0f events/s", rate), raw: "a receiver that reads and answers"}, nil
	}
}

// tellMany writes events to the log.
func tellMany(ctx context.Context, database string) error {
	store, err := sqlstore.Open(ctx, database, sqlstore.Options{})
	if err != nil {
		return err
	}
	for from := 0; from < deliveries && err == nil; from += 1000 {
		err = store.Update(ctx, func(tx landfall.Tx) error {
			for i := from; i < from+1000; i++ {
				// Spread over five hundred accounts, because the events of one
				// account are delivered in order.
				event := landfall.Event{Type: landfall.EventSkipped, Key: landfall.Key{Supplier: supplier, External: fmt.Sprintf("W-%d", i%500)}}
				if err := tx.AppendEvent(ctx, event); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if closing := store.Close(); err == nil {
		err = closing
	}
	return err
}

// measureEventCost compares creating accounts with creating them in a database
// that discards every event.
func measureEventCost(ctx context.Context, p plan, m *harness, s *service) (measured, error) {
	// Both arms use the same database and the same trigger, enabled or
	// disabled, so that everything else is equal.
	if err := m.psql(ctx, s.database, `CREATE FUNCTION unheard() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`,
		`CREATE TRIGGER unheard BEFORE INSERT ON event FOR EACH ROW EXECUTE FUNCTION unheard()`,
		`ALTER TABLE event DISABLE TRIGGER unheard`); err != nil {
		return measured{}, err
	}
	numbers := &counter{}
	arm := func(trigger string) func() (sample, error) {
		return func() (sample, error) {
			if err := m.psql(ctx, s.database, `ALTER TABLE event `+trigger+` TRIGGER unheard`); err != nil {
				return sample{}, err
			}
			return s.create(ctx, numbers, creations)
		}
	}
	ratio, ours, raw, err := alternate(p.rounds, arm("DISABLE"), arm("ENABLE"))
	return measured{ratio: ratio, ours: ours.of("accounts"), raw: raw.of("accounts without events")}, err
}
