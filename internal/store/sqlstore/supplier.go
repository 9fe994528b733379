package sqlstore

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"landfall"
)

// supplierColumns are in the order in which suppliers scans them.
const supplierColumns = `s.code, s.name, s.status, s.document_root, s.currency, s.region, s.time_zone,
	s.send_customer_emails, s.verify_documents, s.concurrency_limit, s.undo_window, s.keep_staged, s.keep_failures, s.keep_mails,
	s.keep_events, s.keep_runs, s.mail_delay, s.statement_amounts, s.severities, s.packs, s.target, s.created_at`

// Supplier returns the supplier with a code.
func (v *view) Supplier(ctx context.Context, code string) (landfall.Supplier, error) {
	return v.supplier(ctx, `SELECT `+supplierColumns+` FROM supplier s WHERE s.code = $1`, code)
}

// GrantedSupplier returns a supplier only if the organisation was granted it.
func (v *view) GrantedSupplier(ctx context.Context, organisation, code string) (landfall.Supplier, error) {
	return v.supplier(ctx, `SELECT `+supplierColumns+` FROM supplier s
		JOIN supplier_grant g ON g.supplier_id = s.id
		WHERE s.code = $1 AND g.organisation = $2`, code, organisation)
}

// supplier returns the first supplier that a query finds.
func (v *view) supplier(ctx context.Context, text string, args ...any) (landfall.Supplier, error) {
	found, err := v.suppliers(ctx, text, args...)
	if err == nil && len(found) == 0 {
		err = landfall.ErrNotFound
	}
	if err != nil {
		return landfall.Supplier{}, err
	}
	return found[0], nil
}

// Suppliers returns all suppliers, sorted by code.
func (v *view) Suppliers(ctx context.Context) ([]landfall.Supplier, error) {
	return v.suppliers(ctx, `SELECT `+supplierColumns+` FROM supplier s ORDER BY s.code`)
}

// suppliers returns the suppliers that a query selects.
func (v *view) suppliers(ctx context.Context, text string, args ...any) ([]landfall.Supplier, error) {
	return collect(ctx, v.txSession, func(scan scanner, s *landfall.Supplier) error {
		var severities []byte
		var packs string
		var created, window, staged, failures, mails, events, keepRunsFor, mailDelay int64
		err := scan(&s.Code, &s.Name, &s.Status, &s.DocumentRoot, &s.Currency, &s.Region, &s.TimeZone,
			&s.SendCustomerEmails, &s.VerifyDocuments, &s.ConcurrencyLimit, &window, &staged, &failures, &mails, &events, &keepRunsFor, &mailDelay, &s.StatementAmounts, &severities, &packs, textInto{&s.Target}, &created)
		if err != nil {
			return err
		}
		s.CreatedAt, s.UndoWindow, s.MailDelay = moment(created), durationOf(window), durationOf(mailDelay)
		s.Retention = landfall.Retention{
			Staged: durationOf(staged), Failures: durationOf(failures), Mails: durationOf(mails), Events: durationOf(events), Runs: durationOf(keepRunsFor),
		}
		if packs != "" {
			s.Packs = strings.Fields(packs)
		}
		return json.Unmarshal(severities, &s.Severities)
	}, text, args...)
}

// Grantees returns the names of the organisations granted a supplier.
func (v *view) Grantees(ctx context.Context, code string) ([]string, error) {
	return collect(ctx, v.txSession, func(scan scanner, name *string) error { return scan(name) },
		`SELECT g.organisation FROM supplier_grant g JOIN supplier s ON s.id = g.supplier_id
		WHERE s.code = $1 ORDER BY g.organisation`, code)
}

// CreateSupplier stores a new supplier.
func (t *tx) CreateSupplier(ctx context.Context, s landfall.Supplier) error {
	severities, err := severityText(s)
	if err != nil {
		return err
	}
	return orIfUnchanged(landfall.ErrExists)(t.exec(ctx, `INSERT INTO supplier (code, name, status, document_root, currency, region, time_zone,
			send_customer_emails, verify_documents, concurrency_limit, severities, undo_window, keep_staged, keep_failures, keep_mails,
			keep_events, packs, keep_runs, mail_delay, statement_amounts, target, created_at, target_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, {now}, CASE WHEN CAST($21 AS TEXT) IS NOT NULL THEN {now} END)
		ON CONFLICT (code) DO NOTHING`,
		s.Code, s.Name, string(s.Status), s.DocumentRoot, s.Currency, s.Region, s.TimeZone,
		s.SendCustomerEmails, s.VerifyDocuments, s.ConcurrencyLimit, severities, s.UndoWindow.Microseconds(),
		s.Retention.Staged.Microseconds(), s.Retention.Failures.Microseconds(), s.Retention.Mails.Microseconds(), s.Retention.Events.Microseconds(), strings.Join(s.Packs, " "),
		s.Retention.Runs.Microseconds(), s.MailDelay.Microseconds(), string(s.StatementAmounts), textArg(s.Target)))
}

// LockSuppliers waits for a transaction that is changing suppliers and blocks
// others that would. SQLite has a single writer, so it needs no lock.
func (t *tx) LockSuppliers(ctx context.Context) error {
	if t.engine.SingleWriter() {
		return nil
	}
	_, err := t.exec(ctx, lockSuppliersText)
	return err
}

// lockSuppliersText does not block reads or locks on single suppliers.
const lockSuppliersText = `LOCK TABLE supplier IN SHARE ROW EXCLUSIVE MODE`

// SaveSupplier replaces the settings of an existing supplier.
func (t *tx) SaveSupplier(ctx context.Context, s landfall.Supplier) error {
	severities, err := severityText(s)
	if err != nil {
		return err
	}
	return orIfUnchanged(landfall.ErrNotFound)(t.exec(ctx, `UPDATE supplier SET name = $2, status = $3, document_root = $4,
			currency = $5, region = $6, time_zone = $7, send_customer_emails = $8, verify_documents = $9,
			concurrency_limit = $10, severities = $11, undo_window = $12, keep_staged = $13, keep_failures = $14, keep_mails = $15, keep_events = $16,
			packs = $17, keep_runs = $18, mail_delay = $19, statement_amounts = $20, target = $21,
			target_at = CASE WHEN coalesce(target, '') = coalesce(CAST($21 AS TEXT), '') THEN target_at ELSE {now} END
		WHERE code = $1`,
		s.Code, s.Name, string(s.Status), s.DocumentRoot, s.Currency, s.Region, s.TimeZone,
		s.SendCustomerEmails, s.VerifyDocuments, s.ConcurrencyLimit, severities, s.UndoWindow.Microseconds(),
		s.Retention.Staged.Microseconds(), s.Retention.Failures.Microseconds(), s.Retention.Mails.Microseconds(), s.Retention.Events.Microseconds(), strings.Join(s.Packs, " "),
		s.Retention.Runs.Microseconds(), s.MailDelay.Microseconds(), string(s.StatementAmounts), textArg(s.Target)))
}

// durationOf converts stored microseconds to a duration.
func durationOf(count int64) time.Duration { return time.Duration(count) * time.Microsecond }

// severityText encodes the severities that a supplier overrides.
func severityText(s landfall.Supplier) (string, error) {
	if s.Severities == nil {
		return "{}", nil
	}
	text, err := json.Marshal(s.Severities)
	return string(text), err
}

// Grant allows an organisation to use a supplier.
func (t *tx) Grant(ctx context.Context, code, organisation string) error {
	count, err := t.exec(ctx, `INSERT INTO supplier_grant (supplier_id, organisation)
		SELECT s.id, o.name FROM supplier s, organisation o WHERE s.code = $1 AND o.name = $2
		ON CONFLICT (supplier_id, organisation) DO NOTHING`, code, organisation)
	if err != nil || count > 0 {
		return err
	}
	// Nothing was added: either the grant exists already, or the supplier or
	// the organisation does not.
	_, err = t.GrantedSupplier(ctx, organisation, code)
	return err
}

// Ungrant removes a grant.
func (t *tx) Ungrant(ctx context.Context, code, organisation string) error {
	return orIfUnchanged(landfall.ErrNotFound)(t.exec(ctx, `DELETE FROM supplier_grant
		WHERE supplier_id = (SELECT id FROM supplier WHERE code = $1) AND organisation = $2`, code, organisation))
}
