package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/api/httpapi"
	"landfall/internal/lib/limits"
	"landfall/internal/outbound/delivery"
	"landfall/internal/outbound/shape"
	"landfall/internal/outbound/target"
	"landfall/internal/outbound/webhook"
)

// webhookKeys reads the keys from which the webhooks' secrets are derived.
func (s Settings) webhookKeys() (delivery.Keys, error) {
	text := s.WebhookKey
	if s.WebhookKeyFile != "" {
		if text != "" {
			return delivery.Keys{}, errors.New("set either webhook-key or webhook-key-file, not both")
		}
		var err error
		if text, err = readPassword(s.WebhookKeyFile); err != nil {
			return delivery.Keys{}, fmt.Errorf("setting webhook-key-file: %w", err)
		}
	}
	keys, err := delivery.ReadKeys(text)
	if err != nil {
		return delivery.Keys{}, fmt.Errorf("setting webhook-key: %w", err)
	}
	return keys, nil
}

// EventSource returns the source of the service's events.
func EventSource(ctx context.Context, settings Settings, store landfall.Store) (source string, err error) {
	err = store.View(ctx, func(view landfall.View) error {
		instance, err := view.Instance(ctx)
		source = contract.EventSource(settings.BaseURL, instance)
		return err
	})
	return source, err
}

// NewSender creates the webhook sender, for the server and for an operator who
// tests a webhook. Without a store, events cannot carry accounts.
func NewSender(settings Settings, source string, store landfall.Store) (*webhook.Sender, error) {
	keys, err := settings.webhookKeys()
	if err != nil {
		return nil, SettingError{err}
	}
	return webhook.NewSender(webhook.SenderOptions{
		ClientOptions: delivery.ClientOptions{
			Keys: keys, Networks: settings.WebhookNetworks, PlainHTTP: settings.WebhookPlainHTTP, TimeLimit: settings.WebhookTimeout,
		},
		Encode: func(event landfall.Event, account []byte) (string, []byte) {
			return contract.EventID(event), contract.EventBody.Append(nil, contract.CloudEvent{Event: event, Source: source, Account: account})
		},
		Account: func(ctx context.Context, event landfall.Event) ([]byte, error) {
			return eventAccount(ctx, store, event, settings.BaseURL)
		},
	}), nil
}

// eventAccount returns the account of an event as it is now. Nothing of it is
// stored with the event.
func eventAccount(ctx context.Context, store landfall.Store, event landfall.Event, base string) (members []byte, err error) {
	if event.AccountNumber == "" {
		return nil, nil // there was no account yet
	}
	err = store.View(ctx, func(view landfall.View) error {
		account, err := view.WholeAccount(ctx, event.Key)
		if errors.Is(err, landfall.ErrNotFound) {
			members = contract.NoEventAccount()
			return nil
		}
		if err != nil {
			return err
		}
		members, err = contract.EventAccount(account, base)
		return err
	})
	return members, err
}

// NewTargetSender creates what sends to targets, for the server and for an operator who
// tests a target or undoes an account. Targets are in the same networks as the
// receivers of webhooks.
func NewTargetSender(settings Settings) (*target.Sender, error) {
	keys, err := settings.webhookKeys()
	if err != nil {
		return nil, SettingError{err}
	}
	return target.NewSender(target.SenderOptions{
		ClientOptions: delivery.ClientOptions{Keys: keys, Networks: settings.WebhookNetworks, PlainHTTP: settings.WebhookPlainHTTP},
		Encode:        contract.EncodeDelivery, Shapes: shape.NewPool(shape.Self),
	}), nil
}

// webhookReadings returns the metrics about webhooks: the work of this replica,
// and the backlog of all replicas.
func (a *App) webhookReadings() []httpapi.FuncMetric {
	var mu sync.Mutex
	var figures landfall.WebhookFigures
	var read time.Time
	ask := func(get func(landfall.WebhookFigures) float64) func() float64 {
		return func() float64 {
			mu.Lock()
			defer mu.Unlock()
			if time.Since(read) > limits.MetricsAge {
				if found, err := a.webhookStats(); err == nil {
					figures = found
				}
				// Set it after a failure too, so that an unavailable database is not
				// queried again for each metric.
				read = time.Now()
			}
			return get(figures)
		}
	}
	count := func(get func(webhook.Counts) int64) func() float64 {
		return func() float64 {
			// The metrics are declared before the webhook dispatcher exists.
			if a.webhooks == nil {
				return 0
			}
			return float64(get(a.webhooks.Counts()))
		}
	}
	return []httpapi.FuncMetric{
		{Name: "landfall_webhook_events_delivered_total", Help: "Events that webhook receivers accepted.", Counts: true,
			Read: count(func(c webhook.Counts) int64 { return c.Delivered })},
		{Name: "landfall_webhook_events_failed_total", Help: "Deliveries that failed and will be retried.", Counts: true,
			Read: count(func(c webhook.Counts) int64 { return c.Failed })},
		{Name: "landfall_webhook_events_given_up_total", Help: "Deliveries that were given up.", Counts: true,
			Read: count(func(c webhook.Counts) int64 { return c.Dead })},
		{Name: "landfall_webhooks_switched_off_total", Help: "Webhooks whose receiver answered 410 Gone.", Counts: true,
			Read: count(func(c webhook.Counts) int64 { return c.Gone })},
		{Name: "landfall_webhooks_active", Help: "Webhooks that events are delivered to.",
			Read: ask(func(f landfall.WebhookFigures) float64 { return float64(f.Active) })},
		{Name: "landfall_webhooks_failing", Help: "Webhooks whose receiver fails.",
			Read: ask(func(f landfall.WebhookFigures) float64 { return float64(f.Failing) })},
		{Name: "landfall_webhooks_gone", Help: "Webhooks that were disabled because their receiver is gone.",
			Read: ask(func(f landfall.WebhookFigures) float64 { return float64(f.Gone) })},
		{Name: "landfall_webhook_deliveries_waiting", Help: "Deliveries that failed and wait for a retry.",
			Read: ask(func(f landfall.WebhookFigures) float64 { return float64(f.Waiting) })},
		{Name: "landfall_webhook_deliveries_dead", Help: "Deliveries that were given up and not replayed.",
			Read: ask(func(f landfall.WebhookFigures) float64 { return float64(f.Dead) })},
		{Name: "landfall_webhook_lag_seconds", Help: "Age of the oldest event that has not been sent to some webhook yet.",
			Read: ask(func(f landfall.WebhookFigures) float64 {
				if f.Oldest.IsZero() {
					return 0
				}
				return max(0, time.Since(f.Oldest).Seconds())
			})},
	}
}

// webhookStats reads the state of the webhooks from the database.
func (a *App) webhookStats() (landfall.WebhookFigures, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limits.MetricsAge)
	defer cancel()
	complete, err := a.logWatcher.CompleteUpTo(ctx)
	if err != nil {
		return landfall.WebhookFigures{}, err
	}
	var found landfall.WebhookFigures
	err = a.store.View(ctx, func(view landfall.View) (err error) {
		found, err = view.WebhookFigures(ctx, complete)
		return err
	})
	if err != nil {
		return landfall.WebhookFigures{}, err
	}
	return found, nil
}
