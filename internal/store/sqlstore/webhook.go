package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"

	"landfall"
)

// webhookColumns are in the order of scanWebhook.
const webhookColumns = `SELECT w.name, w.organisation, w.url, w.types, w.suppliers, w.secrets, w.state, w.position, w.created_at, w.due_at,
	w.attempts, w.failing_at, w.delivered, w.delivered_at, w.include_data`

// scanWebhook scans a webhook and any further columns of the query.
func scanWebhook(scan scanner, webhook *landfall.Webhook, more ...any) error {
	var types, suppliers, secrets []byte
	var created, due int64
	var failing, delivered sql.NullInt64
	err := scan(append([]any{
		&webhook.Name, &webhook.Organisation, &webhook.URL, &types, &suppliers, &secrets, &webhook.State, &webhook.Position, &created, &due,
		&webhook.Attempts, &failing, &webhook.Delivered, &delivered, &webhook.IncludeData,
	}, more...)...)
	if err != nil {
		return err
	}
	webhook.CreatedAt, webhook.DueAt, webhook.FailingAt, webhook.DeliveredAt = moment(created), moment(due), instant(failing), instant(delivered)
	webhook.Secrets, err = readSecrets(secrets)
	return errors.Join(err, json.Unmarshal(types, &webhook.Types), json.Unmarshal(suppliers, &webhook.Suppliers))
}

// storedSecret is the stored form of what a secret is derived from.
type storedSecret struct {
	Salt  string `json:"salt"`
	Key   string `json:"key"`
	Until int64  `json:"until,omitempty"`
}

// Webhook returns the webhook with a name.
func (v *view) Webhook(ctx context.Context, name string) (landfall.Webhook, error) {
	found, err := v.webhooks(ctx, ` WHERE w.name = $1`, name)
	return firstOf(found, err, landfall.ErrNotFound)
}

// Webhook locks the webhook with a name and returns it.
func (t *tx) Webhook(ctx context.Context, name string) (landfall.Webhook, error) {
	if err := t.lock(ctx, `SELECT 1 FROM webhook held WHERE held.name = $1 {for_update}`, name); err != nil {
		return landfall.Webhook{}, err
	}
	return t.view.Webhook(ctx, name)
}

// Webhooks returns the webhooks of an organisation, or all if it is empty,
// sorted by name.
func (v *view) Webhooks(ctx context.Context, organisation string) ([]landfall.Webhook, error) {
	if organisation == "" {
		return v.webhooks(ctx, ` ORDER BY w.name`)
	}
	return v.webhooks(ctx, ` WHERE w.organisation = $1 ORDER BY w.name`, organisation)
}

// webhooks returns the webhooks that a condition selects.
func (v *view) webhooks(ctx context.Context, which string, args ...any) ([]landfall.Webhook, error) {
	return collect(ctx, v.txSession, func(scan scanner, webhook *landfall.Webhook) error { return scanWebhook(scan, webhook) },
		webhookColumns+` FROM webhook w`+which, args...)
}

// webhookSettings returns the columns that an operator sets.
func webhookSettings(webhook landfall.Webhook) ([]any, error) {
	// Copy into non-nil slices, because JSON encodes nil slices as null.
	types, typesErr := json.Marshal(append([]landfall.EventType{}, webhook.Types...))
	suppliers, suppliersErr := json.Marshal(append([]string{}, webhook.Suppliers...))
	secrets, secretsErr := secretsText(webhook.Secrets)
	return []any{
		webhook.Name, webhook.URL, string(types), string(suppliers), secrets, string(webhook.State), webhook.Position, webhook.IncludeData,
	}, errors.Join(typesErr, suppliersErr, secretsErr)
}

// CreateWebhook stores a new webhook.
func (t *tx) CreateWebhook(ctx context.Context, webhook landfall.Webhook) error {
	settings, err := webhookSettings(webhook)
	if err != nil {
		return err
	}
	// If the name is taken, no row changes. A failed INSERT would abort the
	// transaction on PostgreSQL, with everything else in it.
	return orIfUnchanged(landfall.ErrExists)(t.exec(ctx, `INSERT INTO webhook
		(name, url, types, suppliers, secrets, state, position, include_data, organisation, created_at, due_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, {now}, {now}) ON CONFLICT (name) DO NOTHING`, append(settings, webhook.Organisation)...))
}

// SaveWebhook replaces the settings of a webhook and ends its claim.
func (t *tx) SaveWebhook(ctx context.Context, webhook landfall.Webhook) error {
	settings, err := webhookSettings(webhook)
	if err != nil {
		return err
	}
	// Fence off a sender that is delivering right now: by saving its round it
	// would reset the position.
	return orIfUnchanged(landfall.ErrNotFound)(t.exec(ctx, `UPDATE webhook SET url = $2, types = $3, suppliers = $4, secrets = $5, state = $6,
		position = $7, include_data = $8, due_at = {now}, attempts = 0, failing_at = NULL, lease_token = NULL, lease_until = NULL WHERE name = $1`, settings...))
}

// RemoveWebhook deletes a webhook with everything about it.
func (t *tx) RemoveWebhook(ctx context.Context, name string) error {
	return orIfUnchanged(landfall.ErrNotFound)(t.exec(ctx, `DELETE FROM webhook WHERE name = $1`, name))
}

// Replay makes dead deliveries wait for delivery again.
func (t *tx) Replay(ctx context.Context, name string, events []int64) (int, error) {
	// Reset the age as well: the schedule counts from the first failure and
	// would give the delivery up at the next one.
	const revive = `UPDATE webhook_delivery SET state = 'waiting', attempts = 0, first_at = {now}, due_at = {now}
		WHERE webhook = $1 AND state = 'dead'`
	if len(events) == 0 {
		count, err := t.exec(ctx, revive, name)
		return int(count), err
	}
	total := 0
	for _, event := range events {
		count, err := t.exec(ctx, revive+` AND event_id = $2`, name, event)
		if err != nil {
			return 0, err
		}
		total += int(count)
	}
	return total, nil
}

// Rounds returns the last rounds, newest first.
func (v *view) Rounds(ctx context.Context, name string, most int) ([]landfall.RoundEntry, error) {
	return collect(ctx, v.txSession, func(scan scanner, entry *landfall.RoundEntry) error {
		var at, took int64
		err := scan(&at, &entry.Position, &entry.Delivered, &entry.Failed, &entry.Dead, &entry.Status, &entry.Reason, &took)
		entry.At, entry.Took = moment(at), time.Duration(took)*time.Microsecond
		return err
	}, `SELECT at, position, delivered, failed, dead, status, reason, took FROM webhook_round
		WHERE webhook = $1 ORDER BY webhook DESC, id DESC LIMIT $2`, name, int64(most))
}

// deliveryColumns begin with the event, as scanEvent reads it.
const deliveryColumns = `SELECT e.id, e.type, e.supplier, e.external, e.account_number, e.at, e.details,
	d.state, d.attempts, d.first_at, d.due_at, d.status, d.reason FROM webhook_delivery d JOIN event e ON e.id = d.event_id`

// scanDelivery reads a delivery with its event.
func scanDelivery(scan scanner, delivery *landfall.Delivery) error {
	var first int64
	var due sql.NullInt64
	err := scanEvent(func(into ...any) error {
		return scan(append(into, &delivery.State, &delivery.Attempts, &first, &due, &delivery.Status, &delivery.Reason)...)
	}, &delivery.Event)
	delivery.FirstAt, delivery.DueAt = moment(first), instant(due)
	return err
}

// Deliveries returns deliveries in a state, in the order of the log, and how
// many there are in all.
func (v *view) Deliveries(ctx context.Context, name string, state landfall.DeliveryState, most int) ([]landfall.Delivery, int, error) {
	var count int
	err := v.one(ctx, `SELECT count(*) FROM webhook_delivery WHERE webhook = $1 AND state = $2`, []any{name, string(state)}, []any{&count})
	if err != nil {
		return nil, 0, err
	}
	found, err := collect(ctx, v.txSession, scanDelivery,
		deliveryColumns+` WHERE d.webhook = $1 AND d.state = $2 ORDER BY d.webhook, d.event_id LIMIT $3`, name, string(state), int64(most))
	return found, count, err
}

// Undelivered counts the events that a webhook has not been sent yet.
func (v *view) Undelivered(ctx context.Context, webhook landfall.Webhook, limit int) (count int, err error) {
	granted, err := v.GrantedSuppliers(ctx, webhook.Organisation)
	if err != nil {
		return 0, err
	}
	suppliers, err := json.Marshal(webhook.SuppliersOf(granted))
	if err != nil {
		return 0, err
	}
	wanted, args := ``, []any{string(suppliers), webhook.Position, int64(limit)}
	if len(webhook.Types) > 0 {
		types, err := json.Marshal(webhook.Types)
		if err != nil {
			return 0, err
		}
		wanted, args = ` AND e.type IN (SELECT kind.value FROM {each}($4) AS kind)`, append(args, string(types))
	}
	err = v.one(ctx, `SELECT count(*) FROM (SELECT 1 FROM {each}($1) AS wanted JOIN event e ON e.supplier = wanted.value AND e.id > $2`+wanted+
		` LIMIT $3) AS behind`, args, []any{&count})
	return count, err
}

// WebhookFigures sums up all webhooks.
func (v *view) WebhookFigures(ctx context.Context, upTo int64) (landfall.WebhookFigures, error) {
	var figures landfall.WebhookFigures
	var oldest sql.NullInt64
	err := v.one(ctx, `SELECT count(CASE WHEN state = 'active' THEN 1 END), count(CASE WHEN failing_at IS NOT NULL THEN 1 END),
		count(CASE WHEN state = 'gone' THEN 1 END) FROM webhook`, nil, []any{&figures.Active, &figures.Failing, &figures.Gone})
	if err != nil {
		return figures, err
	}
	err = v.one(ctx, `SELECT count(CASE WHEN state = 'waiting' THEN 1 END), count(CASE WHEN state = 'dead' THEN 1 END) FROM webhook_delivery`,
		nil, []any{&figures.Waiting, &figures.Dead})
	if err != nil {
		return figures, err
	}
	// The oldest new event of each supplier that a webhook may want takes one
	// index lookup.
	err = v.one(ctx, `SELECT min((SELECT e.at FROM event e WHERE e.supplier = s.code AND e.id > w.position AND e.id <= $1
			ORDER BY e.supplier, e.id LIMIT 1))
		FROM webhook w JOIN supplier_grant g ON g.organisation = w.organisation JOIN supplier s ON s.id = g.supplier_id
		WHERE w.state = 'active'`, []any{upTo}, []any{&oldest})
	figures.Oldest = instant(oldest)
	return figures, err
}
