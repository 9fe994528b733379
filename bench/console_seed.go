package main

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"strings"

	"landfall"
)

// The data behind the console: a run that created most of very many accounts,
// one that was undone completely, and more than a page of everything that a
// page shows.
const (
	consoleRun, undoneRun = "R-00000001", "R-00000002"
	consoleTarget         = "LEDGER"
	consoleColleague      = "colleague"
	longAccount           = "OLD-1" // has a long ledger and a long history
	manyEntries           = 5_000   // of them
	manyDeliveries        = 20_000  // that failed permanently
	consoleFailure        = `'{"code": "account_failed_validation","detail": "The account data is not valid.","violations": [{"code": "' ||
		CASE i % 3 WHEN 0 THEN 'invalid_email' WHEN 1 THEN 'required' ELSE 'invalid_date' END || '","attr": "customers.0.email","detail": "It is not valid."}]}'`
)

// seedConsole fills the database behind the console. $1 is the number of
// accounts.
func seedConsole(ctx context.Context, db *sql.DB, accounts int) error {
	const (
		now     = `(CAST(unixepoch() AS INTEGER) * 1000000)`
		numbers = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1) `
		entries = `WITH RECURSIVE n (i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < $1) `
	)
	long := `(SELECT id FROM process WHERE external = '` + longAccount + `')`
	runColumns := `INSERT INTO run (id, number, supplier_id, team, dry_run, selection, sample, most, at_once, state, cancelling, reason,
		created_at, started_at, ended_at, worked, cursor_at, cursor_external, seen, selected, chosen) VALUES `
	aRun := `(%d, '%s', 1, 'Bench Team', 0, 'pending', 0, 0, 0, 'FINISHED', 0, '', ` + now + `, ` + now + `, ` + now + `, 600000000, 0, '', $1, $1, 1)`
	statements := []struct {
		text  string
		count int
	}{
		{`INSERT INTO process (supplier_id, external, state, revision, hash, first_staged_at, staged_at, number, account_number, account_created_at, failed_at, failure) ` + numbers +
			`SELECT 1, 'OLD-' || i, CASE WHEN i % 5 = 0 THEN 'staged' ELSE 'imported' END, 1, x'00', i, i,
				CASE WHEN i % 5 = 0 THEN 'U-' || i ELSE 'O-' || i END, CASE WHEN i % 5 = 0 THEN NULL ELSE 'O-' || i END, CASE WHEN i % 5 = 0 THEN NULL ELSE ` + now + ` END,
				CASE WHEN i % 50 = 0 THEN ` + now + ` END, CASE WHEN i % 50 = 0 THEN ` + consoleFailure + ` END FROM n`, accounts},
		{`INSERT INTO refusal (supplier_id, external, at, failure) ` + numbers + `SELECT 1, 'REF-' || i, ` + now + `, ` + consoleFailure + ` FROM n`, accounts / 50},
		{`INSERT INTO account (id, ` + rawRows[0].columns + `, run, posting_count, other_posting_count)
			SELECT id, ` + rawRows[0].values + `, '` + consoleRun + `', id % 100 = 0, id % 100 = 0 FROM process WHERE state = 'imported' AND $1 > 0`, accounts},
		{`INSERT INTO customer (account_id, ` + rawRows[1].columns + `) SELECT id, ` + rawRows[1].values + ` FROM account WHERE $1 > 0`, accounts},
		// Every account has a name of its own, and shares a first name and a postcode with many.
		{`INSERT INTO search_term (term, supplier_id, account_id) SELECT 'nlovelace' || id, 1, id FROM process WHERE $1 > 0`, accounts},
		{`INSERT INTO search_term (term, supplier_id, account_id) SELECT 'nada' || (id % 50), 1, id FROM process WHERE $1 > 0`, accounts},
		{`INSERT INTO search_term (term, supplier_id, account_id) SELECT 'cNR' || (id % 97) || '1AB', 1, id FROM process WHERE $1 > 0`, accounts},
		// The parts of a phone number as the index has them.
		{`INSERT INTO search_term (term, supplier_id, account_id) SELECT 'p' || substr(d, k + 1) || '<' || CASE k WHEN 0 THEN '' ELSE substr(d, k, 1) END, 1, id
			FROM (SELECT id, printf('74%08d', id * 7919 % 100000000) AS d FROM process WHERE $1 > 0) CROSS JOIN (SELECT 0 AS k UNION ALL SELECT 2 UNION ALL SELECT 4 UNION ALL SELECT 6)`, accounts},
		{runColumns + fmt.Sprintf(aRun, 1, consoleRun) + `, ` + fmt.Sprintf(aRun, 2, undoneRun), accounts},
		{`INSERT INTO run_member (run_id, ordinal, process_id, outcome) SELECT 1, id - 1, id,
			CASE WHEN state = 'imported' THEN 'succeeded' WHEN failed_at IS NULL THEN 'refused' ELSE 'failed' END FROM process WHERE $1 > 0`, accounts},
		{`INSERT INTO run_member (run_id, ordinal, process_id, outcome) SELECT 2, id - 1, id, 'succeeded' FROM process WHERE $1 > 0`, accounts},
		{`INSERT INTO run_slice (run_id, slice, size, succeeded, failed, refused, width, next_at, tries, done)
			SELECT run_id, ordinal / 512, count(*), sum(outcome = 'succeeded'), sum(outcome = 'failed'), sum(outcome = 'refused'), 0, 0, 0, 1
			FROM run_member WHERE $1 > 0 GROUP BY 1, 2`, accounts},
		{`INSERT INTO run_failure (run_id, external, at, failure) SELECT 1, external, failed_at, failure FROM process WHERE failed_at IS NOT NULL AND $1 > 0`, accounts},
		{`INSERT INTO undone_account (number, process_id, account_created_at, undone_at, actor, reason, run_id)
			SELECT number, id, 1, 2, 'operator:bench', 'the wrong book', '` + undoneRun + `' FROM process WHERE $1 > 0`, accounts},
		{`INSERT INTO event (type, supplier, external, account_number, at, details)
			SELECT 'account_import.completed', '` + supplier + `', external, account_number, account_created_at, '{}' FROM process WHERE state = 'imported' AND $1 > 0`, accounts},
		{`INSERT INTO audit (at, actor, action, subject, detail) ` + numbers +
			`SELECT ` + now + ` - ($1 - i) * 1000, 'operator:ada', CASE i % 4 WHEN 0 THEN 'account.reveal' ELSE 'key.create' END, '` + supplier + `/OLD-' || (i % 500), 'a reason' FROM n`, accounts},
		// One account with a long history.
		{`INSERT INTO ledger_entry (account_id, transaction_id, sequence, kind, closed, signed, balance, type, entered_on, reason, note) ` + entries +
			`SELECT ` + long + `, 'T-' || i, i, 'transaction', 0, 100, i * 100, 'PAYMENT', '2026-07-05', '', '' FROM n`, manyEntries},
		{`INSERT INTO note (account_id, digest, ordinal, body, created_at, pinned) ` + entries + `SELECT ` + long + `, i, i, 'called about note ' || i, i, i % 500 = 0 FROM n`, manyEntries},
		{`INSERT INTO event (type, supplier, external, account_number, at, details) ` + entries +
			`SELECT 'post_import.notes_added', '` + supplier + `', '` + longAccount + `', 'O-1', ` + now + `, '{}' FROM n`, manyEntries},
		{`UPDATE account SET ledger_length = $1, note_count = $1 WHERE id = ` + long, manyEntries},
		{`INSERT INTO webhook (name, organisation, url, types, suppliers, include_data, secrets, state, position, created_at, due_at, delivered)
			SELECT 'billing', 'Bench', 'https://billing.example/', '[]', '[]', 0, '[]', 'off', max(id), 1, 1, $1 FROM event`, manyDeliveries},
		{`INSERT INTO webhook_round (webhook, at, position, delivered, failed, dead, status, reason, took) ` + numbers +
			`SELECT 'billing', ` + now + `, i, 1, 0, 1, 500, 'the receiver answered 500', 1000 FROM n`, manyDeliveries},
		{`INSERT INTO webhook_delivery (webhook, event_id, supplier, external, state, attempts, first_at, status, reason)
			SELECT 'billing', id, supplier, external, 'dead', 9, 1, 500, 'the receiver answered 500' FROM event ORDER BY id LIMIT $1`, manyDeliveries},
		{`INSERT INTO target (code, url, secrets, secret_env, shape, at_once, takes_back, state, created_at, due_at)
			VALUES ('` + consoleTarget + `', 'https://ledger.example/', '[]', '', '', 1, 0, 'paused', $1, 1)`, accounts},
		{`INSERT INTO mail (account_id, kind, recipient, queued_at, supplier, state, settled_at, attempts, reply)
			SELECT id, 'account_migrated', 'ada' || id || '@mail.example', 1, '` + supplier + `', CASE id % 10 WHEN 0 THEN 'refused' ELSE 'sent' END, 2, 1, '550 no such person'
			FROM account WHERE $1 > 0`, accounts},
		// So that background work has nothing left to do.
		{`UPDATE search_index SET audit_after = (SELECT max(id) FROM audit) WHERE $1 > 0`, accounts},
		{`UPDATE refusal SET indexed = 1 WHERE $1 > 0`, accounts},
		{`INSERT OR IGNORE INTO audit_link (position, entry, hash) SELECT id, id, (SELECT hash FROM audit_chain) FROM audit WHERE $1 > 0`, accounts},
		{`UPDATE audit_chain SET position = (SELECT max(id) FROM audit), through = (SELECT max(id) FROM audit) WHERE $1 > 0`, accounts},
		{`UPDATE run SET undone = $1 WHERE number = '` + undoneRun + `'`, accounts},
		{`INSERT OR IGNORE INTO vendor (code, adapter, base_url, secret_env, networks, settings, created_at) VALUES ('SANDBOX', 'sandbox', '', '', '[]', '{}', $1)`, accounts},
	}
	for _, one := range statements {
		if _, err := db.ExecContext(ctx, one.text, one.count); err != nil {
			// Name the table in the error, to find the statement that failed.
			first, _, _ := strings.Cut(one.text, "(")
			return fmt.Errorf("%s: %w", strings.TrimSpace(first), err)
		}
	}
	report := sha256.Sum256([]byte("{}"))
	if _, err := db.ExecContext(ctx, `INSERT INTO sign_off (id, supplier_id, signed_at, actor, report, report_hash, page, page_hash)
		VALUES (1, 1, 1, 'operator:bench', '{}', $1, '{}', $1)`, report[:]); err != nil {
		return err
	}
	// The server compares a signed report with the audit. This entry is chained by the server itself.
	_, err := db.ExecContext(ctx, `INSERT INTO audit (at, actor, action, subject, detail) VALUES (`+now+`, 'operator:bench', $1, $2, $3)`,
		landfall.SignOffAction, supplier, landfall.SignOffDetail(1, report, report))
	return err
}
