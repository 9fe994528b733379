package sqlstore_test

import (
	"slices"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/store/sqlstore"
)

// inspect returns the findings of an inspection and the number of processes
// inspected.
func inspect(t *testing.T, store *sqlstore.Store) (found []string, processes int) {
	t.Helper()
	for seen, err := range store.Inspect(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		processes = seen.Processes
		if seen.Finding != nil {
			found = append(found, seen.Finding.Key.Supplier+" "+seen.Finding.Key.External+": "+seen.Finding.What)
		}
	}
	return found, processes
}

// TestInspectionFindsEveryKindOfDamage damages a database in one place after the
// other, and inspects it each time.
func TestInspectionFindsEveryKindOfDamage(t *testing.T) {
	const undoneText, undoneFrom = `INSERT INTO undone_account (number, process_id, account_created_at, undone_at, actor, reason) SELECT `, `, id, 0, 0, '', '' FROM process`
	damages := map[string]string{
		`UPDATE staging SET document = CAST('{"other":1}' AS {bytes})`:     "revision 1 is not the document",
		`UPDATE process SET hash = CAST('x' AS {bytes})`:                   "its hash is not the hash of its last revision",
		`UPDATE process SET revision = 2`:                                  "its revisions are not numbered without gaps",
		`DELETE FROM staging`:                                              "its revisions are not numbered without gaps",
		`UPDATE account SET revision = 7`:                                  "a revision that does not exist",
		`DELETE FROM event`:                                                "without an event",
		`DELETE FROM account`:                                              "is imported without an account",
		`UPDATE staging SET document = CAST('' AS {bytes}), purged_at = 1`: "has no record",
		`UPDATE account SET balance = balance + 1`:                         "is not the sum of its ledger",
		`UPDATE account SET ledger_length = ledger_length + 1`:             "does not have the length stored",
		`DELETE FROM ledger_entry WHERE sequence = 1`:                      "does not have the length stored",
		`UPDATE ledger_entry SET balance = balance + 1 WHERE sequence = 1`: "is not the sum up to it",
		`UPDATE account SET note_count = 0`:                                "its number of notes",
		`UPDATE note SET ordinal = ordinal + 5`:                            "its number of notes",
		`DELETE FROM historical_statement`:                                 "its number of statements",
		`UPDATE account SET instruction_count = 9`:                         "its number of payment instructions",
		`UPDATE mail SET supplier = 'OTHER'`:                               "has another supplier",
		`DELETE FROM account WHERE id > 0`:                                 "a mail is queued or was sent",
		`UPDATE process SET number = NULL`:                                 "not have the number that belongs to it",
		`UPDATE account SET other_posting_count = 99`:                      "fewer postings than postings of other deliveries",
		`UPDATE account SET open_from_on = '1999-01-01'`:                   "its open statement period",
		`INSERT INTO account_identifier (process_id, ordinal, supplier_id, digest, value) SELECT id, 99, supplier_id + 1, 0, 'x' FROM process`: "belongs to another supplier",
		undoneText + `'A-00000000'` + undoneFrom:                                                                            "had another number",
		undoneText + `coalesce(number, '')` + undoneFrom:                                                                    "undone without an event",
		`DELETE FROM account WHERE EXISTS (SELECT 1 FROM customer)`:                                                         "but rows of one",
		`UPDATE process SET state = 'staged', account_number = NULL, account_created_at = NULL, hash = CAST('' AS {bytes})`: "not listed as a failure",
	}
	onEach(t, func(t *testing.T, url string) {
		store, _ := openCreated(t, url)
		addSome(t, store)
		if err := store.Force(t.Context(), `INSERT INTO mail (account_id, supplier, kind, recipient, queued_at, due_at)
			SELECT id, 'S', 'k', 'a@b.co', 1, 1 FROM account`); err != nil {
			t.Fatal(err)
		}
		if found, processes := inspect(t, store); len(found) != 0 || processes != 1 {
			t.Fatalf("%d undamaged processes, but the inspection found %v", processes, found)
		}
		for damage, want := range damages {
			found, err := store.InspectDamaged(t.Context(), damage)
			if err != nil {
				t.Fatalf("%s: %v", damage, err)
			}
			if !slices.ContainsFunc(found, func(finding landfall.Finding) bool {
				return finding.Key == testKey && strings.Contains(finding.What, want)
			}) {
				t.Errorf("%s: found %v", damage, found)
			}
		}
		force(t, store, `UPDATE process SET erased_at = 1`)
		force(t, store, `UPDATE mail SET state = 'sent', due_at = NULL, settled_at = 1, purged_at = 1, reply = '250 a@b.co'`)
		if found, _ := inspect(t, store); !strings.Contains(strings.Join(found, "\n"), "has a reply of the mail server") {
			t.Errorf("an erased account with a reply: found %v", found)
		}
	})
}

// TestWrongSearchTermsWereNotNoticed damages the terms by which an account is found,
// and has them corrected.
func TestWrongSearchTermsWereNotNoticed(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store := openStore(t, url)
		prepareStore(t, store)
		stagePerson(t, store, "1", lovelaceDocument)
		check := func(what, want string) {
			t.Helper()
			if found, _ := inspect(t, store); strings.Join(found, "\n") != want {
				t.Errorf("%s: found %q", what, found)
			}
		}
		correct := func(want int) {
			t.Helper()
			if step, err := store.CorrectTerms(t.Context(), 0); err != nil || step.Corrected != want || step.Seen != 1 || !step.Done {
				t.Errorf("%+v, %v", step, err)
			}
		}
		check("not indexed yet", "")
		if _, err := store.IndexTerms(t.Context()); err != nil {
			t.Fatal(err)
		}
		check("indexed", "")
		correct(0)
		for _, damage := range []string{
			`DELETE FROM search_term`, `DELETE FROM search_term WHERE term = 'nlovelace'`, `UPDATE search_term SET term = 'nother' WHERE term = 'nlovelace'`,
			`INSERT INTO search_term (term, supplier_id, account_id) SELECT 'n' || external, supplier_id, id FROM process`,
		} {
			if before := len(findWords(t, store, "lovelace").Accounts); before != 1 {
				t.Fatalf("lovelace finds %d accounts", before)
			}
			force(t, store, damage)
			check(damage, "S 1: the terms by which it is found are not those of its document")
			correct(1)
			check("corrected", "")
		}
		// Another region changes the terms of phone numbers of what is indexed from now on.
		force(t, store, `UPDATE supplier SET region = 'FR'`)
		check("another region", "")
		correct(1)
	})
}

// TestInspectionFindsWrongRuns damages the totals of a run.
func TestInspectionFindsWrongRuns(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store, _ := openCreated(t, url)
		force(t, store, `INSERT INTO run (number, supplier_id, team, dry_run, selection, sample, most, at_once, state, cancelling, reason, created_at, worked,
			cursor_at, cursor_external, seen, selected, chosen) SELECT 'R-1', id, 'T', FALSE, 'pending', 0, 0, 0, 'FINISHED', FALSE, '', 1, 0, 0, '', 0, 0, TRUE FROM supplier`)
		if found, _ := inspect(t, store); len(found) != 0 {
			t.Fatalf("undamaged, but the inspection found %v", found)
		}
		force(t, store, `UPDATE run SET selected = 7`)
		if found, _ := inspect(t, store); !slices.Contains(found, "S : run R-1 does not have the number of accounts that it selected") {
			t.Errorf("found %v", found)
		}
	})
}

// TestInspectionFindsStuckDeliveries damages deliveries that are waiting.
func TestInspectionFindsStuckDeliveries(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store, _ := openCreated(t, url)
		force(t, store, `INSERT INTO organisation (name, disabled, created_at) VALUES ('O', FALSE, 1)`)
		force(t, store, `INSERT INTO webhook (name, organisation, url, types, suppliers, include_data, secrets, state, position, created_at, due_at)
			VALUES ('W', 'O', 'https://example.com/', '[]', '[]', FALSE, '[]', 'active', 0, 1, 1)`)
		force(t, store, `INSERT INTO event (type, supplier, external, account_number, at, details)
			SELECT 'post_import.notes_created', supplier, external, account_number, at, details FROM event`)
		put := func(columns string) {
			t.Helper()
			force(t, store, `DELETE FROM webhook_delivery`)
			force(t, store, `INSERT INTO webhook_delivery (webhook, event_id, supplier, external, state, attempts, first_at, due_at, status, reason)
				SELECT 'W', e.id, `+columns+`, 500, '' FROM event e`)
		}
		const first = `e.id = (SELECT min(id) FROM event)`
		put(`e.supplier, e.external, 'waiting', 1, 1, CASE WHEN ` + first + ` THEN 5 END`)
		if found, _ := inspect(t, store); len(found) != 0 {
			t.Fatalf("undamaged, but the inspection found %v", found)
		}
		for columns, want := range map[string]string{
			`e.supplier, e.external, 'waiting', 1, 1, NULL`:                                         "waits for no other event",
			`e.supplier, e.external, 'dead', 1, 1, 5`:                                               "is dead, but",
			`e.supplier, 'another', 'waiting', 1, 1, CASE WHEN ` + first + ` THEN 5 END`:            "about another account",
			`e.supplier, e.external, 'waiting', 1, 1, CASE WHEN ` + first + ` THEN NULL ELSE 5 END`: "waits for no other event",
		} {
			put(columns)
			if found, _ := inspect(t, store); !strings.Contains(strings.Join(found, "\n"), want) {
				t.Errorf("%s: found %v", columns, found)
			}
		}
		put(`e.supplier, e.external, 'waiting', 1, 1, CASE WHEN ` + first + ` THEN 5 END`)
		force(t, store, `UPDATE webhook_delivery SET event_id = event_id + 1000`)
		if found, _ := inspect(t, store); !strings.Contains(strings.Join(found, "\n"), "does not exist") {
			t.Errorf("the event is gone: found %v", found)
		}
	})
}

// TestInspectionFindsStuckDeliveriesToTargets damages deliveries to a target.
func TestInspectionFindsStuckDeliveriesToTargets(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store, _ := openCreated(t, url)
		addSome(t, store)
		force(t, store, `INSERT INTO target (code, url, secrets, secret_env, shape, at_once, takes_back, state, created_at, due_at)
			VALUES ('B', 'https://example.com/', '[]', '', '', 4, FALSE, 'active', 1, 1)`)
		force(t, store, `UPDATE supplier SET target = 'B', target_at = 1`)
		if found, _ := inspect(t, store); !strings.Contains(strings.Join(found, "\n"), "created for a target, but has no delivery") {
			t.Errorf("without a delivery: found %v", found)
		}
		for _, due := range []string{"5", "NULL"} {
			force(t, store, `INSERT INTO target_delivery (target, account_id, supplier_id, external, kind, items, figures, at, due_at)
				SELECT 'B', p.id, p.supplier_id, p.external, 'account', '0 0 0 0', '', 1, `+due+` FROM process p`)
		}
		if found, _ := inspect(t, store); len(found) != 0 {
			t.Fatalf("undamaged, but the inspection found %v", found)
		}
		for damage, want := range map[string]string{
			`UPDATE target_delivery SET due_at = NULL`:                                               "will never be sent",
			`UPDATE target_delivery SET state = 'delivered', due_at = NULL WHERE due_at IS NOT NULL`: "will never be sent",
			`DELETE FROM target`: "a target that does not exist",
		} {
			found, err := store.InspectDamaged(t.Context(), damage)
			if err != nil || !slices.ContainsFunc(found, func(finding landfall.Finding) bool { return strings.Contains(finding.What, want) }) {
				t.Errorf("%s: found %v, %v", damage, found, err)
			}
		}
	})
}

// addSome posts one of each kind.
func addSome(t *testing.T, store landfall.Store) {
	t.Helper()
	_, err := store.Post(t.Context(), landfall.Posting{Key: testKey, Decide: func(landfall.AccountState) (landfall.Additions, error) {
		return landfall.Additions{
			Notes: []landfall.Note{{Body: "n", HasBody: true}}, Statements: []landfall.Statement{{ID: "new"}},
			Instructions: []landfall.Instruction{{Vendor: "V", Reference: "r"}},
		}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// TestInspectFindsRunThatDoesNotAddUp checks that a run is reported if its sums
// do not match its outcomes.
func TestInspectFindsRunThatDoesNotAddUp(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store := openStore(t, url)
		for _, text := range []string{
			`INSERT INTO supplier (code, name, status, document_root, currency, region, time_zone, send_customer_emails, verify_documents,
				concurrency_limit, severities, created_at) VALUES ('S', 'S', 'Ongoing', 'S', 'GBP', 'GB', 'UTC', FALSE, FALSE, 0, '{}', 0)`,
			`INSERT INTO run (number, supplier_id, team, dry_run, selection, sample, most, at_once, state, cancelling, reason, created_at, worked,
				cursor_at, cursor_external, seen, selected, chosen) SELECT 'R-1', id, 'T', FALSE, 'pending', 0, 0, 0, 'RUNNING', FALSE, '', 0, 0, 0, '',
				2, 2, TRUE FROM supplier`,
			`INSERT INTO run_slice (run_id, slice, size, succeeded, failed, refused, width, next_at, tries, done)
				SELECT id, 0, 2, 1, 0, 0, 0, 0, 0, FALSE FROM run`,
			`INSERT INTO run_member (run_id, ordinal, process_id, outcome) SELECT id, 0, 1, 'succeeded' FROM run`,
			`INSERT INTO run_member (run_id, ordinal, process_id, outcome) SELECT id, 1, 2, 'failed' FROM run`,
		} {
			if err := store.Force(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
		var found []string
		for inspection, err := range store.Inspect(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			if inspection.Finding != nil {
				found = append(found, inspection.Finding.What)
			}
		}
		if len(found) != 1 || !strings.Contains(found[0], "slice 0 of run R-1") {
			t.Errorf("found %q", found)
		}
	})
}
