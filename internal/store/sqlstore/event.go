package sqlstore

import (
	"context"
	"encoding/json"

	"landfall"
)

// Events returns the events about one process, oldest first.
func (v *view) Events(ctx context.Context, key landfall.Key) ([]landfall.Event, error) {
	// What the service did by itself has no key but belongs to the list too:
	// hence the outer join.
	return collect(ctx, v.txSession, func(scan scanner, event *landfall.Event) error {
		var details []byte
		var at int64
		event.Key = key
		if err := scan(&event.Type, &event.AccountNumber, &at, &details, textInto{&event.By.KeyID},
			textInto{&event.By.RequestID}, textInto{&event.By.Organisation}); err != nil {
			return err
		}
		event.At = moment(at)
		return json.Unmarshal(details, &event.Details)
	}, `SELECT e.type, e.account_number, e.at, e.details, e.key_id, e.request_id, k.organisation
		FROM event e LEFT JOIN api_key k ON k.id = e.key_id
		WHERE e.supplier = $1 AND e.external = $2 ORDER BY e.id`, key.Supplier, key.External)
}

// AppendEvent stores an event.
func (t *tx) AppendEvent(ctx context.Context, event landfall.Event) error {
	details, err := json.Marshal(event.Details)
	if err != nil {
		return err
	}
	_, err = t.exec(ctx, `INSERT INTO event (type, supplier, external, account_number, at, details, key_id, request_id)
		VALUES ($1, $2, $3, $4, {now}, $5, $6, $7)`,
		string(event.Type), event.Key.Supplier, event.Key.External, event.AccountNumber, string(details),
		textArg(event.By.KeyID), textArg(event.By.RequestID))
	return err
}
