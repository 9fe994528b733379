package sqlstore

import (
	"context"
	"encoding/json"

	"landfall"
)

// Events gives the events about one process, oldest first.
func (v *view) Events(ctx context.Context, key landfall.Key) ([]landfall.Event, error) {
	return collect(ctx, v.session, func(scan scanner, event *landfall.Event) error {
		var details []byte
		var at int64
		event.Key = key
		if err := scan(&event.Type, &event.AccountNumber, &at, &details); err != nil {
			return err
		}
		event.At = moment(at)
		return json.Unmarshal(details, &event.Details)
	}, `SELECT type, account_number, at, details FROM event
		WHERE supplier = $1 AND external = $2 ORDER BY id`, key.Supplier, key.External)
}

// AppendEvent keeps an event.
func (t *tx) AppendEvent(ctx context.Context, event landfall.Event) error {
	details, err := json.Marshal(event.Details)
	if err != nil {
		return err
	}
	_, err = t.exec(ctx, `INSERT INTO event (type, supplier, external, account_number, at, details)
		VALUES ($1, $2, $3, $4, {now}, $5)`,
		string(event.Type), event.Key.Supplier, event.Key.External, event.AccountNumber, string(details))
	return err
}

// Audit gives the audit entries about one subject, oldest first.
func (v *view) Audit(ctx context.Context, subject string) ([]landfall.AuditEntry, error) {
	return collect(ctx, v.session, func(scan scanner, entry *landfall.AuditEntry) error {
		var at int64
		err := scan(&at, &entry.Actor, &entry.Action, &entry.Subject, &entry.Detail)
		entry.At = moment(at)
		return err
	}, `SELECT at, actor, action, subject, detail FROM audit WHERE subject = $1 ORDER BY id`, subject)
}

// AppendAudit keeps an audit entry.
func (t *tx) AppendAudit(ctx context.Context, entry landfall.AuditEntry) error {
	_, err := t.exec(ctx, `INSERT INTO audit (at, actor, action, subject, detail)
		VALUES ({now}, $1, $2, $3, $4)`, entry.Actor, entry.Action, entry.Subject, entry.Detail)
	return err
}
