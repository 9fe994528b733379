package sqlstore_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"landfall"
	"landfall/internal/store/sqlstore"
)

// setBack makes everything in a database look as if the clock had been set back:
// the instants in it are later by as much.
func setBack(t *testing.T, store *sqlstore.Store, by time.Duration) {
	t.Helper()
	for _, one := range waits {
		table, column, _ := strings.Cut(one, ".")
		force(t, store, fmt.Sprintf(`UPDATE %s SET %s = %s + %d`, table, column, column, by.Microseconds()))
	}
}

// waits lists the columns with instants that something waits for, and that of
// the last look at the clock.
var waits = []string{
	"database_clock.seen_at", "process.claim_until", "dry_run_lease.until", "run_slice.until", "run_slice.next_at", "webhook.due_at",
	"webhook.lease_until", "webhook_delivery.due_at", "mail.due_at", "mail_sender.free_at", "mail_sender.open_until",
	"purge_schedule.due_at", "operator_session.ends_at", "operator_session.seen_at", "api_key.used_at", "replica.seen_at",
}

// TestNothingWaitsForAClockThatWasSetBack fills every column with an instant
// that something waits for a minute for, and sets the clock back by an hour. All
// of it once waited for that hour.
func TestNothingWaitsForAClockThatWasSetBack(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store := openStaged(t, url)
		if _, err := store.CheckClock(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{
			`INSERT INTO organisation (name, disabled, created_at) VALUES ('O', FALSE, 1)`,
			`INSERT INTO api_key (id, organisation, role, secret_hash, created_at, used_at) VALUES ('k', 'O', 'importer', CAST('x' AS {bytes}), 1, {now})`,
			`UPDATE process SET state = 'claimed', claim_token = 'x', claim_until = {now} + 60000000`,
			`INSERT INTO dry_run_lease (token, supplier_id, until) SELECT 'd', id, {now} + 60000000 FROM supplier`,
			`INSERT INTO run (number, supplier_id, team, dry_run, selection, sample, most, at_once, state, cancelling, reason, created_at, worked,
				cursor_at, cursor_external, seen, selected, chosen) SELECT 'r', id, 'T', FALSE, 'pending', 0, 0, 0, 'RUNNING', FALSE, '', 1, 0, 0, '', 0, 1, TRUE FROM supplier`,
			`INSERT INTO run_slice (run_id, slice, size, succeeded, failed, refused, token, until, width, next_at, tries, done)
				SELECT id, 0, 1, 0, 0, 0, 'x', {now} + 60000000, 1, {now} + 60000000, 1, FALSE FROM run`,
			`INSERT INTO webhook (name, organisation, url, types, suppliers, include_data, secrets, state, position, created_at, due_at, lease_token, lease_until)
				VALUES ('w', 'O', 'https://example.com', '[]', '[]', FALSE, '[]', 'active', 0, 1, {now} + 60000000, 'x', {now} + 60000000)`,
			`INSERT INTO event (type, supplier, external, account_number, at, details) VALUES ('x', 'S', '1', '', 1, '{}')`,
			`INSERT INTO webhook_delivery (webhook, event_id, supplier, external, state, attempts, first_at, due_at, status, reason)
				SELECT 'w', id, 'S', '1', 'waiting', 1, 1, {now} + 60000000, 500, 'x' FROM event`,
			`INSERT INTO mail (account_id, supplier, kind, recipient, queued_at, state, due_at) VALUES (1, 'S', 'migrated', 'x', 1, 'queued', {now} + 60000000)`,
			`UPDATE mail_sender SET free_at = {now}, open_until = {now} + 60000000`,
			`UPDATE purge_schedule SET due_at = {now} + 60000000`,
			`INSERT INTO replica (id, host, version, started_at, seen_at) VALUES ('r', 'h', 'v', 1, {now})`,
		} {
			force(t, store, text)
		}
		err := store.Update(t.Context(), func(tx landfall.Tx) error {
			if err := tx.CreateOperator(t.Context(), landfall.Operator{Name: "o", Role: landfall.ConsoleOperator}); err != nil {
				return err
			}
			return tx.StartSession(t.Context(), landfall.Session{ID: "i", Operator: "o"}, time.Minute)
		})
		if err != nil {
			t.Fatal(err)
		}
		setBack(t, store, time.Hour)
		// Of several servers one moves the instants.
		other := openStore(t, url)
		var group sync.WaitGroup
		for _, server := range []*sqlstore.Store{store, other, store, other} {
			group.Go(func() {
				if _, err := server.CheckClock(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		for _, one := range waits {
			table, column, _ := strings.Cut(one, ".")
			late, err := store.Count(t.Context(), fmt.Sprintf(`SELECT count(*) FROM %s WHERE %s > {now} + 75000000 OR %s < {now} - 120000000`, table, column, column))
			if err != nil || late > 0 {
				t.Errorf("%s is not where it was: %d, %v", one, late, err)
			}
		}
		jump, err := store.LastClockJump(t.Context())
		if err != nil || jump.By > -59*time.Minute || jump.By < -61*time.Minute {
			t.Errorf("the jump is recorded as %s, %v", jump.By, err)
		}
		if found := readProcess(t, store); found.State != landfall.Claimed {
			t.Errorf("the claim is %s", found.State)
		}
		// Nothing is moved twice, and a clock that runs as it should moves nothing.
		if again, err := other.CheckClock(t.Context()); err != nil || again.SetBack != 0 {
			t.Errorf("%+v, %v", again, err)
		}
	})
}
