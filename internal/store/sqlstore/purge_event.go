package sqlstore

import (
	"context"
	"time"

	"landfall"
	"landfall/internal/store/sqlset"
)

// webhooksOf selects the webhooks that receive events of supplier $1, enabled
// or not.
const webhooksOf = ` FROM webhook w JOIN supplier_grant g ON g.organisation = w.organisation JOIN supplier s ON s.id = g.supplier_id
	WHERE s.code = $1 AND (CAST(w.suppliers AS TEXT) = '[]' OR EXISTS (SELECT 1 FROM {each}(w.suppliers) AS one WHERE one.value = $1))`

// neededEvents selects the event of supplier $1 up to which all events are no
// longer needed: every webhook for this supplier has received them. The newest
// event always stays, since positions in the log are counted from it.
const neededEvents = `SELECT coalesce(min(needed.through), 0) FROM (
		SELECT max(e.id) - 1 AS through FROM event e WHERE e.supplier = $1
		UNION ALL SELECT w.position` + webhooksOf + `
	) AS needed`

// loggedPage selects events of a supplier in order, each with whether it is
// older than $2 and whether a webhook has a delivery for it that is still
// pending or has been given up. Such events are yet to be delivered or
// replayed.
const loggedPage = `SELECT e.id, e.at, e.at < (SELECT {now}) - $2, EXISTS (SELECT 1 FROM webhook_delivery d WHERE d.event_id = e.id)
	FROM event e WHERE e.supplier = $1 AND e.id > $3 AND e.id <= $4 ORDER BY e.supplier, e.id LIMIT $5`

// oldEvents is a page of events to be purged.
type oldEvents struct {
	ids      []int64
	last, at int64 // the last event that was looked at and old enough, and the latest time
	more     bool
}

// purgeEvents removes events from the beginning of a supplier's log up to the
// first that is too new or still needed. So the only gap is at the beginning,
// and one position tells every reader of the log whether it missed something.
func purgeEvents(ctx context.Context, s *Store, part *purgePage) (gone landfall.PurgeCounts, next landfall.PurgeCursor, more bool, err error) {
	var old oldEvents
	err = s.stream(ctx, func(v *view) (err error) {
		old, err = v.oldEvents(ctx, part)
		return err
	})
	if err != nil {
		return landfall.PurgeCounts{}, landfall.PurgeCursor{}, false, err
	}
	gone.Events = len(old.ids)
	if len(old.ids) > 0 && !part.dry {
		err = s.update(ctx, landfall.Key{}, func(t *tx) (err error) {
			gone.Events, err = t.deleteEvents(ctx, part.code, old)
			return err
		})
	}
	return gone, landfall.PurgeCursor{Number: old.last}, old.more, err
}

func (v *view) oldEvents(ctx context.Context, part *purgePage) (old oldEvents, err error) {
	upTo, err := v.neededEvents(ctx, part.code)
	if err != nil {
		return oldEvents{}, err
	}
	looked, young := 0, false
	_, err = collect(ctx, v.txSession, func(scan scanner, _ *struct{}) error {
		var id, at int64
		var due, waits bool
		if err := scan(&id, &at, &due, &waits); err != nil {
			return err
		}
		looked++
		if young = young || !due; young {
			return nil
		}
		old.last, old.at = id, max(old.at, at)
		if !waits {
			old.ids = append(old.ids, id)
		}
		return nil
	}, loggedPage, part.code, part.keep.Microseconds(), part.from.Number, upTo, int64(purgeBatch))
	old.more = looked == purgeBatch && !young
	return old, err
}

// neededEvents returns the last event that is no longer needed.
func (v *view) neededEvents(ctx context.Context, supplier string) (through int64, err error) {
	err = v.one(ctx, neededEvents, []any{supplier}, []any{&through})
	return through, err
}

// deleteEvents deletes the events, unless they have become needed since they
// were read, and records up to which event the log is purged.
func (t *tx) deleteEvents(ctx context.Context, supplier string, old oldEvents) (int, error) {
	upTo, err := t.neededEvents(ctx, supplier)
	if err != nil || upTo < old.last {
		return 0, err
	}
	these, list := sqlset.Among(t.engine, old.ids)
	count, err := t.exec(ctx, `DELETE FROM event WHERE id`+these+` AND NOT EXISTS (SELECT 1 FROM webhook_delivery d WHERE d.event_id = event.id)`, list)
	if err != nil {
		return 0, err
	}
	_, err = t.exec(ctx, `INSERT INTO event_purge (supplier, through, at) VALUES ($1, $2, $3)
		ON CONFLICT (supplier) DO UPDATE SET
			through = CASE WHEN excluded.through > event_purge.through THEN excluded.through ELSE event_purge.through END,
			at = CASE WHEN excluded.at > event_purge.at THEN excluded.at ELSE event_purge.at END`, supplier, old.last, old.at)
	return int(count), err
}

// WebhooksHoldingEvents returns the names of the webhooks that have not
// received old events.
func (v *view) WebhooksHoldingEvents(ctx context.Context, supplier string, older time.Duration) ([]string, error) {
	return collect(ctx, v.txSession, func(scan scanner, name *string) error { return scan(name) },
		`SELECT w.name`+webhooksOf+` AND (
				(SELECT e.at FROM event e WHERE e.supplier = $1 AND e.id > w.position ORDER BY e.supplier, e.id LIMIT 1) < (SELECT {now}) - $2
				OR EXISTS (SELECT 1 FROM webhook_delivery d JOIN event e ON e.id = d.event_id
					WHERE d.webhook = w.name AND d.supplier = $1 AND e.at < (SELECT {now}) - $2))
			ORDER BY w.name`, supplier, older.Microseconds())
}

// PurgedEvents returns up to which event each supplier's log is purged.
func (v *view) PurgedEvents(ctx context.Context) (map[string]landfall.EventPosition, error) {
	gone := map[string]landfall.EventPosition{}
	_, err := collect(ctx, v.txSession, func(scan scanner, _ *struct{}) error {
		var supplier string
		var through, at int64
		err := scan(&supplier, &through, &at)
		gone[supplier] = landfall.EventPosition{ID: through, At: moment(at)}
		return err
	}, `SELECT supplier, through, at FROM event_purge`)
	return gone, err
}
