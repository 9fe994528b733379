package sqlstore

import (
	"context"
	"encoding/json"
	"time"

	"landfall"
)

// targetColumns are in the order of scanTarget.
const targetColumns = `SELECT t.code, t.url, t.secrets, t.secret_env, t.shape, t.at_once, t.takes_back, t.state, t.created_at, t.due_at,
	t.attempts, t.failing_at, t.status, t.reason, t.delivered, t.delivered_at`

// scanTarget scans a target and any further columns of the query.
func scanTarget(scan scanner, target *landfall.Target, more ...any) error {
	var secrets []byte
	err := scan(append([]any{
		&target.Code, &target.URL, &secrets, &target.SecretEnv, &target.Shape, &target.AtOnce, &target.TakesBack, &target.State,
		instantInto{&target.CreatedAt}, instantInto{&target.DueAt}, &target.Attempts, instantInto{&target.FailingAt}, &target.Status,
		&target.Reason, &target.Delivered, instantInto{&target.DeliveredAt},
	}, more...)...)
	if err != nil {
		return err
	}
	target.Secrets, err = readSecrets(secrets)
	return err
}

// readSecrets decodes what secrets are derived from.
func readSecrets(text []byte) (secrets []landfall.WebhookSecret, err error) {
	var kept []storedSecret
	err = json.Unmarshal(text, &kept)
	for _, secret := range kept {
		one := landfall.WebhookSecret{Salt: secret.Salt, Key: secret.Key}
		if secret.Until != 0 {
			one.Until = time.UnixMicro(secret.Until).UTC()
		}
		secrets = append(secrets, one)
	}
	return secrets, err
}

// secretsText encodes what secrets are derived from.
func secretsText(secrets []landfall.WebhookSecret) (string, error) {
	kept := []storedSecret{}
	for _, secret := range secrets {
		one := storedSecret{Salt: secret.Salt, Key: secret.Key}
		if !secret.Until.IsZero() {
			one.Until = secret.Until.UnixMicro()
		}
		kept = append(kept, one)
	}
	text, err := json.Marshal(kept)
	return string(text), err
}

// Target returns the target with a code.
func (v *view) Target(ctx context.Context, code string) (landfall.Target, error) {
	found, err := v.targets(ctx, ` WHERE t.code = $1`, code)
	return firstOf(found, err, landfall.ErrNotFound)
}

// Target locks the target with a code and returns it.
func (t *tx) Target(ctx context.Context, code string) (landfall.Target, error) {
	if err := t.lock(ctx, `SELECT 1 FROM target held WHERE held.code = $1 {for_update}`, code); err != nil {
		return landfall.Target{}, err
	}
	return t.view.Target(ctx, code)
}

// Targets returns all targets, sorted by code.
func (v *view) Targets(ctx context.Context) ([]landfall.Target, error) {
	return v.targets(ctx, ` ORDER BY t.code`)
}

func (v *view) targets(ctx context.Context, which string, args ...any) ([]landfall.Target, error) {
	return collect(ctx, v.txSession, func(scan scanner, target *landfall.Target) error { return scanTarget(scan, target) },
		targetColumns+` FROM target t`+which, args...)
}

// SaveTarget creates a target or replaces its settings, and ends its claim. Requests
// of the holder may still be under way, and what became of them is not recorded.
func (t *tx) SaveTarget(ctx context.Context, target landfall.Target) error {
	secrets, err := secretsText(target.Secrets)
	if err != nil {
		return err
	}
	_, err = t.exec(ctx, `INSERT INTO target (code, url, secrets, secret_env, shape, at_once, takes_back, state, created_at, due_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, {now}, {now})
		ON CONFLICT (code) DO UPDATE SET url = excluded.url, secrets = excluded.secrets, secret_env = excluded.secret_env, shape = excluded.shape,
			at_once = excluded.at_once, takes_back = excluded.takes_back, state = excluded.state, due_at = {now}, attempts = 0, failing_at = NULL,
			uncertain_at = CASE WHEN target.lease_token IS NULL THEN target.uncertain_at ELSE {now} END, lease_token = NULL`,
		target.Code, target.URL, secrets, target.SecretEnv, target.Shape, int64(target.AtOnce), target.TakesBack, string(target.State))
	return err
}

// RemoveTarget deletes a target that no supplier names.
func (t *tx) RemoveTarget(ctx context.Context, code string) error {
	if _, err := t.Target(ctx, code); err != nil {
		return err
	}
	var named int
	if err := t.one(ctx, `SELECT count(*) FROM supplier WHERE target = $1`, []any{code}, []any{&named}); err != nil {
		return err
	}
	if named > 0 {
		return landfall.ErrExists
	}
	// What was delivered stays on record with its accounts. Only what waits is
	// deleted, because nothing would deliver it.
	if _, err := t.exec(ctx, `DELETE FROM target_delivery WHERE target = $1 AND state <> 'delivered'`, code); err != nil {
		return err
	}
	_, err := t.exec(ctx, `DELETE FROM target WHERE code = $1`, code)
	return err
}

// RetryDeliveries makes refused deliveries wait again.
func (t *tx) RetryDeliveries(ctx context.Context, code string, ids []int64) (int, error) {
	if _, err := t.Target(ctx, code); err != nil {
		return 0, err
	}
	const again = `UPDATE target_delivery SET state = 'waiting', due_at = {now}, settled_at = NULL
		WHERE target = $1 AND state = 'refused' AND held = FALSE`
	if len(ids) == 0 {
		count, err := t.exec(ctx, again, code)
		return int(count), err
	}
	total := 0
	for _, id := range ids {
		count, err := t.exec(ctx, again+` AND id = $2`, code, id)
		if err != nil {
			return 0, err
		}
		total += int(count)
	}
	return total, nil
}

// TargetFigures sums up every target.
func (v *view) TargetFigures(ctx context.Context) ([]landfall.TargetFigures, error) {
	return collect(ctx, v.txSession, func(scan scanner, f *landfall.TargetFigures) error {
		return scanTarget(scan, &f.Target, &f.Waiting, &f.Pending, &f.Refused, instantInto{&f.OldestAt})
	}, targetColumns+`, (SELECT count(*) FROM target_delivery d WHERE d.target = t.code AND d.due_at IS NOT NULL),
		(SELECT count(*) FROM target_delivery d WHERE d.target = t.code AND d.state = 'pending'),
		(SELECT count(*) FROM target_delivery d WHERE d.target = t.code AND d.state = 'refused'),
		(SELECT d.at FROM target_delivery d WHERE d.target = t.code AND d.due_at IS NOT NULL ORDER BY d.target, d.due_at LIMIT 1)
		FROM target t ORDER BY t.code`)
}

// deliveryColumns of a target begin with what identifies the delivery.
const targetDeliveryColumns = `SELECT d.id, d.at, d.target, s.code, d.external, coalesce(p.account_number, ''), d.kind, d.state, d.held, d.attempts, d.due_at,
	d.settled_at, d.status, d.reply, d.target_id`

const targetDeliveryTables = ` FROM target_delivery d JOIN process p ON p.id = d.account_id JOIN supplier s ON s.id = d.supplier_id`

// scanTargetDelivery scans a delivery and any further columns of the query.
func (v *view) scanTargetDelivery(scan scanner, d *landfall.TargetDelivery, more ...any) error {
	return scan(append([]any{
		&d.ID, instantInto{&d.At}, &d.Target, &d.Key.Supplier, &d.Key.External, &d.Number, &d.Kind, &d.State, &d.Held, &d.Attempts,
		instantInto{&d.DueAt}, instantInto{&d.SettledAt}, &d.Status, v.sealer.scan("target_delivery", &d.ID).text("reply", &d.Reply), &d.TargetID,
	}, more...)...)
}

// targetDeliveries returns the deliveries that a condition selects.
func (v *view) targetDeliveries(ctx context.Context, which string, args ...any) ([]landfall.TargetDelivery, error) {
	return collect(ctx, v.txSession, func(scan scanner, d *landfall.TargetDelivery) error { return v.scanTargetDelivery(scan, d) },
		targetDeliveryColumns+targetDeliveryTables+which, args...)
}

// TargetDelivery returns one delivery.
func (v *view) TargetDelivery(ctx context.Context, id int64) (landfall.TargetDelivery, error) {
	found, err := v.targetDeliveries(ctx, ` WHERE d.id = $1`, id)
	return firstOf(found, err, landfall.ErrNotFound)
}

// TargetDeliveries returns deliveries, oldest first.
func (v *view) TargetDeliveries(ctx context.Context, query landfall.TargetDeliveryQuery) ([]landfall.TargetDelivery, error) {
	const order = ` AND d.id > $1 ORDER BY d.id LIMIT $2`
	args := []any{query.After, int64(query.Limit)}
	switch {
	case query.Key != nil:
		return v.targetDeliveries(ctx, ` WHERE d.account_id = (SELECT p.id FROM process p JOIN supplier s ON s.id = p.supplier_id
			WHERE s.code = $3 AND p.external = $4)`+order, append(args, query.Key.Supplier, query.Key.External)...)
	case query.State == landfall.TargetWaiting:
		return v.targetDeliveries(ctx, ` WHERE d.target = $3 AND d.due_at IS NOT NULL AND d.id > $1 ORDER BY d.due_at, d.id LIMIT $2`, append(args, query.Target)...)
	case query.State != "":
		return v.targetDeliveries(ctx, ` WHERE d.target = $3 AND d.state = $4`+order, append(args, query.Target, string(query.State))...)
	}
	return v.targetDeliveries(ctx, ` WHERE d.target = $3`+order, append(args, query.Target)...)
}

// worstDelivery is the state of the deliveries of account p that matters most.
const worstDelivery = `coalesce((SELECT CASE max(CASE d.state WHEN 'refused' THEN 4 WHEN 'pending' THEN 3 WHEN 'waiting' THEN 2 ELSE 1 END)
	WHEN 4 THEN 'refused' WHEN 3 THEN 'pending' WHEN 2 THEN 'waiting' WHEN 1 THEN 'delivered' END
	FROM target_delivery d WHERE d.account_id = p.id), '')`

// AccountDelivery returns how far the deliveries of an account are. The name of the
// account at the target is the first that it gave: what it says about later postings
// is theirs.
func (v *view) AccountDelivery(ctx context.Context, key landfall.Key) (found landfall.AccountDelivery, err error) {
	err = v.one(ctx, `SELECT `+worstDelivery+`, coalesce((SELECT d.target_id FROM target_delivery d WHERE d.account_id = p.id AND d.target_id <> '' ORDER BY d.id LIMIT 1), ''),
		coalesce((SELECT max(d.target) FROM target_delivery d WHERE d.account_id = p.id), '')
		FROM process p JOIN supplier s ON s.id = p.supplier_id WHERE s.code = $1 AND p.external = $2`,
		[]any{key.Supplier, key.External}, []any{&found.State, &found.TargetID, &found.Target})
	return found, err
}
