package sqlstore_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
	"landfall/internal/test/tooltest"
)

// readRows matches what PostgreSQL reports about the rows that a part of a plan
// read, and about those it read and discarded.
var readRows = regexp.MustCompile(`actual time=\S+ rows=([\d.]+) loops=(\d+)|Rows Removed by [\w ]+: (\d+)`)

// wantFewRows fails the test unless a query reads few rows.
func wantFewRows(t *testing.T, store *sqlstore.Store, index, text string, args ...any) {
	t.Helper()
	plan := wantIndex(t, store, index, text, args...)
	for _, line := range plan {
		if strings.HasPrefix(strings.TrimSpace(line), "SCAN") && !strings.Contains(line, "json_each") &&
			!strings.Contains(line, "SCAN pending") && !strings.Contains(line, "SCAN imported") {
			t.Errorf("all rows are read:\n%s", strings.Join(plan, "\n"))
		}
	}
}

// wantIndex fails the test unless a query uses an index and PostgreSQL read few
// rows. Small tables may be read whole. It returns the plan.
func wantIndex(t *testing.T, store *sqlstore.Store, index, text string, args ...any) []string {
	t.Helper()
	plan, err := store.Plan(t.Context(), text, args...)
	if err != nil {
		t.Fatal(err)
	}
	whole := strings.Join(plan, "\n")
	if !strings.Contains(whole, index) {
		t.Errorf("the index %s is not used:\n%s", index, whole)
	}
	rows := 0.0
	for _, found := range readRows.FindAllStringSubmatch(whole, -1) {
		each, _ := strconv.ParseFloat(found[1]+found[3], 64)
		loops, _ := strconv.ParseFloat("0"+found[2], 64)
		rows += each * max(1, loops)
	}
	if rows > 100 {
		t.Errorf("%v rows were looked at:\n%s", rows, whole)
	}
	return plan
}

// TestListOfPendingAfterAllWereCreated lists processes with a rare state in a
// book where nearly all have another: a list must cost only what it shows.
func TestListOfPendingAfterAllWereCreated(t *testing.T) {
	tooltest.SkipIfShort(t)
	states := map[string]string{
		"staged":   `'staged', NULL, NULL, NULL, NULL, NULL`,
		"failed":   `'staged', NULL, NULL, NULL, '{"code":"x","detail":""}', 1`,
		"imported": `'imported', 'A-' || CAST(n.i AS TEXT), 1, NULL, NULL, NULL`,
		"skipped":  `'skipped', NULL, NULL, 'why', '{"code":"x","detail":""}', 1`,
	}
	lists := map[string]landfall.ProcessFilter{
		"process_pending": landfall.PendingProcesses, "process_imported": landfall.ImportedProcesses,
		"process_skipped": landfall.SkippedProcesses, "process_": landfall.AllProcesses,
	}
	for common, columns := range states {
		t.Run("among "+common, func(t *testing.T) {
			onEach(t, func(t *testing.T, url string) {
				store := openStaged(t, url)
				force(t, store, fmt.Sprintf(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
					INSERT INTO process (supplier_id, external, revision, hash, first_staged_at, staged_at, state,
						account_number, account_created_at, skip_reason, failure, failed_at)
					SELECT s.id, 'N-' || CAST(n.i AS TEXT), 1, CAST('x' AS {bytes}), n.i, n.i, %s FROM n, supplier s`, columns))
				force(t, store, `ANALYZE`)
				supplier, err := store.Count(t.Context(), `SELECT id FROM supplier`)
				if err != nil {
					t.Fatal(err)
				}
				for index, filter := range lists {
					wantFewRows(t, store, index, sqlstore.ListText(filter), supplier, 0, "", 10, 1<<60)
				}
				wantFewRows(t, store, "process_", sqlstore.MixedListText, supplier, 0, "", 10, 1<<60)
				failed := "process_failed"
				if common == "failed" {
					failed = "process_" // where nearly all have failed, the index of all is as good
				}
				wantFewRows(t, store, failed, sqlstore.FailedText, supplier, "", 10)
			})
		})
	}
}

// readPages matches how many pages PostgreSQL read for a plan or a part of it.
var readPages = regexp.MustCompile(`Buffers: shared(?: hit=(\d+))?(?: read=(\d+))?`)

// TestPageOfListAfterAllWereCreated reads the first page of a list right after all
// accounts were created: PostgreSQL's index of the pending ones still has an entry of
// each, and a page must not go through all of them.
func TestPageOfListAfterAllWereCreated(t *testing.T) {
	store := openStaged(t, dbtest.Postgres(t))
	for _, text := range []string{
		`ALTER TABLE process SET (autovacuum_enabled = false)`,
		`INSERT INTO process (supplier_id, external, revision, hash, first_staged_at, staged_at, state)
			SELECT s.id, 'N-' || i, 1, 'x', i, i, 'staged' FROM generate_series(1, 20000) AS n (i), supplier s`,
		`UPDATE process SET state = 'imported', account_number = 'A-' || id, account_created_at = 1`,
		`ANALYZE`,
	} {
		force(t, store, text)
	}
	supplier, err := store.Count(t.Context(), `SELECT id FROM supplier`)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := store.Plan(t.Context(), sqlstore.ListText(landfall.AllProcesses), supplier, 0, "", 10, 1<<60)
	if err != nil {
		t.Fatal(err)
	}
	pages := 0
	whole := strings.Join(plan, "\n")
	found := readPages.FindStringSubmatch(whole) // the first counts the whole plan
	if found == nil {
		t.Fatal(whole)
	}
	for _, count := range found[1:] {
		number, _ := strconv.Atoi("0" + count)
		pages += number
	}
	if pages == 0 || pages > 60 {
		t.Errorf("%d pages were read:\n%s", pages, whole)
	}
}

// TestLongListOfMixedStates lists several batches: first created accounts, then created and
// pending ones in turn, then created ones again. Each is listed once and in order.
func TestLongListOfMixedStates(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store := openStaged(t, url) // with one account
		force(t, store, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4499)
			INSERT INTO process (supplier_id, external, revision, hash, first_staged_at, staged_at, state, account_number, account_created_at)
			SELECT s.id, 'N-' || CAST(n.i AS TEXT), 1, CAST('x' AS {bytes}), n.i / 7, n.i, 'staged', NULL, NULL FROM n, supplier s`)
		force(t, store, `UPDATE process SET state = 'imported', account_number = 'A-' || CAST(staged_at AS TEXT), account_created_at = 1
			WHERE staged_at <= 1800 OR staged_at % 2 = 0 OR staged_at BETWEEN 3000 AND 4499`)
		var listed []landfall.ProcessEntry
		for entry, err := range store.List(t.Context(), landfall.ProcessQuery{Supplier: testKey.Supplier}) {
			if err != nil {
				t.Fatal(err)
			}
			listed = append(listed, entry)
		}
		if len(listed) != 4500 {
			t.Fatalf("%d accounts are listed, want 4500", len(listed))
		}
		for i, entry := range listed[1:] {
			if before := listed[i]; !before.FirstStagedAt.Before(entry.FirstStagedAt) &&
				(!before.FirstStagedAt.Equal(entry.FirstStagedAt) || before.External >= entry.External) {
				t.Fatalf("%s is listed after %s", entry.External, before.External)
			}
		}
	})
}

// TestQueriesWithOneDominantOrganisation looks up transactions where one
// account has nearly all entries, each under the same id.
func TestQueriesWithOneDominantOrganisation(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store := openStore(t, url)
		prepareStore(t, store, "1")
		if _, err := store.Create(t.Context(), landfall.Creation{Claim: claimNumber(t, store, "1"), Account: sampleAccount(t)}); err != nil {
			t.Fatal(err)
		}
		account, err := store.Count(t.Context(), `SELECT id FROM account`)
		if err != nil {
			t.Fatal(err)
		}
		force(t, store, `WITH RECURSIVE n (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
			INSERT INTO ledger_entry (account_id, transaction_id, sequence, kind, closed, signed, balance, type, entered_on,
				reason, note)
			SELECT a.id, 'TWIN', n.i, 'transaction', FALSE, 0, 0, 'PAYMENT', '2026-01-01', '', '' FROM n, account a`)
		force(t, store, `UPDATE account SET ledger_length = 60000`)
		force(t, store, `ANALYZE`)
		text, args, err := store.EntriesText(int64(account), "TWIN", "other", "P-1")
		if err != nil {
			t.Fatal(err)
		}
		wantFewRows(t, store, "ledger_entry", text, args...)
		var seen []landfall.LedgerEntry
		if _, err := store.Post(t.Context(), landfall.Posting{
			Key: testKey, TransactionIDs: []string{"TWIN"},
			Decide: func(state landfall.AccountState) (landfall.Additions, error) {
				seen = state.Entries
				return landfall.Additions{}, nil
			},
		}); err != nil {
			t.Fatal(err)
		}
		if len(seen) != 1 || seen[0].Sequence != 100 {
			t.Errorf("%d entries were read, the first %+v", len(seen), seen[:min(1, len(seen))])
		}
	})
}

// TestEntryLookupWithoutStatistics looks up transactions before PostgreSQL has
// statistics about them. A plan made for an empty ledger went through all of an
// account's entries for each lookup, and is used until the table is analysed.
func TestEntryLookupWithoutStatistics(t *testing.T) {
	store, id := openCreated(t, dbtest.Postgres(t))
	for _, known := range []string{"", `INSERT INTO ledger_entry (account_id, transaction_id, sequence, kind, closed, signed, balance, type,
			entered_on, reason, note)
		SELECT a.id, 'T-' || i, i + 100, 'transaction', FALSE, 0, 0, 'PAYMENT', '2026-01-01', '', '' FROM generate_series(1, 5000) AS g (i), account a`,
		`ANALYZE`} {
		if known != "" {
			force(t, store, known)
		}
		text, args, err := store.EntriesText(id, "T-1", "T-4000", "P-1")
		if err != nil {
			t.Fatal(err)
		}
		plan, err := store.Plan(t.Context(), text, args...)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range plan {
			if strings.Contains(line, "using ledger_entry_transaction") && !strings.Contains(plan[i+1], "transaction_id") {
				t.Errorf("the whole index is read:\n%s", strings.Join(plan, "\n"))
			}
		}
	}
}

// TestNoteLookupAmongEqualNotes looks up a note on an account that has sixty
// thousand with the same text: a posting must cost only what it adds.
func TestNoteLookupAmongEqualNotes(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store := openStore(t, url)
		prepareStore(t, store, "1")
		if _, err := store.Create(t.Context(), landfall.Creation{Claim: claimNumber(t, store, "1"), Account: sampleAccount(t)}); err != nil {
			t.Fatal(err)
		}
		account, err := store.Count(t.Context(), `SELECT id FROM account`)
		if err != nil {
			t.Fatal(err)
		}
		note := landfall.Note{Body: "called, no answer", HasBody: true, CreatedAt: time.Unix(30_000, 0)}
		_, _, _, timed, err := store.NoteTexts(int64(account), note)
		if err != nil {
			t.Fatal(err)
		}
		digest := regexp.MustCompile(`-?\d{6,}`).FindString(fmt.Sprint(timed...))
		force(t, store, `WITH RECURSIVE n (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
			INSERT INTO note (account_id, digest, ordinal, body, created_at, pinned)
			SELECT a.id, `+digest+`, n.i, 'called, no answer', CAST(n.i AS BIGINT) * 1000000, FALSE FROM n, account a`)
		force(t, store, `UPDATE account SET note_count = 60000`)
		force(t, store, `ANALYZE`)
		first, timedText, firstArgs, timedArgs, err := store.NoteTexts(int64(account), note)
		if err != nil {
			t.Fatal(err)
		}
		wantFewRows(t, store, "", first, firstArgs...)
		wantFewRows(t, store, "note_created", timedText, timedArgs...)
		for _, at := range []time.Time{note.CreatedAt, {}} {
			note.CreatedAt = at
			var seen []landfall.Note
			if _, err := store.Post(t.Context(), landfall.Posting{
				Key: testKey, Notes: []landfall.Note{note},
				Decide: func(state landfall.AccountState) (landfall.Additions, error) {
					seen = state.Notes
					return landfall.Additions{}, nil
				},
			}); err != nil {
				t.Fatal(err)
			}
			if len(seen) == 0 || len(seen) > 4 || !at.IsZero() && !seen[0].CreatedAt.Equal(at) {
				t.Errorf("with the time %s these were read: %+v", at, seen)
			}
		}
	})
}

// TestDueMailsAmongManySettled looks for rare mails: one that is due among many
// that were sent, and among many that are not due yet.
func TestDueMailsAmongManySettled(t *testing.T) {
	for common, columns := range map[string]string{
		"sent": `'sent', NULL, 1`, "delayed": `'queued', 4000000000000000, NULL`, "refused": `'refused', NULL, 1`,
	} {
		t.Run("among "+common, func(t *testing.T) {
			onEach(t, func(t *testing.T, url string) {
				store, _ := openCreated(t, url)
				force(t, store, `UPDATE supplier SET send_customer_emails = TRUE`)
				force(t, store, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
					INSERT INTO mail (account_id, supplier, kind, recipient, queued_at, state, due_at, settled_at)
					SELECT a.id, 'S', 'k', CAST(n.i AS TEXT) || '@b.co', 1, `+columns+` FROM n, account a`)
				force(t, store, `INSERT INTO mail (account_id, supplier, kind, recipient, queued_at, state, due_at, settled_at)
					SELECT id, 'S', 'k', 'due@b.co', 1, 'queued', 1, NULL FROM account UNION ALL
					SELECT id, 'S', 'k', 'back@b.co', 1, 'bounced', NULL, 1 FROM account`)
				force(t, store, `ANALYZE`)
				wantIndex(t, store, "mail_due", sqlstore.SendableText, true)
				if common == "delayed" { // none is due
					force(t, store, `UPDATE mail SET due_at = 4000000000000000 WHERE due_at = 1`)
					wantIndex(t, store, "mail_due", sqlstore.SendableText, true)
				}
				wantIndex(t, store, "mail_due", strings.ReplaceAll(sqlstore.DueMailsText, "{for_update}", ""), "S", 10)
				wantIndex(t, store, "mail_due", sqlstore.WaitingMailsText, 10)
				if common != "delayed" {
					text, args := sqlstore.MailPage(landfall.MailQuery{State: landfall.MailQueued, Limit: 10})
					wantIndex(t, store, "mail_state", text, args...)
				}
				text, args := sqlstore.MailPage(landfall.MailQuery{State: landfall.MailBounced, Limit: 10})
				wantIndex(t, store, "mail_state", text, args...)
			})
		})
	}
}

// TestWebhookQueriesWithManyWaitingDeliveries looks for a webhook with work,
// and for the next delivery of an account, among many deliveries that are not
// due yet.
func TestWebhookQueriesWithManyWaitingDeliveries(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store := openStore(t, url)
		force(t, store, `INSERT INTO organisation (name, disabled, created_at) VALUES ('O', FALSE, 1)`)
		force(t, store, `INSERT INTO webhook (name, organisation, url, types, suppliers, include_data, secrets, state, position, created_at, due_at)
			VALUES ('W', 'O', '', '[]', '[]', FALSE, '[]', 'active', 0, 1, 1)`)
		for external, due := range map[string]string{"'behind'": "NULL", "CAST(n.i AS TEXT)": "4000000000000000"} {
			force(t, store, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
				INSERT INTO webhook_delivery (webhook, event_id, supplier, external, state, attempts, first_at, due_at, status, reason)
				SELECT 'W', n.i + (SELECT count(*) FROM webhook_delivery), 'S', `+external+`, 'waiting', 1, 1, `+due+`, 500, '' FROM n`)
		}
		force(t, store, `ANALYZE`)
		wantIndex(t, store, "webhook_delivery_due", sqlstore.ClaimableText, 1<<60, 10)
		next := strings.Split(sqlstore.NextInLineText, "event_id =")[1]
		wantIndex(t, store, "webhook_delivery_account", `SELECT `+next, "W", "S", "behind")
	})
}
