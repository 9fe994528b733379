-- +goose Up

-- Conventions: instants are microseconds since 1970 UTC, days are YYYY-MM-DD text,
-- money is in minor units. Names and keys compare byte by byte.

-- ---- Organisations and their access ----------------------------------------

-- The quotas limit what an organisation may use of the service; 0 means no limit.
CREATE TABLE organisation (
    name                  TEXT PRIMARY KEY,
    disabled              INTEGER NOT NULL CHECK (disabled IN (0, 1)),
    created_at            INTEGER NOT NULL,
    requests_per_second   INTEGER NOT NULL DEFAULT 0,
    bytes_per_day         INTEGER NOT NULL DEFAULT 0,
    revisions_per_account INTEGER NOT NULL DEFAULT 0,
    tokens_per_minute     INTEGER NOT NULL DEFAULT 600,
    concurrent_creations  INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Bytes sent per organisation and day, summed over all servers.
CREATE TABLE organisation_usage (
    organisation TEXT NOT NULL REFERENCES organisation (name),
    used_on      TEXT NOT NULL,
    bytes        INTEGER NOT NULL,
    PRIMARY KEY (organisation, used_on)
) STRICT, WITHOUT ROWID;

CREATE TABLE api_key (
    id           TEXT PRIMARY KEY,
    organisation TEXT NOT NULL REFERENCES organisation (name),
    role         TEXT NOT NULL CHECK (role IN ('importer', 'viewer', 'reader')),
    secret_hash  BLOB NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    revoked_at   INTEGER,
    used_at      INTEGER -- accurate to about a minute
) STRICT;

CREATE TABLE service_token (
    hash       BLOB PRIMARY KEY,
    purpose    TEXT NOT NULL CHECK (purpose IN ('access', 'refresh')),
    key_id     TEXT NOT NULL REFERENCES api_key (id),
    expires_at INTEGER NOT NULL,
    spent_at   INTEGER,
    family     BLOB -- the token_family it belongs to
) STRICT, WITHOUT ROWID;
CREATE INDEX service_token_expiry ON service_token (expires_at);

-- All service tokens that descend from one login. The family ends as a whole when
-- one of its refresh tokens is used twice, and at ends_at at the latest. Its tokens
-- never outlive it, so no foreign key is needed and both can be deleted freely.
CREATE TABLE token_family (
    id       BLOB PRIMARY KEY,
    ends_at  INTEGER NOT NULL,
    ended_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX token_family_end ON token_family (ends_at);

-- ---- Suppliers, teams and payment vendors ----------------------------------

CREATE TABLE team (
    name       TEXT PRIMARY KEY,
    created_at INTEGER NOT NULL
) STRICT;

-- undo_window and the retention periods keep_… are in microseconds. A retention
-- period of 0 keeps the data forever.
CREATE TABLE supplier (
    id                   INTEGER PRIMARY KEY,
    code                 TEXT NOT NULL UNIQUE,
    name                 TEXT NOT NULL,
    status               TEXT NOT NULL CHECK (status IN ('Ongoing', 'Paused', 'Complete')),
    document_root        TEXT NOT NULL,
    currency             TEXT NOT NULL,
    region               TEXT NOT NULL,
    time_zone            TEXT NOT NULL,
    send_customer_emails INTEGER NOT NULL CHECK (send_customer_emails IN (0, 1)),
    verify_documents     INTEGER NOT NULL CHECK (verify_documents IN (0, 1)),
    concurrency_limit    INTEGER NOT NULL,
    severities           TEXT NOT NULL CHECK (json_valid(severities)),
    created_at           INTEGER NOT NULL,
    undo_window          INTEGER NOT NULL DEFAULT 259200000000 CHECK (undo_window >= 0),
    keep_staged          INTEGER NOT NULL DEFAULT 0 CHECK (keep_staged >= 0),
    keep_failures        INTEGER NOT NULL DEFAULT 0 CHECK (keep_failures >= 0),
    keep_mails           INTEGER NOT NULL DEFAULT 0 CHECK (keep_mails >= 0),
    keep_events          INTEGER NOT NULL DEFAULT 0 CHECK (keep_events >= 0),
    keep_runs            INTEGER NOT NULL DEFAULT 0 CHECK (keep_runs >= 0),
    statement_amounts    TEXT NOT NULL DEFAULT 'major' CHECK (statement_amounts IN ('major', 'minor')),
    mail_delay           INTEGER NOT NULL DEFAULT 0 CHECK (mail_delay >= 0),
    packs                TEXT NOT NULL DEFAULT '', -- names such as gb-energy@1, separated by spaces
    recounts             INTEGER NOT NULL DEFAULT 0, -- how often its sums were corrected
    target               TEXT, -- the system that accounts are delivered to; NULL: none
    target_at            INTEGER -- since when
) STRICT;

-- Files that declare more fields for the accounts of the suppliers that use them. A
-- version never changes.
CREATE TABLE pack (
    code       TEXT NOT NULL,
    version    INTEGER NOT NULL,
    text       BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (code, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE supplier_grant (
    supplier_id  INTEGER NOT NULL REFERENCES supplier (id),
    organisation TEXT NOT NULL REFERENCES organisation (name),
    PRIMARY KEY (supplier_id, organisation)
) STRICT, WITHOUT ROWID;
CREATE INDEX supplier_grant_organisation ON supplier_grant (organisation);

CREATE TABLE vendor (
    code         TEXT PRIMARY KEY,
    adapter      TEXT NOT NULL,
    base_url     TEXT NOT NULL,
    secret_env   TEXT NOT NULL,
    networks     TEXT NOT NULL CHECK (json_valid(networks)),
    settings     TEXT NOT NULL CHECK (json_valid(settings)),
    created_at   INTEGER NOT NULL,
    granted_only INTEGER NOT NULL DEFAULT 0 CHECK (granted_only IN (0, 1))
) STRICT, WITHOUT ROWID;

-- Every supplier may use a vendor until the vendor is granted to one of them; from
-- then on only the suppliers listed here may use it.
CREATE TABLE vendor_grant (
    vendor      TEXT NOT NULL REFERENCES vendor (code) ON DELETE CASCADE,
    supplier_id INTEGER NOT NULL REFERENCES supplier (id),
    PRIMARY KEY (vendor, supplier_id)
) STRICT, WITHOUT ROWID;

-- ---- Import processes and staged documents ---------------------------------

-- One small row per account; the staged documents are in staging.
-- figures counts what the staged document contains. previous_figures and
-- previously_failed hold the values from before the last change, so that its
-- RETURNING clause can report what really changed.
CREATE TABLE process (
    id                 INTEGER PRIMARY KEY,
    supplier_id        INTEGER NOT NULL REFERENCES supplier (id),
    external           TEXT NOT NULL,
    state              TEXT NOT NULL CHECK (state IN ('staged', 'claimed', 'imported', 'skipped')),
    revision           INTEGER NOT NULL,
    hash               BLOB NOT NULL,
    first_staged_at    INTEGER NOT NULL,
    staged_at          INTEGER NOT NULL,
    number             TEXT, -- assigned with the first creation, for ever
    account_number     TEXT, -- the same while there is an account, else NULL
    account_created_at INTEGER,
    skip_reason        TEXT,
    claim_token        TEXT,
    claim_until        INTEGER,
    failure            TEXT CHECK (failure IS NULL OR json_valid(failure)), -- why the last attempt failed
    failed_at          INTEGER,
    figures            TEXT,
    previous_figures   TEXT,
    previously_failed  INTEGER,
    erased_at          INTEGER,
    delivery           TEXT, -- named by the request that staged it last
    UNIQUE (supplier_id, external),
    CHECK ((state = 'imported') = (account_number IS NOT NULL)),
    CHECK (account_number IS NULL OR account_number = number),
    CHECK ((state = 'imported') = (account_created_at IS NOT NULL)),
    CHECK ((state = 'skipped') = (skip_reason IS NOT NULL)),
    CHECK ((state = 'claimed') = (claim_token IS NOT NULL)),
    CHECK ((state = 'claimed') = (claim_until IS NOT NULL))
) STRICT;
-- A number may have been quoted in letters and contracts. An account that is undone and
-- created again has the number it had before, and no other account ever gets it.
CREATE UNIQUE INDEX process_number ON process (number) WHERE number IS NOT NULL;
-- By the last characters, as callers say them.
CREATE INDEX process_number_tail ON process (substr(number, length(number) - 3)) WHERE number IS NOT NULL;
CREATE INDEX process_claimed ON process (supplier_id) WHERE state = 'claimed';
-- Each list has an index of only its own rows, so that a list costs what it returns:
-- one pending account among a million imported ones is the first entry of its index.
CREATE INDEX process_pending ON process (supplier_id, first_staged_at, external)
    WHERE account_number IS NULL AND skip_reason IS NULL;
CREATE INDEX process_imported ON process (supplier_id, first_staged_at, external) WHERE account_number IS NOT NULL;
CREATE INDEX process_skipped ON process (supplier_id, first_staged_at, external) WHERE skip_reason IS NOT NULL;
CREATE INDEX process_failed ON process (supplier_id, external) WHERE failed_at IS NOT NULL AND skip_reason IS NULL;
-- For runs over one delivery.
CREATE INDEX process_delivery ON process (supplier_id, delivery, external)
    WHERE delivery IS NOT NULL AND account_number IS NULL AND skip_reason IS NULL;

-- The document is compressed by the service. key_id and
-- request_id say which API key wrote a row, in which request; an API key is never
-- deleted and never changes its organisation.
CREATE TABLE staging (
    process_id INTEGER NOT NULL REFERENCES process (id),
    revision   INTEGER NOT NULL,
    hash       BLOB NOT NULL, -- of the document as it was sent
    staged_at  INTEGER NOT NULL,
    document   BLOB NOT NULL,
    key_id     TEXT,
    request_id TEXT,
    purged_at  INTEGER, -- when the document was deleted; it is empty then
    PRIMARY KEY (process_id, revision)
) STRICT;

-- What should belong to one account only: the supply points, payment instructions
-- and references of the staged or created document, and instructions posted later.
-- Accounts that share one are found by its digest. There is no foreign key: the rows
-- are written and deleted together with the document. Those of the document are
-- numbered from 1, those posted later from -1 down.
CREATE TABLE account_identifier (
    process_id  INTEGER NOT NULL,
    ordinal     INTEGER NOT NULL,
    supplier_id INTEGER NOT NULL,
    digest      INTEGER NOT NULL, -- of value
    value       TEXT NOT NULL, -- kind, supply type, vendor or namespace, and identifier
    from_on     TEXT, -- NULL: since ever
    to_on       TEXT, -- the last day; NULL: for ever
    PRIMARY KEY (process_id, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX account_identifier_digest ON account_identifier (supplier_id, digest, process_id);

-- The last refused staging of an account: codes and paths, and who it is about. The row is
-- deleted when the account is staged. At most one row per account, so that refused
-- requests cannot fill the disk.
CREATE TABLE refusal (
    id          INTEGER PRIMARY KEY,
    supplier_id INTEGER NOT NULL REFERENCES supplier (id),
    external    TEXT NOT NULL,
    at          INTEGER NOT NULL,
    failure     TEXT NOT NULL CHECK (json_valid(failure)),
    key_id      TEXT,
    request_id  TEXT,
    person      TEXT CHECK (person IS NULL OR json_valid(person)), -- the part of the document by which the account is found
    indexed     INTEGER NOT NULL DEFAULT 0 CHECK (indexed IN (0, 1)),
    UNIQUE (supplier_id, external)
) STRICT;
CREATE INDEX refusal_unindexed ON refusal (id) WHERE indexed = FALSE;

-- The last refused posting of each kind to an account that exists: codes and paths, no
-- values. The row is deleted when a posting of the kind is accepted. It is not in
-- refusal, which every staging looks at.
CREATE TABLE posting_refusal (
    supplier_id INTEGER NOT NULL,
    external    TEXT NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('ACCOUNT', 'NOTES', 'PAYMENT_INSTRUCTION', 'STATEMENTS', 'TRANSACTIONS')),
    account_id  INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    failure     TEXT NOT NULL CHECK (json_valid(failure)),
    key_id      TEXT,
    request_id  TEXT,
    PRIMARY KEY (supplier_id, external, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX posting_refusal_account ON posting_refusal (account_id);

-- Locking this single row serialises adding the first encryption key.
CREATE TABLE claim_counter (
    id INTEGER PRIMARY KEY CHECK (id = 1)
) STRICT;
INSERT INTO claim_counter (id) VALUES (1);

-- Dry runs in progress that count toward a concurrency limit. A dry run does not
-- claim its process, so it is counted here until it ends or its lease expires.
CREATE TABLE dry_run_lease (
    token       TEXT PRIMARY KEY,
    supplier_id INTEGER NOT NULL REFERENCES supplier (id),
    until       INTEGER NOT NULL
) STRICT;

-- ---- Accounts --------------------------------------------------------------

-- An account has the id of its process, so that its rows can be written in one
-- statement without waiting for a generated key.
CREATE TABLE account (
    id                        INTEGER PRIMARY KEY REFERENCES process (id),
    revision                  INTEGER NOT NULL,
    team                      TEXT NOT NULL,
    account_type              TEXT NOT NULL,
    currency                  TEXT NOT NULL,
    billing_name              TEXT NOT NULL,
    last_billed_to_on         TEXT,
    last_statement_closing_on TEXT,
    last_statement_issued_on  TEXT,
    next_bill_due_on          TEXT,
    last_statement_balance    INTEGER,
    transfer_balance          INTEGER,
    open_from_on              TEXT NOT NULL, -- first day of the open statement period
    balance                   INTEGER NOT NULL, -- always the sum of the ledger
    ledger_length             INTEGER NOT NULL,
    note_count                INTEGER NOT NULL,
    statement_count           INTEGER NOT NULL,
    instruction_count         INTEGER NOT NULL,
    run                       TEXT, -- the run that created it; NULL: none
    posting_count             INTEGER NOT NULL DEFAULT 0, -- postings since it was created
    other_posting_count       INTEGER NOT NULL DEFAULT 0, -- those that did not come with the delivery it was staged by
    packs                     TEXT NOT NULL DEFAULT '' -- under which the document was accepted
) STRICT;

-- The tables below have no foreign key to account. Their rows are only written
-- together with the account or while it is locked, and checking the parent for each
-- row would cost as much as writing it.
CREATE TABLE customer (
    account_id  INTEGER NOT NULL,
    ordinal     INTEGER NOT NULL,
    given_name  TEXT NOT NULL,
    family_name TEXT NOT NULL,
    title       TEXT NOT NULL,
    email       TEXT NOT NULL,
    mobile      TEXT NOT NULL,
    landline    TEXT NOT NULL,
    born_on     TEXT,
    role        TEXT NOT NULL,
    PRIMARY KEY (account_id, ordinal)
) STRICT, WITHOUT ROWID;

-- The billing address has ordinal 0; supply addresses start at 1.
CREATE TABLE address (
    account_id  INTEGER NOT NULL,
    ordinal     INTEGER NOT NULL,
    lines       TEXT NOT NULL CHECK (json_valid(lines)),
    locality    TEXT NOT NULL,
    postal_code TEXT NOT NULL,
    country     TEXT NOT NULL,
    PRIMARY KEY (account_id, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE supply_point (
    account_id  INTEGER NOT NULL,
    ordinal     INTEGER NOT NULL,
    address     INTEGER NOT NULL, -- ordinal of the address
    identifier  TEXT NOT NULL,
    supply_type TEXT NOT NULL,
    start_on    TEXT,
    end_on      TEXT,
    PRIMARY KEY (account_id, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE agreement (
    account_id   INTEGER NOT NULL,
    supply_point INTEGER NOT NULL, -- ordinal of the supply point
    ordinal      INTEGER NOT NULL,
    product_code TEXT NOT NULL,
    from_on      TEXT,
    to_on        TEXT,
    agreed_at    INTEGER,
    PRIMARY KEY (account_id, supply_point, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE meter (
    account_id    INTEGER NOT NULL,
    supply_point  INTEGER NOT NULL, -- ordinal of the supply point
    ordinal       INTEGER NOT NULL,
    serial_number TEXT NOT NULL,
    installed_on  TEXT,
    removed_on    TEXT,
    registers     TEXT NOT NULL CHECK (json_valid(registers)),
    PRIMARY KEY (account_id, supply_point, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE statement_period (
    account_id INTEGER NOT NULL,
    ordinal    INTEGER NOT NULL,
    from_on    TEXT,
    to_on      TEXT,
    balance    INTEGER NOT NULL,
    PRIMARY KEY (account_id, ordinal)
) STRICT, WITHOUT ROWID;

-- The sequence number is part of the key, so that no two entries of a ledger share one.
CREATE TABLE ledger_entry (
    account_id     INTEGER NOT NULL,
    transaction_id TEXT NOT NULL,
    sequence       INTEGER NOT NULL CHECK (sequence > 0),
    kind           TEXT NOT NULL CHECK (kind IN ('opening', 'transaction')),
    closed         INTEGER NOT NULL CHECK (closed IN (0, 1)),
    signed         INTEGER NOT NULL,
    balance        INTEGER NOT NULL, -- after this entry
    type           TEXT NOT NULL,
    entered_on     TEXT NOT NULL,
    original_on    TEXT,
    reason         TEXT NOT NULL,
    note           TEXT NOT NULL,
    document       TEXT CHECK (document IS NULL OR json_valid(document)), -- the transaction as it was sent
    key_id         TEXT,
    request_id     TEXT,
    delivery       TEXT, -- named by the posting, empty if it named none; NULL: the row came with the account
    PRIMARY KEY (account_id, sequence)
) STRICT, WITHOUT ROWID;
CREATE INDEX ledger_entry_transaction ON ledger_entry (account_id, transaction_id, sequence);

-- Bodies are too long for an index, so the key holds a digest of them. The partial
-- indexes are for accounts with long lists; most accounts have no rows in them.
CREATE TABLE note (
    account_id     INTEGER NOT NULL,
    digest         INTEGER NOT NULL,
    ordinal        INTEGER NOT NULL,
    body           TEXT, -- NULL: only documents
    document_paths TEXT CHECK (document_paths IS NULL OR json_valid(document_paths)),
    created_at     INTEGER NOT NULL,
    pinned         INTEGER NOT NULL CHECK (pinned IN (0, 1)),
    unpin_at       INTEGER,
    extra          TEXT CHECK (extra IS NULL OR json_valid(extra)), -- fields without a column; NULL: none
    key_id         TEXT,
    request_id     TEXT,
    delivery       TEXT,
    PRIMARY KEY (account_id, digest, ordinal)
) STRICT, WITHOUT ROWID;
-- For pages, newest first. Notes do not arrive in the order of their times.
CREATE INDEX note_newest ON note (account_id, created_at, ordinal);
CREATE INDEX note_page ON note (account_id, ordinal) WHERE ordinal > 200;
CREATE INDEX note_pinned ON note (account_id, ordinal) WHERE pinned = TRUE;
CREATE INDEX note_created ON note (account_id, digest, created_at) WHERE ordinal > 64;

CREATE TABLE historical_statement (
    account_id   INTEGER NOT NULL,
    statement_id TEXT NOT NULL,
    ordinal      INTEGER NOT NULL,
    from_on      TEXT,
    to_on        TEXT,
    issued_on    TEXT,
    number       TEXT NOT NULL,
    gross_amount INTEGER,
    sent_amount  INTEGER, -- gross_amount as it was sent, if that was in minor units
    path         TEXT NOT NULL,
    extra        TEXT CHECK (extra IS NULL OR json_valid(extra)), -- fields without a column; NULL: none
    key_id       TEXT,
    request_id   TEXT,
    delivery     TEXT,
    PRIMARY KEY (account_id, statement_id, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX historical_statement_page ON historical_statement (account_id, ordinal) WHERE ordinal > 200;

-- status, scheme, last_digits and expiry are what the vendor answered.
CREATE TABLE instruction (
    account_id    INTEGER NOT NULL,
    ordinal       INTEGER NOT NULL,
    vendor        TEXT NOT NULL,
    reference     TEXT NOT NULL,
    type          TEXT NOT NULL,
    valid_from_on TEXT,
    for_schedules INTEGER NOT NULL CHECK (for_schedules IN (0, 1)),
    status        TEXT NOT NULL,
    scheme        TEXT NOT NULL,
    last_digits   TEXT NOT NULL,
    expiry        TEXT NOT NULL,
    key_id        TEXT,
    request_id    TEXT,
    delivery      TEXT,
    PRIMARY KEY (account_id, ordinal)
) STRICT, WITHOUT ROWID;
CREATE INDEX instruction_reference ON instruction (account_id, vendor, reference) WHERE ordinal > 16;

CREATE TABLE payment_schedule (
    account_id   INTEGER NOT NULL,
    ordinal      INTEGER NOT NULL,
    start_on     TEXT,
    end_on       TEXT,
    trigger_type TEXT NOT NULL,
    amount       INTEGER,
    frequency    TEXT NOT NULL,
    day_of_month INTEGER NOT NULL,
    threshold    INTEGER,
    PRIMARY KEY (account_id, ordinal)
) STRICT, WITHOUT ROWID;

-- What is left of an account that was undone. An account that was created and undone
-- several times has several rows, all with the same number.
CREATE TABLE undone_account (
    id                 INTEGER PRIMARY KEY,
    number             TEXT NOT NULL,
    process_id         INTEGER NOT NULL REFERENCES process (id),
    account_created_at INTEGER NOT NULL,
    undone_at          INTEGER NOT NULL,
    actor              TEXT NOT NULL,
    reason             TEXT NOT NULL,
    run_id             TEXT -- number of the run that had created the account
) STRICT;
CREATE INDEX undone_account_number ON undone_account (number, id);
CREATE INDEX undone_account_process ON undone_account (process_id, id);
CREATE INDEX undone_account_run ON undone_account (run_id) WHERE run_id IS NOT NULL;

-- How often an undo was refused, by reason.
CREATE TABLE undo_refusal (
    reason TEXT PRIMARY KEY,
    times  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- ---- Runs: the service creates a supplier's staged accounts by itself ------

CREATE TABLE run (
    id                 INTEGER PRIMARY KEY,
    number             TEXT NOT NULL UNIQUE, -- the public name
    supplier_id        INTEGER NOT NULL REFERENCES supplier (id),
    team               TEXT NOT NULL,
    dry_run            INTEGER NOT NULL CHECK (dry_run IN (0, 1)),
    selection          TEXT NOT NULL CHECK (selection IN ('pending', 'failed', 'untried')),
    sample             INTEGER NOT NULL, -- take every Nth account; 0: all
    most               INTEGER NOT NULL, -- maximum number of accounts; 0: all
    at_once            INTEGER NOT NULL, -- accounts in parallel; 0: the service decides
    not_before         INTEGER,
    not_after          INTEGER,
    state              TEXT NOT NULL CHECK (state IN ('WAITING', 'RUNNING', 'PAUSED', 'FINISHED', 'CANCELLED')),
    cancelling         INTEGER NOT NULL CHECK (cancelling IN (0, 1)),
    reason             TEXT NOT NULL, -- of a pause, in effect or requested
    created_at         INTEGER NOT NULL,
    started_at         INTEGER,
    ended_at           INTEGER,
    running_since      INTEGER, -- NULL unless it is running
    worked             INTEGER NOT NULL, -- microseconds of running before running_since
    -- Progress of choosing the accounts: it walks everything staged by the cutoff, from
    -- the cursor on; seen counts the accounts passed, selected those chosen.
    cutoff             INTEGER,
    cursor_at          INTEGER NOT NULL,
    cursor_external    TEXT NOT NULL,
    seen               INTEGER NOT NULL,
    selected           INTEGER NOT NULL,
    chosen             INTEGER NOT NULL CHECK (chosen IN (0, 1)),
    created_key_id     TEXT,
    created_request_id TEXT,
    key_id             TEXT, -- on whose behalf it continues
    request_id         TEXT,
    undone             INTEGER NOT NULL DEFAULT 0, -- accounts undone; counting them on each read would be slow
    delivery           TEXT NOT NULL DEFAULT '', -- only accounts staged by it; empty: by any
    codes              TEXT NOT NULL DEFAULT '[]', -- only accounts that last failed with one of them, as JSON; none: all
    listed             INTEGER NOT NULL DEFAULT 0, -- only the accounts in run_listed, this many; 0: all
    -- When its members, slices and failures were purged, or began to be, and the sums
    -- of the slices that are gone.
    purged_at          INTEGER,
    purged_succeeded   INTEGER NOT NULL DEFAULT 0,
    purged_failed      INTEGER NOT NULL DEFAULT 0,
    purged_refused     INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX run_live ON run (supplier_id) WHERE state IN ('WAITING', 'RUNNING', 'PAUSED');
CREATE INDEX run_list ON run (supplier_id, id);

-- The accounts that a run may choose from, until they are chosen.
CREATE TABLE run_listed (
    run_id   INTEGER NOT NULL,
    external TEXT NOT NULL,
    PRIMARY KEY (run_id, external)
) STRICT, WITHOUT ROWID;

-- The accounts of a run and their outcomes. An outcome is written in the transaction
-- that makes it true, by the worker that holds the slice.
CREATE TABLE run_member (
    run_id     INTEGER NOT NULL,
    ordinal    INTEGER NOT NULL,
    process_id INTEGER NOT NULL,
    outcome    TEXT CHECK (outcome IN ('succeeded', 'failed', 'refused')),
    PRIMARY KEY (run_id, ordinal)
) STRICT, WITHOUT ROWID;

-- A range of a run's members for one worker at a time. Its sums are written with the
-- outcomes they count, so that no two workers wait for the same row.
CREATE TABLE run_slice (
    run_id    INTEGER NOT NULL REFERENCES run (id),
    slice     INTEGER NOT NULL,
    size      INTEGER NOT NULL,
    succeeded INTEGER NOT NULL,
    failed    INTEGER NOT NULL,
    refused   INTEGER NOT NULL,
    token     TEXT, -- of the worker that holds it
    until     INTEGER,
    width     INTEGER NOT NULL, -- accounts the worker may have in progress
    next_at   INTEGER NOT NULL, -- not to be claimed before
    tries     INTEGER NOT NULL, -- how often it was postponed
    done      INTEGER NOT NULL CHECK (done IN (0, 1)),
    PRIMARY KEY (run_id, slice),
    CHECK (done = (succeeded + failed + refused = size)),
    CHECK ((token IS NULL) = (until IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX run_slice_open ON run_slice (run_id, slice) WHERE done = FALSE;

-- Why accounts failed in a run; process keeps only the last failure.
CREATE TABLE run_failure (
    run_id   INTEGER NOT NULL,
    external TEXT NOT NULL,
    at       INTEGER NOT NULL,
    failure  TEXT NOT NULL CHECK (json_valid(failure)),
    PRIMARY KEY (run_id, external)
) STRICT, WITHOUT ROWID;

-- Progress of live runs over time, one row every few seconds.
CREATE TABLE run_sample (
    run_id INTEGER NOT NULL REFERENCES run (id),
    at     INTEGER NOT NULL,
    state  TEXT NOT NULL,
    done   INTEGER NOT NULL,
    PRIMARY KEY (run_id, at)
) STRICT, WITHOUT ROWID;

-- ---- Reconciliation --------------------------------------------------------

-- Changes of a supplier's figures, by account status. Rows are only added, in the
-- transaction of the change, so that no transaction waits for another; a background
-- job folds many rows into one. Their sum is always exact.
CREATE TABLE tally (
    id          INTEGER PRIMARY KEY,
    supplier_id INTEGER NOT NULL,
    standing    TEXT NOT NULL CHECK (standing IN ('pending', 'failed', 'skipped', 'unstaged', 'created', 'deviating', 'own_notes', 'delivered')),
    figures     TEXT NOT NULL
) STRICT;
CREATE INDEX tally_supplier ON tally (supplier_id, id);

-- Differences between what was sent for an account and what the account contains.
CREATE TABLE deviation (
    id          INTEGER PRIMARY KEY,
    supplier_id INTEGER NOT NULL,
    external    TEXT NOT NULL,
    figures     TEXT NOT NULL
) STRICT;
CREATE INDEX deviation_account ON deviation (supplier_id, external, id);

-- What a supplier's source system reports. The newest row counts; older ones stay.
CREATE TABLE control_totals (
    id          INTEGER PRIMARY KEY,
    supplier_id INTEGER NOT NULL REFERENCES supplier (id),
    set_at      INTEGER NOT NULL,
    totals      TEXT NOT NULL CHECK (json_valid(totals)),
    key_id      TEXT,
    request_id  TEXT,
    operator    TEXT -- who entered them by hand
) STRICT;
CREATE INDEX control_totals_supplier ON control_totals (supplier_id, id);

-- Signed reconciliations. They never change.
CREATE TABLE sign_off (
    id          INTEGER PRIMARY KEY,
    supplier_id INTEGER NOT NULL REFERENCES supplier (id),
    signed_at   INTEGER NOT NULL,
    actor       TEXT NOT NULL,
    report      TEXT NOT NULL, -- JSON, exactly the bytes that were hashed
    report_hash BLOB NOT NULL,
    page        TEXT NOT NULL, -- the same report as HTML
    page_hash   BLOB NOT NULL
) STRICT;
CREATE INDEX sign_off_supplier ON sign_off (supplier_id, id);

-- +goose StatementBegin
CREATE TRIGGER sign_off_no_update BEFORE UPDATE ON sign_off
BEGIN
    SELECT raise(ABORT, 'a signed reconciliation never changes');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER sign_off_no_delete BEFORE DELETE ON sign_off
BEGIN
    SELECT raise(ABORT, 'a signed reconciliation never changes');
END;
-- +goose StatementEnd

-- ---- Events and webhooks ---------------------------------------------------

CREATE TABLE event (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    type           TEXT NOT NULL,
    supplier       TEXT NOT NULL,
    external       TEXT NOT NULL,
    account_number TEXT NOT NULL,
    at             INTEGER NOT NULL,
    details        TEXT NOT NULL CHECK (json_valid(details)),
    key_id         TEXT,
    request_id     TEXT
) STRICT;
CREATE INDEX event_process ON event (supplier, external, id);
CREATE INDEX event_supplier ON event (supplier, id);

-- The last purged event of a supplier and the latest time among the purged ones.
-- A reader whose cursor is older is told that it has missed events.
CREATE TABLE event_purge (
    supplier TEXT PRIMARY KEY,
    through  INTEGER NOT NULL,
    at       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The progress of a webhook is one number. Only deliveries that failed, and those
-- waiting behind them, have rows of their own.
CREATE TABLE webhook (
    name         TEXT PRIMARY KEY,
    organisation TEXT NOT NULL REFERENCES organisation (name),
    url          TEXT NOT NULL,
    types        TEXT NOT NULL CHECK (json_valid(types)),
    suppliers    TEXT NOT NULL CHECK (json_valid(suppliers)),
    include_data INTEGER NOT NULL CHECK (include_data IN (0, 1)), -- events carry the whole account
    secrets      TEXT NOT NULL CHECK (json_valid(secrets)), -- the inputs the secrets are derived from, not the secrets
    state        TEXT NOT NULL CHECK (state IN ('active', 'gone', 'off')),
    position     INTEGER NOT NULL, -- the last event that was handled
    created_at   INTEGER NOT NULL,
    due_at       INTEGER NOT NULL,
    attempts     INTEGER NOT NULL DEFAULT 0,
    failing_at   INTEGER,
    delivered    INTEGER NOT NULL DEFAULT 0,
    delivered_at INTEGER,
    lease_token  TEXT,
    lease_until  INTEGER,
    CHECK ((lease_token IS NULL) = (lease_until IS NULL))
) STRICT;
CREATE INDEX webhook_organisation ON webhook (organisation);

CREATE TABLE webhook_delivery (
    webhook  TEXT NOT NULL REFERENCES webhook (name) ON DELETE CASCADE,
    event_id INTEGER NOT NULL,
    supplier TEXT NOT NULL,
    external TEXT NOT NULL,
    state    TEXT NOT NULL CHECK (state IN ('waiting', 'dead')),
    attempts INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    due_at   INTEGER, -- NULL: waiting behind an earlier one of its account, or dead
    status   INTEGER NOT NULL,
    reason   TEXT NOT NULL,
    PRIMARY KEY (webhook, event_id)
) STRICT;
CREATE INDEX webhook_delivery_account ON webhook_delivery (webhook, supplier, external, event_id) WHERE state = 'waiting';
CREATE INDEX webhook_delivery_due ON webhook_delivery (webhook, due_at) WHERE due_at IS NOT NULL;
-- Events that are still to be delivered are not purged.
CREATE INDEX webhook_delivery_event ON webhook_delivery (event_id);

-- A log of delivery attempts.
CREATE TABLE webhook_round (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook   TEXT NOT NULL REFERENCES webhook (name) ON DELETE CASCADE,
    at        INTEGER NOT NULL,
    position  INTEGER NOT NULL,
    delivered INTEGER NOT NULL,
    failed    INTEGER NOT NULL,
    dead      INTEGER NOT NULL,
    status    INTEGER NOT NULL,
    reason    TEXT NOT NULL,
    took      INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_round_webhook ON webhook_round (webhook, id);

-- ---- Targets ---------------------------------------------------------------

-- The systems that accounts are delivered to. lease_until is kept when the operator
-- ends a claim, because requests of its holder may still be under way until then.
CREATE TABLE target (
    code         TEXT PRIMARY KEY,
    url          TEXT NOT NULL,
    secrets      TEXT NOT NULL CHECK (json_valid(secrets)), -- the inputs the secrets are derived from, not the secrets
    secret_env   TEXT NOT NULL,
    shape        TEXT NOT NULL, -- a jq program; '': none
    at_once      INTEGER NOT NULL CHECK (at_once > 0),
    takes_back   INTEGER NOT NULL CHECK (takes_back IN (0, 1)),
    state        TEXT NOT NULL CHECK (state IN ('active', 'paused')),
    created_at   INTEGER NOT NULL,
    due_at       INTEGER NOT NULL,
    attempts     INTEGER NOT NULL DEFAULT 0,
    failing_at   INTEGER,
    status       INTEGER NOT NULL DEFAULT 0,
    reason       TEXT NOT NULL DEFAULT '',
    delivered    INTEGER NOT NULL DEFAULT 0,
    delivered_at INTEGER,
    rounds       INTEGER NOT NULL DEFAULT 0, -- how many rounds were saved
    uncertain_at INTEGER, -- when a claim was last taken over from a holder that had not reported
    lease_token  TEXT,
    lease_until  INTEGER
) STRICT;

-- What is to be delivered to a target, in the order of its account. A row is written
-- in the transaction that creates the account or posts to it. It is open until it is
-- delivered, and the later ones of the account wait for it.
CREATE TABLE target_delivery (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    target      TEXT NOT NULL,
    account_id  INTEGER NOT NULL,
    supplier_id INTEGER NOT NULL,
    external    TEXT NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('account', 'notes', 'transactions', 'statements', 'payment-instructions')),
    items       TEXT NOT NULL, -- which items of the account's lists it has
    figures     TEXT NOT NULL,
    at          INTEGER NOT NULL,
    state       TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'pending', 'delivered', 'refused')),
    held        INTEGER NOT NULL DEFAULT 0 CHECK (held IN (0, 1)), -- the account is being taken back
    due_at      INTEGER, -- NULL: settled, held or waiting behind another one
    attempts    INTEGER NOT NULL DEFAULT 0,
    status      INTEGER NOT NULL DEFAULT 0,
    reply       TEXT NOT NULL DEFAULT '', -- what the target said, or why it was not reached
    target_id   TEXT NOT NULL DEFAULT '',
    settled_at  INTEGER,
    hold_rounds INTEGER, -- the rounds of the target when it was held
    CHECK (due_at IS NULL OR state = 'waiting')
) STRICT;
CREATE INDEX target_delivery_due ON target_delivery (target, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX target_delivery_account ON target_delivery (account_id, id);
CREATE INDEX target_delivery_state ON target_delivery (target, state, id) WHERE state IN ('refused', 'pending');
CREATE INDEX target_delivery_refused ON target_delivery (supplier_id, external, id) WHERE state = 'refused';

-- ---- Mail to customers -----------------------------------------------------

CREATE TABLE mail (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL,
    kind       TEXT NOT NULL,
    recipient  TEXT NOT NULL,
    queued_at  INTEGER NOT NULL,
    supplier   TEXT NOT NULL,
    language   TEXT NOT NULL DEFAULT '',
    state      TEXT NOT NULL DEFAULT 'queued'
        CHECK (state IN ('queued', 'sending', 'sent', 'refused', 'withdrawn', 'bounced')),
    due_at     INTEGER, -- next attempt, or the end of the sender's lease; NULL: settled
    settled_at INTEGER,
    token      TEXT, -- of the sender
    attempts   INTEGER NOT NULL DEFAULT 0,
    uncertain  INTEGER NOT NULL DEFAULT 0 CHECK (uncertain IN (0, 1)), -- an attempt ended without an answer
    reply      TEXT NOT NULL DEFAULT '',
    purged_at  INTEGER, -- when the recipient was deleted
    CHECK ((due_at IS NOT NULL) = (state IN ('queued', 'sending'))),
    CHECK ((settled_at IS NULL) = (state IN ('queued', 'sending'))),
    CHECK ((token IS NOT NULL) = (state = 'sending'))
) STRICT;
-- One mail per account, kind and address, ever.
CREATE UNIQUE INDEX mail_once ON mail (account_id, kind, recipient);
CREATE INDEX mail_due ON mail (supplier, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX mail_state ON mail (state, id);
-- Settled mails that are not purged yet.
CREATE INDEX mail_settled ON mail (supplier, settled_at, id) WHERE due_at IS NULL AND purged_at IS NULL;

-- Locking this single row serialises the senders. It holds the shared send rate limit
-- and until when some server has promised to send.
CREATE TABLE mail_sender (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    free_at    INTEGER NOT NULL,
    open_until INTEGER NOT NULL
) STRICT;
INSERT INTO mail_sender (id, free_at, open_until) VALUES (1, 0, 0);

-- ---- Audit trail -----------------------------------------------------------

-- What organisations did in one transaction is one row; acts lists it.
CREATE TABLE audit (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    at         INTEGER NOT NULL,
    actor      TEXT NOT NULL,
    action     TEXT NOT NULL,
    subject    TEXT NOT NULL,
    detail     TEXT NOT NULL,
    source     TEXT NOT NULL DEFAULT '',
    request_id TEXT NOT NULL DEFAULT '',
    acts       TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX audit_subject ON audit (subject, id) WHERE subject <> '';

-- The hash chain: each link has the hash of its entry and of all entries before it.
-- One chainer at a time writes the links after the entries are committed, because
-- otherwise every audited transaction would wait for every other.
CREATE TABLE audit_link (
    position INTEGER PRIMARY KEY,
    entry    INTEGER NOT NULL UNIQUE,
    hash     TEXT NOT NULL
) STRICT;

-- The end of the chain. Entries with an id up to through are linked.
CREATE TABLE audit_chain (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    name     TEXT NOT NULL,
    position INTEGER NOT NULL,
    hash     TEXT NOT NULL,
    through  INTEGER NOT NULL
) STRICT;
INSERT INTO audit_chain (id, name, position, hash, through) VALUES (1, lower(hex(randomblob(16))), 0, '', 0);

-- ---- Search ----------------------------------------------------------------

-- The terms that accounts are found by: a letter for the kind followed by the term,
-- or a keyed hash of both. A search reads a byte range of terms. A refused account that
-- was never staged has the negative id of its refusal.
CREATE TABLE search_term (
    term        TEXT NOT NULL,
    supplier_id INTEGER NOT NULL,
    account_id  INTEGER NOT NULL,
    PRIMARY KEY (term, supplier_id, account_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX search_term_account ON search_term (account_id, term);

-- The last entry of the audit whose stagings the search indexer has handled.
CREATE TABLE search_index (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    audit_after INTEGER NOT NULL
) STRICT;
INSERT INTO search_index (id, audit_after) VALUES (1, 0);

-- ---- Operators of the console ----------------------------------------------

-- Secrets are stored as hashes, except the TOTP secret, which codes are computed from.
CREATE TABLE operator (
    name               TEXT PRIMARY KEY,
    role               TEXT NOT NULL CHECK (role IN ('administrator', 'operator', 'support', 'auditor', '')),
    supplier_roles     TEXT NOT NULL, -- NORTH=support SOUTH=operator
    disabled           INTEGER NOT NULL CHECK (disabled IN (0, 1)),
    password           TEXT NOT NULL,
    totp_secret        TEXT NOT NULL,
    totp_used          INTEGER NOT NULL,
    totp_failures      INTEGER NOT NULL,
    totp_failed_at     INTEGER,
    pending_secret     TEXT NOT NULL, -- of a second factor that is not confirmed yet
    pending_session    TEXT NOT NULL,
    pending_ends_at    INTEGER,
    recovery_codes     BLOB NOT NULL, -- hashes of 32 bytes, one after the other
    invitation         BLOB,
    invitation_ends_at INTEGER,
    invited_by         TEXT NOT NULL,
    created_at         INTEGER NOT NULL,
    password_at        INTEGER,
    signed_in_at       INTEGER,
    reset_at           INTEGER, -- until the operator has been told at a sign-in
    CHECK ((invitation IS NULL) = (invitation_ends_at IS NULL))
) STRICT;
CREATE UNIQUE INDEX operator_invitation ON operator (invitation) WHERE invitation IS NOT NULL;

CREATE TABLE operator_session (
    id         TEXT PRIMARY KEY,
    hash       BLOB NOT NULL UNIQUE,
    operator   TEXT NOT NULL REFERENCES operator (name),
    address    TEXT NOT NULL,
    agent      TEXT NOT NULL,
    method     TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL,
    ends_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX operator_session_operator ON operator_session (operator);
CREATE INDEX operator_session_end ON operator_session (ends_at);

-- Browsers in which operators have signed in.
CREATE TABLE operator_device (
    operator TEXT NOT NULL REFERENCES operator (name),
    hash     BLOB NOT NULL,
    network  TEXT NOT NULL,
    seen_at  INTEGER NOT NULL,
    PRIMARY KEY (operator, hash)
) STRICT, WITHOUT ROWID;

-- Passkeys with which operators sign in. The public key and its counters are in credential.
CREATE TABLE passkey (
    operator   TEXT NOT NULL REFERENCES operator (name),
    name       TEXT NOT NULL,
    id         BLOB NOT NULL UNIQUE,
    credential TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    used_at    INTEGER,
    PRIMARY KEY (operator, name)
) STRICT, WITHOUT ROWID;

-- Challenges that a passkey has not answered yet. Each is answered once.
CREATE TABLE passkey_challenge (
    hash    BLOB PRIMARY KEY,
    session TEXT NOT NULL, -- that registers a passkey; empty for a sign-in
    data    TEXT NOT NULL,
    ends_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX passkey_challenge_end ON passkey_challenge (ends_at);

-- One-time links that create the first operator of a new server.
CREATE TABLE set_up_link (
    hash    BLOB PRIMARY KEY,
    ends_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- ---- The database itself ---------------------------------------------------

-- Each commit leaves a mark for a while. A client that lost the reply to its commit
-- looks the mark up. A void mark says that the commit did not happen.
CREATE TABLE commit_mark (
    id   BLOB PRIMARY KEY,
    at   INTEGER NOT NULL,
    void INTEGER NOT NULL CHECK (void IN (0, 1)),
    -- The last schema step that the program knows. A later step raises the limit, so that
    -- older programs cannot commit any more; see internal/store/engine/fence.go.
    step INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX commit_mark_at ON commit_mark (at);
-- +goose StatementBegin
CREATE TRIGGER commit_mark_step BEFORE INSERT ON commit_mark WHEN NEW.step < 1
BEGIN SELECT RAISE(ABORT, 'the schema is newer than this program'); END;
-- +goose StatementEnd

-- Where this database runs. A restored copy compares this with its own location, so
-- that it does not bring revoked API keys back to life unnoticed.
CREATE TABLE database_identity (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    fingerprint TEXT, -- of the server and the database in it; NULL until a server has used it
    copied_at   INTEGER, -- set in a backup; NULL in the original
    backed_up_at INTEGER, -- when the last backup was recorded; NULL: never
    instance    TEXT NOT NULL DEFAULT (lower(hex(randomblob(8)))) -- names this installation in its events
) STRICT;
INSERT INTO database_identity (id) VALUES (1);

-- Has a row from the start of 'landfall copy' into this database until the copy was
-- checked. Until then no server uses it.
CREATE TABLE unfinished_copy (
    at INTEGER PRIMARY KEY
) STRICT;

-- When a server last looked at the database's clock, and the last jump that was
-- noticed. After the clock was set back, the instants in the tables are moved back
-- table by table; moved counts the tables that are done.
CREATE TABLE database_clock (
    id        INTEGER PRIMARY KEY CHECK (id = 1),
    seen_at   INTEGER NOT NULL,
    jumped_at INTEGER,
    jump      INTEGER NOT NULL, -- negative: it was set back
    moved     INTEGER NOT NULL
) STRICT;
INSERT INTO database_clock (id, seen_at, jump, moved) VALUES (1, 0, 0, 1000);

-- The servers that use this database, as they report themselves.
CREATE TABLE replica (
    id         TEXT PRIMARY KEY,
    host       TEXT NOT NULL,
    version    TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL,
    key_id     TEXT NOT NULL DEFAULT '', -- encryption key that it writes with; '': none
    doing      TEXT NOT NULL DEFAULT '' -- what it works on, for people
) STRICT;

-- When the next purge is due, and when the last one completed. A server that purges
-- moves due_at ahead, so that the others wait and one of them takes over if it stops.
CREATE TABLE purge_schedule (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    due_at   INTEGER NOT NULL,
    ended_at INTEGER
) STRICT;
INSERT INTO purge_schedule (id, due_at) VALUES (1, 0);

-- Rows that the last purge of their supplier could not read and left as they were.
CREATE TABLE unreadable_row (
    supplier TEXT NOT NULL,
    external TEXT NOT NULL,
    location TEXT NOT NULL, -- table and column
    found_at INTEGER NOT NULL,
    PRIMARY KEY (supplier, external, location)
) STRICT, WITHOUT ROWID;

-- The pass that checks all data in the background: when it is due, how far it is, and
-- what the last whole one found. A server that works on it moves due_at ahead.
CREATE TABLE scrub (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    due_at   INTEGER NOT NULL,
    state    TEXT NOT NULL,
    result   TEXT NOT NULL,
    ended_at INTEGER
) STRICT;
INSERT INTO scrub (id, due_at, state, result) VALUES (1, 0, '{}', '{}');

-- The encryption keys in use, by name. record is sealed with the key: it has a random
-- value that all keys of this database are derived with, and says whether everything is
-- encrypted, so that values in the clear are refused. Without one of these keys the
-- database cannot be opened. A row is deleted when nothing is encrypted with its key any
-- more.
CREATE TABLE encryption_key (
    id       TEXT PRIMARY KEY,
    record   BLOB NOT NULL,
    added_at INTEGER NOT NULL
) STRICT;

-- Progress of encrypting everything with another key.
CREATE TABLE rekey_progress (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    key_id     TEXT NOT NULL,
    table_name TEXT NOT NULL,
    after_row  TEXT NOT NULL CHECK (json_valid(after_row)), -- key of the last row that was read
    seen       INTEGER NOT NULL,
    encrypted  INTEGER NOT NULL,
    missed     INTEGER NOT NULL, -- rows that changed meanwhile
    unreadable INTEGER NOT NULL, -- values that do not open
    started_at INTEGER NOT NULL
) STRICT;
