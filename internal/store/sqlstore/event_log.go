package sqlstore

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"landfall"
)

// Watermark polls the log of events and returns the watermark after the given
// one.
func (s *Store) Watermark(ctx context.Context, before landfall.Watermark) (landfall.Watermark, error) {
	return s.pollWatermark(ctx, "event", before)
}

// pollWatermark polls a table that only grows and returns the next watermark. A
// transaction that inserts a row locks the table before the id is drawn and
// until its commit is visible. So the locks show which transactions may still
// add a row below the newest one. It does not look at all transactions of the
// server, because some are not ours and last for hours. The order matters: the
// snapshot that shows the newest row must be older than the query of the locks.
func (s *Store) pollWatermark(ctx context.Context, table string, before landfall.Watermark) (landfall.Watermark, error) {
	var after landfall.Watermark
	err := s.View(ctx, func(read landfall.View) error {
		v := read.(*view) //nolint:forcetypeassert // View made it
		var last int64
		if err := v.one(ctx, `SELECT coalesce(max(id), 0) FROM `+table, nil, []any{&last}); err != nil {
			return err
		}
		var writing []string
		if !v.engine.SingleWriter() {
			found, err := collect(ctx, v.txSession, func(scan scanner, one *string) error { return scan(one) },
				`SELECT virtualtransaction FROM pg_locks WHERE locktype = 'relation' AND relation = '`+table+`'::regclass
				AND mode = 'RowExclusiveLock' AND granted
				AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
			if err != nil {
				return err
			}
			writing = found
		}
		after = before.Next(last, writing)
		return nil
	})
	if err != nil {
		return before, err // ignore what was filled in
	}
	return after, nil
}

// eventColumns selects the columns that are published. The author of an event
// is not published.
const eventColumns = `SELECT e.id, e.type, e.supplier, e.external, e.account_number, e.at, e.details FROM event e`

// scanEvent scans eventColumns. Deliveries, which read more columns, use it
// too.
func scanEvent(scan scanner, event *landfall.Event) error {
	var at int64
	var details []byte
	if err := scan(&event.ID, &event.Type, &event.Key.Supplier, &event.Key.External, &event.AccountNumber, &at, &details); err != nil {
		return err
	}
	event.At = moment(at)
	return json.Unmarshal(details, &event.Details)
}

// EventsAfter returns events in the order of the log. The events of each
// supplier are read from their own index and then merged, so that the cost
// depends on the length of the answer and not on how much others have written.
func (v *view) EventsAfter(ctx context.Context, query landfall.EventQuery) ([]landfall.Event, error) {
	suppliers := query.Suppliers
	if len(suppliers) > 1 {
		wanted, err := json.Marshal(suppliers)
		if err != nil {
			return nil, err
		}
		suppliers, err = collect(ctx, v.txSession, func(scan scanner, one *string) error { return scan(one) },
			`SELECT wanted.value FROM {each}($1) AS wanted WHERE EXISTS
				(SELECT 1 FROM event e WHERE e.supplier = wanted.value AND e.id > $2 AND e.id <= $3)`,
			string(wanted), query.After, query.UpTo)
		if err != nil {
			return nil, err
		}
	}
	var merged []landfall.Event
	for _, supplier := range suppliers {
		found, err := collect(ctx, v.txSession, scanEvent,
			eventColumns+` WHERE e.supplier = $1 AND e.id > $2 AND e.id <= $3 ORDER BY e.supplier, e.id LIMIT $4`,
			supplier, query.After, query.UpTo, int64(query.Limit))
		if err != nil {
			return nil, err
		}
		merged = append(merged, found...)
		slices.SortFunc(merged, func(a, b landfall.Event) int { return cmp.Compare(a.ID, b.ID) })
		merged = merged[:min(len(merged), query.Limit)]
	}
	return merged, nil
}

// LoggedEvent returns one event by its id.
func (v *view) LoggedEvent(ctx context.Context, id int64) (landfall.Event, error) {
	found, err := collect(ctx, v.txSession, scanEvent, eventColumns+` WHERE e.id = $1`, id)
	return firstOf(found, err, landfall.ErrNotFound)
}

// LastEvent returns the last event of a supplier up to an id.
func (v *view) LastEvent(ctx context.Context, supplier string, upTo int64) (landfall.Event, error) {
	found, err := collect(ctx, v.txSession, scanEvent, eventColumns+` WHERE e.supplier = $1 AND e.id <= $2
		ORDER BY e.supplier DESC, e.id DESC LIMIT 1`, supplier, upTo)
	return firstOf(found, err, landfall.ErrNotFound)
}

// SuppliersWithEvents returns the codes of the suppliers with events in a range
// of the log.
func (v *view) SuppliersWithEvents(ctx context.Context, after, upTo int64) ([]string, error) {
	return collect(ctx, v.txSession, func(scan scanner, one *string) error { return scan(one) },
		`SELECT DISTINCT e.supplier FROM event e WHERE e.id > $1 AND e.id <= $2`, after, upTo)
}

// LastEventBefore returns an event id such that everything that happened at an
// instant or later has a higher id. Times follow the order of the log except
// for clockSkew, so a binary search finds the id.
func (v *view) LastEventBefore(ctx context.Context, at time.Time) (int64, error) {
	var low, high int64 // the id is in [low, high]
	if err := v.one(ctx, `SELECT coalesce(max(id), 0) FROM event`, nil, []any{&high}); err != nil {
		return 0, err
	}
	wanted := at.Add(-clockSkew).UnixMicro()
	for low < high {
		middle := low + (high-low+1)/2
		var found, when int64
		err := v.one(ctx, `SELECT id, at FROM event WHERE id <= $1 ORDER BY id DESC LIMIT 1`, []any{middle}, []any{&found, &when})
		switch {
		case errors.Is(err, landfall.ErrNotFound):
			low = middle
		case err != nil:
			return 0, err
		case when < wanted:
			low = middle
		default:
			high = found - 1
		}
	}
	return low, nil
}

// clockSkew is how much earlier the time of an event may be than that of an
// event before it in the log. Transactions overlap, and database clocks are
// adjusted.
const clockSkew = time.Minute

// GrantedSuppliers returns the codes of the suppliers that an organisation has
// access to, sorted.
func (v *view) GrantedSuppliers(ctx context.Context, organisation string) ([]string, error) {
	codes, err := collect(ctx, v.txSession, func(scan scanner, one *string) error { return scan(one) },
		`SELECT s.code FROM supplier_grant g JOIN supplier s ON s.id = g.supplier_id WHERE g.organisation = $1`, organisation)
	slices.SortFunc(codes, strings.Compare)
	return codes, err
}
