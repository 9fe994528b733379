package sqlstore

// The registry of personal data. It lists every column of every table with the
// kind of data it contains; a test fails when one is missing. Erasure generates
// its statements from it, so a column declared personal is erased. A test
// compares docs/privacy.md with it.

import (
	"maps"
	"strings"
)

// dataKind says what kind of data a column contains.
type dataKind uint8

const (
	naturePlain     dataKind = iota // settings, states, times, counters, digests of secrets: nothing about a customer
	natureIdentity                  // the numbers that identify an account; kept as proof that it existed
	natureFinancial                 // money and its dates: the law requires keeping books
	natureStaff                     // people who work here or call us: operators and organisations
	naturePersonal                  // about a customer: erased with the account's personal data
)

// columnRule describes what a column contains and, if that is personal, the
// value that replaces it on erasure.
type columnRule struct {
	nature dataKind
	erased string
	form   sealForm
	row    []string // what identifies the row when a value is sealed; nil: as the table says
}

// sealForm says how a column is stored when personal data is encrypted.
type sealForm uint8

const (
	formPlain    sealForm = iota
	formSealed            // unreadable without the key
	formMatched           // as sealed, but equal values in one location have equal ciphertexts, so they can be looked up
	formDigested          // a keyed digest is stored in its place
)

type tableRule struct {
	columns map[string]columnRule
	// key is the primary key, by which the rows are walked. row is what sealed
	// values are bound to: they cannot be opened in another row. join adds the
	// table that knows it, if it is another one.
	key  []string
	row  []string
	join string
	// of is the condition that selects the rows of an account by its process,
	// $1.
	of string
	// remove says that erasure deletes the whole rows.
	remove bool
}

const (
	whereAccount = `account_id = $1`
	emptyText    = `''`
	nullText     = `NULL`
	// erasedFailure keeps the fact that something failed, but not why.
	erasedFailure = `CASE WHEN failure IS NOT NULL THEN CAST('` + erasedText + `' AS {json}) END`
	erasedText    = `{"code":"account_erased"}`
	emptyBytes    = `CAST('' AS {bytes})`
)

// isBlank reports whether a value is what erasure or retention leaves in place of
// a personal one. Such a value says nothing, and it is stored in the clear.
func isBlank(table, column, kept string) bool {
	switch table + "." + column {
	case "mail.recipient":
		return strings.HasPrefix(kept, "erased ") || strings.HasPrefix(kept, "gone ")
	case "process.failure", "refusal.failure", "run_failure.failure":
		return kept == erasedText || kept == documentGone
	case "address.lines", "meter.registers":
		return kept == "[]"
	}
	return kept == ""
}

// Values sealed for a process are bound to its key, which is known before the
// process has a row.
const (
	joinProcess  = ` JOIN process p ON p.id = held.process_id JOIN supplier s ON s.id = p.supplier_id`
	joinSupplier = ` JOIN supplier s ON s.id = held.supplier_id`
)

var (
	processKey  = []string{"s.code", "p.external"}
	supplierKey = []string{"s.code", "held.external"}
	ordinalKey  = []string{"account_id bigint", "ordinal bigint"}
)

// ofNature declares columns of one kind.
func ofNature(nature dataKind, names ...string) map[string]columnRule {
	columns := make(map[string]columnRule, len(names))
	for _, name := range names {
		columns[name] = columnRule{nature: nature}
	}
	return columns
}

// erasedTo declares personal columns that are replaced by a value on erasure.
func erasedTo(blank string, names ...string) map[string]columnRule {
	columns := make(map[string]columnRule, len(names))
	for _, name := range names {
		columns[name] = columnRule{nature: naturePersonal, erased: blank, form: formSealed}
	}
	return columns
}

// storedAs declares that columns are stored in another form than sealed, and
// bound to other columns of the row.
func storedAs(form sealForm, row []string, columns map[string]columnRule) map[string]columnRule {
	for name, one := range columns {
		one.form, one.row = form, row
		columns[name] = one
	}
	return columns
}

func mergeRules(parts ...map[string]columnRule) map[string]columnRule {
	columns := map[string]columnRule{}
	for _, part := range parts {
		maps.Copy(columns, part)
	}
	return columns
}

// authorColumns lists the columns that say who wrote a row.
var authorColumns = ofNature(natureStaff, "key_id", "request_id")

// tableRules is the registry.
var tableRules = map[string]tableRule{
	"process": {of: `id = $1`, key: []string{"id bigint"}, row: supplierKey, join: joinSupplier, columns: mergeRules(
		ofNature(naturePlain, "id", "supplier_id", "state", "revision", "first_staged_at", "staged_at", "account_created_at", "skip_reason",
			"claim_token", "claim_until", "failed_at", "figures", "previous_figures", "previously_failed", "erased_at", "delivery"),
		ofNature(natureIdentity, "external", "number", "account_number"),
		storedAs(formMatched, nil, erasedTo(emptyBytes, "hash")), erasedTo(erasedFailure, "failure"))},
	"staging": {of: `process_id = $1`, key: []string{"process_id bigint", "revision bigint"}, row: processKey, join: joinProcess,
		columns: mergeRules(authorColumns, ofNature(naturePlain, "process_id", "revision", "staged_at", "purged_at"),
			storedAs(formMatched, nil, erasedTo(emptyBytes, "hash")), erasedTo(emptyBytes, "document"))},
	"account_identifier": {of: `process_id = $1`, remove: true, key: []string{"process_id bigint", "ordinal bigint"}, columns: mergeRules(
		ofNature(naturePlain, "process_id", "ordinal", "supplier_id", "from_on", "to_on"),
		storedAs(formDigested, nil, erasedTo(`0`, "digest")), erasedTo(emptyText, "value"))},
	"refusal": {of: `(supplier_id, external) = (SELECT p.supplier_id, p.external FROM process p WHERE p.id = $1)`, remove: true,
		key: []string{"supplier_id bigint", "external text"}, row: supplierKey, join: joinSupplier,
		columns: mergeRules(authorColumns, ofNature(naturePlain, "id", "supplier_id", "at", "indexed"), ofNature(natureIdentity, "external"),
			erasedTo(nullText, "failure", "person"))},
	"posting_refusal": {of: whereAccount, remove: true, key: []string{"supplier_id bigint", "external text", "kind text"}, row: supplierKey, join: joinSupplier,
		columns: mergeRules(authorColumns, ofNature(naturePlain, "supplier_id", "kind", "account_id", "at"), ofNature(natureIdentity, "external"),
			erasedTo(nullText, "failure"))},
	"account": {of: `id = $1`, key: []string{"id bigint"}, columns: mergeRules(
		ofNature(naturePlain, "id", "revision", "team", "account_type", "ledger_length", "note_count", "statement_count", "instruction_count",
			"posting_count", "other_posting_count", "run", "packs"),
		ofNature(natureFinancial, "currency", "last_billed_to_on", "last_statement_closing_on", "last_statement_issued_on", "next_bill_due_on",
			"last_statement_balance", "transfer_balance", "open_from_on", "balance"),
		erasedTo(emptyText, "billing_name"))},
	"customer": {of: whereAccount, key: ordinalKey, columns: mergeRules(ofNature(naturePlain, "account_id", "ordinal", "role"),
		erasedTo(emptyText, "given_name", "family_name", "title", "email", "mobile", "landline"), erasedTo(nullText, "born_on"))},
	"address": {of: whereAccount, key: ordinalKey, columns: mergeRules(ofNature(naturePlain, "account_id", "ordinal"),
		erasedTo(`CAST('[]' AS {json})`, "lines"), erasedTo(emptyText, "locality", "postal_code", "country"))},
	"supply_point": {of: whereAccount, key: ordinalKey, columns: mergeRules(ofNature(naturePlain, "account_id", "ordinal", "address", "supply_type", "start_on", "end_on"),
		erasedTo(emptyText, "identifier"))},
	"agreement": {of: whereAccount, columns: ofNature(naturePlain, "account_id", "supply_point", "ordinal", "product_code", "from_on", "to_on", "agreed_at")},
	"meter": {of: whereAccount, key: []string{"account_id bigint", "supply_point bigint", "ordinal bigint"}, columns: mergeRules(ofNature(naturePlain, "account_id", "supply_point", "ordinal", "installed_on", "removed_on"),
		erasedTo(emptyText, "serial_number"), erasedTo(`CAST('[]' AS {json})`, "registers"))},
	"statement_period": {of: whereAccount, columns: mergeRules(ofNature(naturePlain, "account_id", "ordinal"), ofNature(natureFinancial, "from_on", "to_on", "balance"))},
	"ledger_entry": {of: whereAccount, key: []string{"account_id bigint", "sequence bigint"}, columns: mergeRules(authorColumns, ofNature(naturePlain, "account_id", "delivery"),
		ofNature(natureFinancial, "transaction_id", "sequence", "kind", "closed", "signed", "balance", "type", "entered_on", "original_on"),
		erasedTo(emptyText, "reason", "note"), erasedTo(nullText, "document"))},
	"note": {of: whereAccount, key: []string{"account_id bigint", "digest bigint", "ordinal bigint"}, row: []string{"account_id", "ordinal"},
		columns: mergeRules(authorColumns, ofNature(naturePlain, "account_id", "ordinal", "created_at", "pinned", "unpin_at", "delivery"),
			storedAs(formDigested, nil, erasedTo(`0`, "digest")), erasedTo(nullText, "body", "document_paths", "extra"))},
	"historical_statement": {of: whereAccount, key: []string{"account_id bigint", "statement_id text", "ordinal bigint"}, row: []string{"account_id", "ordinal"},
		columns: mergeRules(authorColumns, ofNature(naturePlain, "account_id", "ordinal", "delivery"),
			ofNature(natureFinancial, "statement_id", "from_on", "to_on", "issued_on", "number", "gross_amount", "sent_amount"), erasedTo(emptyText, "path"), erasedTo(nullText, "extra"))},
	"instruction": {of: whereAccount, key: ordinalKey, columns: mergeRules(authorColumns,
		ofNature(naturePlain, "account_id", "ordinal", "vendor", "type", "valid_from_on", "for_schedules", "status", "scheme", "delivery"),
		storedAs(formMatched, []string{"account_id", "vendor"}, erasedTo(emptyText, "reference")), erasedTo(emptyText, "last_digits", "expiry"))},
	"payment_schedule": {of: whereAccount, columns: mergeRules(ofNature(naturePlain, "account_id", "ordinal", "trigger_type", "frequency", "day_of_month"),
		ofNature(natureFinancial, "start_on", "end_on", "amount", "threshold"))},
	"mail": {of: whereAccount, key: []string{"id bigint"}, columns: mergeRules(
		ofNature(naturePlain, "id", "account_id", "supplier", "kind", "language", "state", "queued_at", "due_at", "settled_at", "token", "attempts", "uncertain", "purged_at"),
		storedAs(formMatched, []string{"account_id", "kind"}, erasedTo(`'erased ' || CAST(id AS TEXT)`, "recipient")), erasedTo(emptyText, "reply"))},
	"search_term": {of: whereAccount, remove: true, columns: mergeRules(ofNature(naturePlain, "supplier_id", "account_id"),
		storedAs(formDigested, nil, erasedTo(nullText, "term")))},
	"run_failure": {key: []string{"run_id bigint", "external text"},
		of: `external = (SELECT p.external FROM process p WHERE p.id = $1)
			AND run_id IN (SELECT r.id FROM run r JOIN process p ON p.supplier_id = r.supplier_id WHERE p.id = $1)`,
		columns: mergeRules(ofNature(naturePlain, "run_id", "at"), ofNature(natureIdentity, "external"), erasedTo(erasedFailure, "failure"))},

	"undone_account": {columns: mergeRules(ofNature(natureIdentity, "number"), ofNature(natureStaff, "actor"),
		ofNature(naturePlain, "id", "process_id", "account_created_at", "undone_at", "reason", "run_id"))},
	"deviation": {columns: mergeRules(ofNature(naturePlain, "id", "supplier_id", "figures"), ofNature(natureIdentity, "external"))},
	"event": {columns: mergeRules(ofNature(natureStaff, "key_id", "request_id"), ofNature(naturePlain, "id", "type", "supplier", "at", "details"),
		ofNature(natureIdentity, "external", "account_number"))},
	"webhook_delivery": {columns: mergeRules(ofNature(natureIdentity, "external"),
		ofNature(naturePlain, "webhook", "event_id", "supplier", "state", "attempts", "first_at", "due_at", "status", "reason"))},
	"target_delivery": {of: whereAccount, key: []string{"id bigint"}, columns: mergeRules(ofNature(natureIdentity, "external", "target_id"),
		ofNature(naturePlain, "id", "target", "account_id", "supplier_id", "kind", "items", "at", "state", "held", "due_at", "attempts", "status", "settled_at", "hold_rounds"),
		ofNature(natureFinancial, "figures"), erasedTo(emptyText, "reply"))},
	"unreadable_row": {columns: mergeRules(ofNature(naturePlain, "supplier", "location", "found_at"), ofNature(natureIdentity, "external"))},
	"run_member":     {columns: ofNature(naturePlain, "run_id", "ordinal", "process_id", "outcome")},
	"run": {columns: mergeRules(ofNature(natureStaff, "created_key_id", "created_request_id", "key_id", "request_id"), ofNature(natureIdentity, "cursor_external"),
		ofNature(naturePlain, "id", "number", "supplier_id", "team", "dry_run", "selection", "sample", "most", "at_once", "not_before", "not_after", "state",
			"cancelling", "reason", "created_at", "started_at", "ended_at", "running_since", "worked", "cutoff", "cursor_at", "seen", "selected", "chosen", "undone",
			"delivery", "codes", "listed", "purged_at", "purged_succeeded", "purged_failed", "purged_refused"))},
	"run_listed": {columns: mergeRules(ofNature(naturePlain, "run_id"), ofNature(natureIdentity, "external"))},
	"audit":      {columns: mergeRules(ofNature(natureStaff, "actor", "source", "request_id"), ofNature(natureIdentity, "subject", "acts"), ofNature(naturePlain, "id", "at", "action", "detail"))},
	// The TOTP secret, from which an operator's codes are computed, is as
	// valuable as a key.
	"operator": {key: []string{"name text"}, columns: mergeRules(
		ofNature(natureStaff, "name", "role", "supplier_roles", "disabled", "password", "totp_used", "totp_failures", "totp_failed_at", "pending_session", "pending_ends_at",
			"recovery_codes", "invitation", "invitation_ends_at", "invited_by", "created_at", "password_at", "signed_in_at", "reset_at"),
		storedAs(formSealed, nil, ofNature(natureStaff, "totp_secret", "pending_secret")))},
}

// plainTables lists the tables that contain nothing about any account: settings,
// sums, credentials and the service's own records. All their columns are plain
// or about staff.
var plainTables = []string{
	"organisation", "team", "supplier", "supplier_grant", "api_key", "service_token", "token_family", "commit_mark", "vendor", "vendor_grant",
	"claim_counter", "dry_run_lease", "mail_sender", "run_slice", "tally", "control_totals", "sign_off", "webhook", "webhook_round", "target",
	"undo_refusal", "database_identity", "operator_session", "operator_device", "passkey", "passkey_challenge", "set_up_link", "search_index", "audit_link", "audit_chain", "organisation_usage", "schema_step",
	"run_sample", "replica", "database_clock", "purge_schedule", "event_purge", "encryption_key", "rekey_progress", "scrub", "pack", "unfinished_copy",
}
