package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"

	"landfall"
)

// inspect checks a range of processes, so that no snapshot stays open for
// hours.
func (v *view) inspect(ctx context.Context, after, last int64) ([]landfall.Finding, error) {
	findings, err := v.inspectDocuments(ctx, after, last)
	if err != nil {
		return nil, err
	}
	for _, law := range invariants {
		broken, err := collect(ctx, v.txSession, func(scan scanner, finding *landfall.Finding) error {
			finding.What = law.broken
			return scan(&finding.Key.Supplier, &finding.Key.External)
		}, `SELECT s.code, p.external FROM process p JOIN supplier s ON s.id = p.supplier_id
			LEFT JOIN account a ON a.id = p.id
			WHERE p.id > $1 AND p.id <= $2 AND (`+law.when+`) ORDER BY p.id`, after, last)
		if err != nil {
			return nil, err
		}
		findings = append(findings, broken...)
	}
	return findings, nil
}

// invariants are the invariants of every process, given as conditions under which
// they are broken: p is the process and a its account.
var invariants = []struct{ broken, when string }{
	{"it is imported without an account, or has an account without being imported", `(p.state = 'imported') <> (a.id IS NOT NULL)`},
	{"its account was created from a revision that does not exist", `a.id IS NOT NULL AND NOT EXISTS
		(SELECT 1 FROM staging g WHERE g.process_id = a.id AND g.revision = a.revision)`},
	{"its account has no record: the document it was created from is gone", `a.id IS NOT NULL AND p.erased_at IS NULL AND EXISTS
		(SELECT 1 FROM staging g WHERE g.process_id = a.id AND g.revision = a.revision AND g.purged_at IS NOT NULL)`},
	{"its account was created without an event", `a.id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM event e
		WHERE e.supplier = s.code AND e.external = p.external AND e.account_number = p.account_number AND e.type = 'account_import.completed') AND ` + eventNotPurged("p.account_created_at")},
	{"its revisions are not numbered without gaps", `p.revision <> (SELECT count(*) FROM staging g
		WHERE g.process_id = p.id AND g.revision BETWEEN 1 AND p.revision)`},
	{"its ledger does not have the length stored in the account, or has gaps", `a.ledger_length <> (SELECT count(*) FROM ledger_entry l
		WHERE l.account_id = a.id AND l.sequence BETWEEN 1 AND a.ledger_length) OR EXISTS
		(SELECT 1 FROM ledger_entry l WHERE l.account_id = p.id AND l.sequence > coalesce(a.ledger_length, 0))`},
	{"its balance is not the sum of its ledger", `a.balance <> (SELECT coalesce(sum(l.signed), 0) FROM ledger_entry l WHERE l.account_id = a.id)`},
	{"the balance of a ledger entry is not the sum up to it", `a.id IS NOT NULL AND EXISTS (SELECT 1 FROM
		(SELECT l.balance, sum(l.signed) OVER (ORDER BY l.sequence) AS running FROM ledger_entry l WHERE l.account_id = a.id) AS entry
		WHERE entry.balance <> entry.running)`},
	{"its number of notes is not the one stored in the account", countOf("note")},
	{"its number of statements is not the one stored in the account", countOf("historical_statement")},
	{"its number of payment instructions is not the one stored in the account", countOf("instruction")},
	{"a mail is queued or was sent, but there is no account", `a.id IS NULL AND EXISTS (SELECT 1 FROM mail m
		WHERE m.account_id = p.id AND m.state IN ('queued', 'sending', 'sent', 'bounced'))`},
	{"a mail of its account has another supplier", `EXISTS (SELECT 1 FROM mail m WHERE m.account_id = p.id AND m.supplier <> s.code)`},
	{"its account does not have the number that belongs to it", `p.account_number IS NOT NULL AND (p.number IS NULL OR p.number <> p.account_number)`},
	{"an undone account of it had another number", `EXISTS (SELECT 1 FROM undone_account u
		WHERE u.process_id = p.id AND (p.number IS NULL OR p.number <> u.number))`},
	{"its account has fewer postings than postings of other deliveries", `a.other_posting_count > a.posting_count`},
	{"it was erased, but could be staged or created again", `p.erased_at IS NOT NULL AND p.state NOT IN ('imported', 'skipped')`},
	{"it was erased, but has a staged document, a queued mail or search terms", `p.erased_at IS NOT NULL AND (
		EXISTS (SELECT 1 FROM staging g WHERE g.process_id = p.id AND g.purged_at IS NULL)
		OR EXISTS (SELECT 1 FROM mail m WHERE m.account_id = p.id AND m.due_at IS NOT NULL)
		OR EXISTS (SELECT 1 FROM search_term t WHERE t.account_id = p.id))`},
	{"its document was purged, but the same could not be staged again", `length(p.hash) > 0 AND EXISTS (SELECT 1 FROM staging g
		WHERE g.process_id = p.id AND g.revision = p.revision AND g.purged_at IS NOT NULL)`},
	{"its document was purged, but that is not listed as a failure", `p.state = 'staged' AND p.revision > 0 AND length(p.hash) = 0 AND p.failed_at IS NULL`},
	{"it was erased, but has a reply of the mail server", `p.erased_at IS NOT NULL AND EXISTS (SELECT 1 FROM mail m
		WHERE m.account_id = p.id AND m.state = 'sent' AND m.reply <> '')`},
	{"its open statement period is not the one stored in the account", `a.open_from_on <> coalesce((SELECT max(o.from_on) FROM statement_period o
		WHERE o.account_id = a.id AND o.to_on IS NULL), '')`},
	{"an identifier of it belongs to another supplier", `EXISTS (SELECT 1 FROM account_identifier i
		WHERE i.process_id = p.id AND i.supplier_id <> p.supplier_id)`},
	{"it has no account, but rows of one", `a.id IS NULL AND (` + anyPart() + `)`},
	{"a delivery of it waits for no other one and will never be sent", `EXISTS (SELECT 1 FROM target_delivery d
		WHERE d.account_id = p.id AND d.state = 'waiting' AND d.due_at IS NULL AND d.held = FALSE AND NOT EXISTS
			(SELECT 1 FROM target_delivery b WHERE b.account_id = p.id AND b.id < d.id AND ` + openDelivery + `))`},
	{"a delivery of it waits for a target that does not exist", `EXISTS (SELECT 1 FROM target_delivery d
		WHERE d.account_id = p.id AND d.state <> 'delivered' AND NOT EXISTS (SELECT 1 FROM target t WHERE t.code = d.target))`},
	{"its account was created for a target, but has no delivery", `a.id IS NOT NULL AND s.target IS NOT NULL
		AND p.account_created_at > s.target_at + ` + strconv.FormatInt(clockSkew.Microseconds(), 10) + `
		AND NOT EXISTS (SELECT 1 FROM target_delivery d WHERE d.account_id = p.id)`},
	{"an account of it was undone without an event", `EXISTS (SELECT 1 FROM undone_account u WHERE u.process_id = p.id AND NOT EXISTS
		(SELECT 1 FROM event e WHERE e.supplier = s.code AND e.external = p.external
			AND e.type = 'account_import.undone' AND e.account_number = u.number) AND ` + eventNotPurged("u.undone_at") + `)`},
}

// eventNotPurged is the condition that the event of an instant cannot have been
// purged.
func eventNotPurged(at string) string {
	return at + ` > coalesce((SELECT g.at + ` + strconv.FormatInt(clockSkew.Microseconds(), 10) + ` FROM event_purge g WHERE g.supplier = s.code), -1)`
}

// anyPart is the condition that a process has a row in a table that belongs to
// accounts.
func anyPart() string {
	var parts []string
	for _, table := range partsOfAccounts[:len(partsOfAccounts)-1] {
		parts = append(parts, `EXISTS (SELECT 1 FROM `+table+` part WHERE part.account_id = p.id)`)
	}
	return strings.Join(parts, ` OR `)
}

// countOf is the condition that an account's counter does not match its rows,
// which are numbered.
func countOf(table string) string {
	counter := map[string]string{"note": "note_count", "historical_statement": "statement_count", "instruction": "instruction_count"}[table]
	return `coalesce(a.` + counter + `, 0) <> (SELECT count(DISTINCT c.ordinal) FROM ` + table + ` c
		WHERE c.account_id = p.id AND c.ordinal BETWEEN 1 AND a.` + counter + `) OR EXISTS
		(SELECT 1 FROM ` + table + ` c WHERE c.account_id = p.id AND c.ordinal > coalesce(a.` + counter + `, 0))`
}

// inspectDocuments unpacks every staged document and compares it with the hash
// it was staged with, and the hash of the last one with that of its process. It
// reads one revision at a time, because a document may be large.
func (v *view) inspectDocuments(ctx context.Context, after, last int64) ([]landfall.Finding, error) {
	rows, err := v.query(ctx, `SELECT s.code, p.external, p.revision, p.hash, g.revision, g.hash, g.document, g.purged_at IS NOT NULL
		FROM process p JOIN supplier s ON s.id = p.supplier_id LEFT JOIN staging g ON g.process_id = p.id
		WHERE p.id > $1 AND p.id <= $2 ORDER BY p.id, g.revision`, after, last)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var findings []landfall.Finding
	for rows.Next() {
		var key landfall.Key
		var current int64
		var revision sql.NullInt64
		var own, hash, kept []byte
		var gone bool
		if err := rows.Scan(&key.Supplier, &key.External, &current, &own, &revision, &hash, &kept, &gone); err != nil {
			return nil, v.fail(err)
		}
		if !revision.Valid {
			continue // the laws report it
		}
		if gone && len(kept) == 0 {
			continue // purged, so there is nothing to compare
		}
		if _, err := v.sealer.openDocument(key, kept, v.sealer.openHash(key, hash)); err != nil || gone {
			findings = append(findings, landfall.Finding{Key: key, What: fmt.Sprintf("revision %d is not the document that was staged", revision.Int64)})
		}
		if revision.Int64 == current && v.sealer.openHash(key, own) != v.sealer.openHash(key, hash) {
			findings = append(findings, landfall.Finding{Key: key, What: "its hash is not the hash of its last revision"})
		}
	}
	return findings, v.fail(rows.Err())
}
