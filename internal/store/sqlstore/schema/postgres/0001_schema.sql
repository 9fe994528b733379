-- +goose Up

-- Conventions: instants are microseconds since 1970 UTC, days are YYYY-MM-DD text,
-- money is in minor units. Names and keys compare byte by byte, whatever the
-- collation of the database.

-- ---- Organisations and their access ----------------------------------------

-- The quotas limit what an organisation may use of the service; 0 means no limit.
CREATE TABLE organisation (
    name                  TEXT COLLATE "C" PRIMARY KEY,
    disabled              BOOLEAN NOT NULL,
    created_at            BIGINT NOT NULL,
    requests_per_second   BIGINT NOT NULL DEFAULT 0,
    bytes_per_day         BIGINT NOT NULL DEFAULT 0,
    revisions_per_account BIGINT NOT NULL DEFAULT 0,
    tokens_per_minute     BIGINT NOT NULL DEFAULT 600,
    concurrent_creations  BIGINT NOT NULL DEFAULT 0
);

-- Bytes sent per organisation and day, summed over all servers.
CREATE TABLE organisation_usage (
    organisation TEXT COLLATE "C" NOT NULL REFERENCES organisation (name),
    used_on      TEXT COLLATE "C" NOT NULL,
    bytes        BIGINT NOT NULL,
    PRIMARY KEY (organisation, used_on)
);

CREATE TABLE api_key (
    id           TEXT COLLATE "C" PRIMARY KEY,
    organisation TEXT COLLATE "C" NOT NULL REFERENCES organisation (name),
    role         TEXT NOT NULL CHECK (role IN ('importer', 'viewer', 'reader')),
    secret_hash  BYTEA NOT NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT,
    revoked_at   BIGINT,
    used_at      BIGINT -- accurate to about a minute
);

CREATE TABLE service_token (
    hash       BYTEA PRIMARY KEY,
    purpose    TEXT NOT NULL CHECK (purpose IN ('access', 'refresh')),
    key_id     TEXT COLLATE "C" NOT NULL REFERENCES api_key (id),
    expires_at BIGINT NOT NULL,
    spent_at   BIGINT,
    family     BYTEA -- the token_family it belongs to
);
CREATE INDEX service_token_expiry ON service_token (expires_at);

-- All service tokens that descend from one login. The family ends as a whole when
-- one of its refresh tokens is used twice, and at ends_at at the latest. Its tokens
-- never outlive it, so no foreign key is needed and both can be deleted freely.
CREATE TABLE token_family (
    id       BYTEA PRIMARY KEY,
    ends_at  BIGINT NOT NULL,
    ended_at BIGINT
);
CREATE INDEX token_family_end ON token_family (ends_at);

-- ---- Suppliers, teams and payment vendors ----------------------------------

CREATE TABLE team (
    name       TEXT COLLATE "C" PRIMARY KEY,
    created_at BIGINT NOT NULL
);

-- undo_window and the retention periods keep_… are in microseconds. A retention
-- period of 0 keeps the data forever.
CREATE TABLE supplier (
    id                   BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    code                 TEXT COLLATE "C" NOT NULL UNIQUE,
    name                 TEXT NOT NULL,
    status               TEXT NOT NULL CHECK (status IN ('Ongoing', 'Paused', 'Complete')),
    document_root        TEXT NOT NULL,
    currency             TEXT NOT NULL,
    region               TEXT NOT NULL,
    time_zone            TEXT NOT NULL,
    send_customer_emails BOOLEAN NOT NULL,
    verify_documents     BOOLEAN NOT NULL,
    concurrency_limit    BIGINT NOT NULL,
    severities           JSON NOT NULL,
    created_at           BIGINT NOT NULL,
    undo_window          BIGINT NOT NULL DEFAULT 259200000000 CHECK (undo_window >= 0),
    keep_staged          BIGINT NOT NULL DEFAULT 0 CHECK (keep_staged >= 0),
    keep_failures        BIGINT NOT NULL DEFAULT 0 CHECK (keep_failures >= 0),
    keep_mails           BIGINT NOT NULL DEFAULT 0 CHECK (keep_mails >= 0),
    keep_events          BIGINT NOT NULL DEFAULT 0 CHECK (keep_events >= 0),
    keep_runs            BIGINT NOT NULL DEFAULT 0 CHECK (keep_runs >= 0),
    statement_amounts    TEXT NOT NULL DEFAULT 'major' CHECK (statement_amounts IN ('major', 'minor')),
    mail_delay           BIGINT NOT NULL DEFAULT 0 CHECK (mail_delay >= 0),
    packs                TEXT NOT NULL DEFAULT '', -- names such as gb-energy@1, separated by spaces
    recounts             BIGINT NOT NULL DEFAULT 0, -- how often its sums were corrected
    target               TEXT COLLATE "C", -- the system that accounts are delivered to; NULL: none
    target_at            BIGINT -- since when
);

-- Files that declare more fields for the accounts of the suppliers that use them. A
-- version never changes.
CREATE TABLE pack (
    code       TEXT COLLATE "C" NOT NULL,
    version    INTEGER NOT NULL,
    text       BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (code, version)
);

CREATE TABLE supplier_grant (
    supplier_id  BIGINT NOT NULL REFERENCES supplier (id),
    organisation TEXT COLLATE "C" NOT NULL REFERENCES organisation (name),
    PRIMARY KEY (supplier_id, organisation)
);
CREATE INDEX supplier_grant_organisation ON supplier_grant (organisation);

CREATE TABLE vendor (
    code         TEXT COLLATE "C" PRIMARY KEY,
    adapter      TEXT NOT NULL,
    base_url     TEXT NOT NULL,
    secret_env   TEXT NOT NULL,
    networks     JSON NOT NULL,
    settings     JSON NOT NULL,
    created_at   BIGINT NOT NULL,
    granted_only BOOLEAN NOT NULL DEFAULT FALSE
);

-- Every supplier may use a vendor until the vendor is granted to one of them; from
-- then on only the suppliers listed here may use it.
CREATE TABLE vendor_grant (
    vendor      TEXT COLLATE "C" NOT NULL REFERENCES vendor (code) ON DELETE CASCADE,
    supplier_id BIGINT NOT NULL REFERENCES supplier (id),
    PRIMARY KEY (vendor, supplier_id)
);

-- ---- Import processes and staged documents ---------------------------------

-- One small row per account; the staged documents are in staging. A twentieth of each
-- page stays free so that staging an account again can update its row in place.
-- There is no foreign key to supplier: checking and locking the parent for every new
-- row took two fifths of the time of a staging. The transaction that writes the row
-- has just read the supplier, and the trigger below keeps suppliers from going away.
-- figures counts what the staged document contains. previous_figures and
-- previously_failed hold the values from before the last change, so that its
-- RETURNING clause can report what really changed.
CREATE TABLE process (
    id                 BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    supplier_id        BIGINT NOT NULL,
    external           TEXT COLLATE "C" NOT NULL,
    state              TEXT NOT NULL CHECK (state IN ('staged', 'claimed', 'imported', 'skipped')),
    revision           BIGINT NOT NULL,
    hash               BYTEA NOT NULL,
    first_staged_at    BIGINT NOT NULL,
    staged_at          BIGINT NOT NULL,
    number             TEXT COLLATE "C", -- assigned with the first creation, for ever
    account_number     TEXT COLLATE "C", -- the same while there is an account, else NULL
    account_created_at BIGINT,
    skip_reason        TEXT,
    claim_token        TEXT,
    claim_until        BIGINT,
    failure            JSON, -- why the last attempt failed
    failed_at          BIGINT,
    figures            TEXT,
    previous_figures   TEXT,
    previously_failed  BOOLEAN,
    erased_at          BIGINT,
    delivery           TEXT COLLATE "C", -- named by the request that staged it last
    UNIQUE (supplier_id, external),
    CHECK ((state = 'imported') = (account_number IS NOT NULL)),
    CHECK (account_number IS NULL OR account_number = number),
    CHECK ((state = 'imported') = (account_created_at IS NOT NULL)),
    CHECK ((state = 'skipped') = (skip_reason IS NOT NULL)),
    CHECK ((state = 'claimed') = (claim_token IS NOT NULL)),
    CHECK ((state = 'claimed') = (claim_until IS NOT NULL))
) WITH (fillfactor = 95);
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

-- The document is compressed by the service, so the database must not try again. key_id and
-- request_id say which API key wrote a row, in which request; an API key is never
-- deleted and never changes its organisation.
CREATE TABLE staging (
    process_id BIGINT NOT NULL,
    revision   BIGINT NOT NULL,
    hash       BYTEA NOT NULL, -- of the document as it was sent
    staged_at  BIGINT NOT NULL,
    document   BYTEA NOT NULL,
    key_id     TEXT COLLATE "C",
    request_id TEXT,
    purged_at  BIGINT, -- when the document was deleted; it is empty then
    PRIMARY KEY (process_id, revision)
) WITH (toast_tuple_target = 8160);
ALTER TABLE staging ALTER COLUMN document SET STORAGE EXTERNAL;

-- What should belong to one account only: the supply points, payment instructions
-- and references of the staged or created document, and instructions posted later.
-- Accounts that share one are found by its digest. There is no foreign key: the rows
-- are written and deleted together with the document. Those of the document are
-- numbered from 1, those posted later from -1 down.
CREATE TABLE account_identifier (
    process_id  BIGINT NOT NULL,
    ordinal     BIGINT NOT NULL,
    supplier_id BIGINT NOT NULL,
    digest      BIGINT NOT NULL, -- of value
    value       TEXT NOT NULL, -- kind, supply type, vendor or namespace, and identifier
    from_on     TEXT COLLATE "C", -- NULL: since ever
    to_on       TEXT COLLATE "C", -- the last day; NULL: for ever
    PRIMARY KEY (process_id, ordinal)
);
CREATE INDEX account_identifier_digest ON account_identifier (supplier_id, digest, process_id);

-- The last refused staging of an account: codes and paths, and who it is about. The row is
-- deleted when the account is staged. At most one row per account, so that refused
-- requests cannot fill the disk.
CREATE TABLE refusal (
    id          BIGINT GENERATED ALWAYS AS IDENTITY UNIQUE,
    supplier_id BIGINT NOT NULL,
    external    TEXT COLLATE "C" NOT NULL,
    at          BIGINT NOT NULL,
    failure     JSON NOT NULL,
    key_id      TEXT COLLATE "C",
    request_id  TEXT,
    person      JSON, -- the part of the document by which the account is found
    indexed     BOOLEAN NOT NULL DEFAULT FALSE,
    PRIMARY KEY (supplier_id, external)
) WITH (fillfactor = 85);
CREATE INDEX refusal_unindexed ON refusal (id) WHERE indexed = FALSE;

-- The last refused posting of each kind to an account that exists: codes and paths, no
-- values. The row is deleted when a posting of the kind is accepted. It is not in
-- refusal, which every staging looks at.
CREATE TABLE posting_refusal (
    supplier_id BIGINT NOT NULL,
    external    TEXT COLLATE "C" NOT NULL,
    kind        TEXT COLLATE "C" NOT NULL CHECK (kind IN ('ACCOUNT', 'NOTES', 'PAYMENT_INSTRUCTION', 'STATEMENTS', 'TRANSACTIONS')),
    account_id  BIGINT NOT NULL,
    at          BIGINT NOT NULL,
    failure     JSON NOT NULL,
    key_id      TEXT COLLATE "C",
    request_id  TEXT,
    PRIMARY KEY (supplier_id, external, kind)
);
CREATE INDEX posting_refusal_account ON posting_refusal (account_id);

-- Locking this single row serialises adding the first encryption key.
CREATE TABLE claim_counter (
    id BIGINT PRIMARY KEY CHECK (id = 1)
);
INSERT INTO claim_counter (id) VALUES (1);

-- Dry runs in progress that count toward a concurrency limit. A dry run does not
-- claim its process, so it is counted here until it ends or its lease expires.
CREATE TABLE dry_run_lease (
    token       TEXT COLLATE "C" PRIMARY KEY,
    supplier_id BIGINT NOT NULL REFERENCES supplier (id),
    until       BIGINT NOT NULL
);

-- ---- Accounts --------------------------------------------------------------

-- An account has the id of its process, so that its rows can be written in one
-- statement without waiting for a generated key. There is no foreign key to process:
-- the same transaction has just updated the process, and the check took a twentieth
-- of the time of a creation.
CREATE TABLE account (
    id                        BIGINT PRIMARY KEY,
    revision                  BIGINT NOT NULL,
    team                      TEXT COLLATE "C" NOT NULL,
    account_type              TEXT NOT NULL,
    currency                  TEXT NOT NULL,
    billing_name              TEXT NOT NULL,
    last_billed_to_on         TEXT,
    last_statement_closing_on TEXT,
    last_statement_issued_on  TEXT,
    next_bill_due_on          TEXT,
    last_statement_balance    BIGINT,
    transfer_balance          BIGINT,
    open_from_on              TEXT NOT NULL, -- first day of the open statement period
    balance                   BIGINT NOT NULL, -- always the sum of the ledger
    ledger_length             BIGINT NOT NULL,
    note_count                BIGINT NOT NULL,
    statement_count           BIGINT NOT NULL,
    instruction_count         BIGINT NOT NULL,
    run                       TEXT COLLATE "C", -- the run that created it; NULL: none
    posting_count             BIGINT NOT NULL DEFAULT 0, -- postings since it was created
    other_posting_count       BIGINT NOT NULL DEFAULT 0, -- those that did not come with the delivery it was staged by
    packs                     TEXT NOT NULL DEFAULT '' -- under which the document was accepted
) WITH (fillfactor = 85);

-- The tables below have no foreign key to account. Their rows are only written
-- together with the account or while it is locked, and checking the parent for each
-- row would cost as much as writing it.
CREATE TABLE customer (
    account_id  BIGINT NOT NULL,
    ordinal     BIGINT NOT NULL,
    given_name  TEXT NOT NULL,
    family_name TEXT NOT NULL,
    title       TEXT NOT NULL,
    email       TEXT NOT NULL,
    mobile      TEXT NOT NULL,
    landline    TEXT NOT NULL,
    born_on     TEXT,
    role        TEXT NOT NULL,
    PRIMARY KEY (account_id, ordinal)
);

-- The billing address has ordinal 0; supply addresses start at 1.
CREATE TABLE address (
    account_id  BIGINT NOT NULL,
    ordinal     BIGINT NOT NULL,
    lines       JSON NOT NULL,
    locality    TEXT NOT NULL,
    postal_code TEXT NOT NULL,
    country     TEXT NOT NULL,
    PRIMARY KEY (account_id, ordinal)
);

CREATE TABLE supply_point (
    account_id  BIGINT NOT NULL,
    ordinal     BIGINT NOT NULL,
    address     BIGINT NOT NULL, -- ordinal of the address
    identifier  TEXT NOT NULL,
    supply_type TEXT NOT NULL,
    start_on    TEXT,
    end_on      TEXT,
    PRIMARY KEY (account_id, ordinal)
);

CREATE TABLE agreement (
    account_id   BIGINT NOT NULL,
    supply_point BIGINT NOT NULL, -- ordinal of the supply point
    ordinal      BIGINT NOT NULL,
    product_code TEXT NOT NULL,
    from_on      TEXT,
    to_on        TEXT,
    agreed_at    BIGINT,
    PRIMARY KEY (account_id, supply_point, ordinal)
);

CREATE TABLE meter (
    account_id    BIGINT NOT NULL,
    supply_point  BIGINT NOT NULL, -- ordinal of the supply point
    ordinal       BIGINT NOT NULL,
    serial_number TEXT NOT NULL,
    installed_on  TEXT,
    removed_on    TEXT,
    registers     JSON NOT NULL,
    PRIMARY KEY (account_id, supply_point, ordinal)
);

CREATE TABLE statement_period (
    account_id BIGINT NOT NULL,
    ordinal    BIGINT NOT NULL,
    from_on    TEXT,
    to_on      TEXT,
    balance    BIGINT NOT NULL,
    PRIMARY KEY (account_id, ordinal)
);

-- The sequence number is part of the key, so that no two entries of a ledger share one.
CREATE TABLE ledger_entry (
    account_id     BIGINT NOT NULL,
    transaction_id TEXT COLLATE "C" NOT NULL,
    sequence       BIGINT NOT NULL CHECK (sequence > 0),
    kind           TEXT NOT NULL CHECK (kind IN ('opening', 'transaction')),
    closed         BOOLEAN NOT NULL,
    signed         BIGINT NOT NULL,
    balance        BIGINT NOT NULL, -- after this entry
    type           TEXT NOT NULL,
    entered_on     TEXT NOT NULL,
    original_on    TEXT,
    reason         TEXT NOT NULL,
    note           TEXT NOT NULL,
    document       JSON, -- the transaction as it was sent
    key_id         TEXT COLLATE "C",
    request_id     TEXT,
    delivery       TEXT COLLATE "C", -- named by the posting, empty if it named none; NULL: the row came with the account
    PRIMARY KEY (account_id, sequence)
);
CREATE INDEX ledger_entry_transaction ON ledger_entry (account_id, transaction_id, sequence);

-- Bodies are too long for an index, so the key holds a digest of them. The partial
-- indexes are for accounts with long lists; most accounts have no rows in them.
CREATE TABLE note (
    account_id     BIGINT NOT NULL,
    digest         BIGINT NOT NULL,
    ordinal        BIGINT NOT NULL,
    body           TEXT, -- NULL: only documents
    document_paths JSON,
    created_at     BIGINT NOT NULL,
    pinned         BOOLEAN NOT NULL,
    unpin_at       BIGINT,
    extra          JSON, -- fields without a column; NULL: none
    key_id         TEXT COLLATE "C",
    request_id     TEXT,
    delivery       TEXT COLLATE "C",
    PRIMARY KEY (account_id, digest, ordinal)
);
-- For pages, newest first. Notes do not arrive in the order of their times.
CREATE INDEX note_newest ON note (account_id, created_at, ordinal);
CREATE INDEX note_page ON note (account_id, ordinal) WHERE ordinal > 200;
CREATE INDEX note_pinned ON note (account_id, ordinal) WHERE pinned;
CREATE INDEX note_created ON note (account_id, digest, created_at) WHERE ordinal > 64;

CREATE TABLE historical_statement (
    account_id   BIGINT NOT NULL,
    statement_id TEXT COLLATE "C" NOT NULL,
    ordinal      BIGINT NOT NULL,
    from_on      TEXT,
    to_on        TEXT,
    issued_on    TEXT,
    number       TEXT NOT NULL,
    gross_amount BIGINT,
    sent_amount  BIGINT, -- gross_amount as it was sent, if that was in minor units
    path         TEXT NOT NULL,
    extra        JSON, -- fields without a column; NULL: none
    key_id       TEXT COLLATE "C",
    request_id   TEXT,
    delivery     TEXT COLLATE "C",
    PRIMARY KEY (account_id, statement_id, ordinal)
);
CREATE INDEX historical_statement_page ON historical_statement (account_id, ordinal) WHERE ordinal > 200;

-- status, scheme, last_digits and expiry are what the vendor answered.
CREATE TABLE instruction (
    account_id    BIGINT NOT NULL,
    ordinal       BIGINT NOT NULL,
    vendor        TEXT COLLATE "C" NOT NULL,
    reference     TEXT COLLATE "C" NOT NULL,
    type          TEXT NOT NULL,
    valid_from_on TEXT,
    for_schedules BOOLEAN NOT NULL,
    status        TEXT NOT NULL,
    scheme        TEXT NOT NULL,
    last_digits   TEXT NOT NULL,
    expiry        TEXT NOT NULL,
    key_id        TEXT COLLATE "C",
    request_id    TEXT,
    delivery      TEXT COLLATE "C",
    PRIMARY KEY (account_id, ordinal)
);
CREATE INDEX instruction_reference ON instruction (account_id, vendor, reference) WHERE ordinal > 16;

CREATE TABLE payment_schedule (
    account_id   BIGINT NOT NULL,
    ordinal      BIGINT NOT NULL,
    start_on     TEXT,
    end_on       TEXT,
    trigger_type TEXT NOT NULL,
    amount       BIGINT,
    frequency    TEXT NOT NULL,
    day_of_month BIGINT NOT NULL,
    threshold    BIGINT,
    PRIMARY KEY (account_id, ordinal)
);

-- What is left of an account that was undone. An account that was created and undone
-- several times has several rows, all with the same number.
CREATE TABLE undone_account (
    id                 BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    number             TEXT COLLATE "C" NOT NULL,
    process_id         BIGINT NOT NULL REFERENCES process (id),
    account_created_at BIGINT NOT NULL,
    undone_at          BIGINT NOT NULL,
    actor              TEXT NOT NULL,
    reason             TEXT NOT NULL,
    run_id             TEXT COLLATE "C" -- number of the run that had created the account
);
CREATE INDEX undone_account_number ON undone_account (number, id);
CREATE INDEX undone_account_process ON undone_account (process_id, id);
CREATE INDEX undone_account_run ON undone_account (run_id) WHERE run_id IS NOT NULL;

-- How often an undo was refused, by reason.
CREATE TABLE undo_refusal (
    reason TEXT COLLATE "C" PRIMARY KEY,
    times  BIGINT NOT NULL
);

-- ---- Runs: the service creates a supplier's staged accounts by itself ------

CREATE TABLE run (
    id                 BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    number             TEXT COLLATE "C" NOT NULL UNIQUE, -- the public name
    supplier_id        BIGINT NOT NULL REFERENCES supplier (id),
    team               TEXT COLLATE "C" NOT NULL,
    dry_run            BOOLEAN NOT NULL,
    selection          TEXT NOT NULL CHECK (selection IN ('pending', 'failed', 'untried')),
    sample             BIGINT NOT NULL, -- take every Nth account; 0: all
    most               BIGINT NOT NULL, -- maximum number of accounts; 0: all
    at_once            BIGINT NOT NULL, -- accounts in parallel; 0: the service decides
    not_before         BIGINT,
    not_after          BIGINT,
    state              TEXT NOT NULL CHECK (state IN ('WAITING', 'RUNNING', 'PAUSED', 'FINISHED', 'CANCELLED')),
    cancelling         BOOLEAN NOT NULL,
    reason             TEXT NOT NULL, -- of a pause, in effect or requested
    created_at         BIGINT NOT NULL,
    started_at         BIGINT,
    ended_at           BIGINT,
    running_since      BIGINT, -- NULL unless it is running
    worked             BIGINT NOT NULL, -- microseconds of running before running_since
    -- Progress of choosing the accounts: it walks everything staged by the cutoff, from
    -- the cursor on; seen counts the accounts passed, selected those chosen.
    cutoff             BIGINT,
    cursor_at          BIGINT NOT NULL,
    cursor_external    TEXT COLLATE "C" NOT NULL,
    seen               BIGINT NOT NULL,
    selected           BIGINT NOT NULL,
    chosen             BOOLEAN NOT NULL,
    created_key_id     TEXT COLLATE "C",
    created_request_id TEXT,
    key_id             TEXT COLLATE "C", -- on whose behalf it continues
    request_id         TEXT,
    undone             BIGINT NOT NULL DEFAULT 0, -- accounts undone; counting them on each read would be slow
    delivery           TEXT NOT NULL DEFAULT '', -- only accounts staged by it; empty: by any
    codes              TEXT NOT NULL DEFAULT '[]', -- only accounts that last failed with one of them, as JSON; none: all
    listed             BIGINT NOT NULL DEFAULT 0, -- only the accounts in run_listed, this many; 0: all
    -- When its members, slices and failures were purged, or began to be, and the sums
    -- of the slices that are gone.
    purged_at          BIGINT,
    purged_succeeded   BIGINT NOT NULL DEFAULT 0,
    purged_failed      BIGINT NOT NULL DEFAULT 0,
    purged_refused     BIGINT NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX run_live ON run (supplier_id) WHERE state IN ('WAITING', 'RUNNING', 'PAUSED');
CREATE INDEX run_list ON run (supplier_id, id);

-- The accounts that a run may choose from, until they are chosen.
CREATE TABLE run_listed (
    run_id   BIGINT NOT NULL,
    external TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (run_id, external)
);

-- The accounts of a run and their outcomes. An outcome is written in the transaction
-- that makes it true, by the worker that holds the slice.
CREATE TABLE run_member (
    run_id     BIGINT NOT NULL,
    ordinal    BIGINT NOT NULL,
    process_id BIGINT NOT NULL,
    outcome    TEXT CHECK (outcome IN ('succeeded', 'failed', 'refused')),
    PRIMARY KEY (run_id, ordinal)
) WITH (fillfactor = 70);

-- A range of a run's members for one worker at a time. Its sums are written with the
-- outcomes they count, so that no two workers wait for the same row.
CREATE TABLE run_slice (
    run_id    BIGINT NOT NULL REFERENCES run (id),
    slice     BIGINT NOT NULL,
    size      BIGINT NOT NULL,
    succeeded BIGINT NOT NULL,
    failed    BIGINT NOT NULL,
    refused   BIGINT NOT NULL,
    token     TEXT, -- of the worker that holds it
    until     BIGINT,
    width     BIGINT NOT NULL, -- accounts the worker may have in progress
    next_at   BIGINT NOT NULL, -- not to be claimed before
    tries     BIGINT NOT NULL, -- how often it was postponed
    done      BOOLEAN NOT NULL,
    PRIMARY KEY (run_id, slice),
    CHECK (done = (succeeded + failed + refused = size)),
    CHECK ((token IS NULL) = (until IS NULL))
) WITH (fillfactor = 50);
CREATE INDEX run_slice_open ON run_slice (run_id, slice) WHERE done = FALSE;

-- Why accounts failed in a run; process keeps only the last failure.
CREATE TABLE run_failure (
    run_id   BIGINT NOT NULL,
    external TEXT COLLATE "C" NOT NULL,
    at       BIGINT NOT NULL,
    failure  JSON NOT NULL,
    PRIMARY KEY (run_id, external)
);

-- Progress of live runs over time, one row every few seconds.
CREATE TABLE run_sample (
    run_id BIGINT NOT NULL REFERENCES run (id),
    at     BIGINT NOT NULL,
    state  TEXT NOT NULL,
    done   BIGINT NOT NULL,
    PRIMARY KEY (run_id, at)
);

-- ---- Reconciliation --------------------------------------------------------

-- Changes of a supplier's figures, by account status. Rows are only added, in the
-- transaction of the change, so that no transaction waits for another; a background
-- job folds many rows into one. Their sum is always exact.
CREATE TABLE tally (
    id          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    supplier_id BIGINT NOT NULL,
    standing    TEXT NOT NULL CHECK (standing IN ('pending', 'failed', 'skipped', 'unstaged', 'created', 'deviating', 'own_notes', 'delivered')),
    figures     TEXT NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
CREATE INDEX tally_supplier ON tally (supplier_id, id);

-- Differences between what was sent for an account and what the account contains.
CREATE TABLE deviation (
    id          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    supplier_id BIGINT NOT NULL,
    external    TEXT COLLATE "C" NOT NULL,
    figures     TEXT NOT NULL
);
CREATE INDEX deviation_account ON deviation (supplier_id, external, id);

-- What a supplier's source system reports. The newest row counts; older ones stay.
CREATE TABLE control_totals (
    id          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    supplier_id BIGINT NOT NULL REFERENCES supplier (id),
    set_at      BIGINT NOT NULL,
    totals      JSON NOT NULL,
    key_id      TEXT,
    request_id  TEXT,
    operator    TEXT -- who entered them by hand
);
CREATE INDEX control_totals_supplier ON control_totals (supplier_id, id);

-- Signed reconciliations. They never change.
CREATE TABLE sign_off (
    id          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    supplier_id BIGINT NOT NULL REFERENCES supplier (id),
    signed_at   BIGINT NOT NULL,
    actor       TEXT NOT NULL,
    report      TEXT NOT NULL, -- JSON, exactly the bytes that were hashed
    report_hash BYTEA NOT NULL,
    page        TEXT NOT NULL, -- the same report as HTML
    page_hash   BYTEA NOT NULL
);
CREATE INDEX sign_off_supplier ON sign_off (supplier_id, id);

-- +goose StatementBegin
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a signed reconciliation never changes';
END
$$;
-- +goose StatementEnd
CREATE TRIGGER sign_off_no_update BEFORE UPDATE OR DELETE OR TRUNCATE ON sign_off
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- ---- Events and webhooks ---------------------------------------------------

CREATE TABLE event (
    id             BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    type           TEXT NOT NULL,
    supplier       TEXT COLLATE "C" NOT NULL,
    external       TEXT COLLATE "C" NOT NULL,
    account_number TEXT COLLATE "C" NOT NULL,
    at             BIGINT NOT NULL,
    details        JSON NOT NULL,
    key_id         TEXT COLLATE "C",
    request_id     TEXT
);
CREATE INDEX event_process ON event (supplier, external, id);
CREATE INDEX event_supplier ON event (supplier, id);

-- The last purged event of a supplier and the latest time among the purged ones.
-- A reader whose cursor is older is told that it has missed events.
CREATE TABLE event_purge (
    supplier TEXT COLLATE "C" PRIMARY KEY,
    through  BIGINT NOT NULL,
    at       BIGINT NOT NULL
);

-- The progress of a webhook is one number. Only deliveries that failed, and those
-- waiting behind them, have rows of their own.
CREATE TABLE webhook (
    name         TEXT COLLATE "C" PRIMARY KEY,
    organisation TEXT COLLATE "C" NOT NULL REFERENCES organisation (name),
    url          TEXT NOT NULL,
    types        JSON NOT NULL,
    suppliers    JSON NOT NULL,
    include_data BOOLEAN NOT NULL, -- events carry the whole account
    secrets      JSON NOT NULL, -- the inputs the secrets are derived from, not the secrets
    state        TEXT NOT NULL CHECK (state IN ('active', 'gone', 'off')),
    position     BIGINT NOT NULL, -- the last event that was handled
    created_at   BIGINT NOT NULL,
    due_at       BIGINT NOT NULL,
    attempts     BIGINT NOT NULL DEFAULT 0,
    failing_at   BIGINT,
    delivered    BIGINT NOT NULL DEFAULT 0,
    delivered_at BIGINT,
    lease_token  TEXT,
    lease_until  BIGINT,
    CHECK ((lease_token IS NULL) = (lease_until IS NULL))
) WITH (fillfactor = 50);
CREATE INDEX webhook_organisation ON webhook (organisation);

CREATE TABLE webhook_delivery (
    webhook  TEXT COLLATE "C" NOT NULL REFERENCES webhook (name) ON DELETE CASCADE,
    event_id BIGINT NOT NULL,
    supplier TEXT COLLATE "C" NOT NULL,
    external TEXT COLLATE "C" NOT NULL,
    state    TEXT NOT NULL CHECK (state IN ('waiting', 'dead')),
    attempts BIGINT NOT NULL,
    first_at BIGINT NOT NULL,
    due_at   BIGINT, -- NULL: waiting behind an earlier one of its account, or dead
    status   BIGINT NOT NULL,
    reason   TEXT NOT NULL,
    PRIMARY KEY (webhook, event_id)
);
CREATE INDEX webhook_delivery_account ON webhook_delivery (webhook, supplier, external, event_id) WHERE state = 'waiting';
CREATE INDEX webhook_delivery_due ON webhook_delivery (webhook, due_at) WHERE due_at IS NOT NULL;
-- Events that are still to be delivered are not purged.
CREATE INDEX webhook_delivery_event ON webhook_delivery (event_id);

-- A log of delivery attempts.
CREATE TABLE webhook_round (
    id        BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    webhook   TEXT COLLATE "C" NOT NULL REFERENCES webhook (name) ON DELETE CASCADE,
    at        BIGINT NOT NULL,
    position  BIGINT NOT NULL,
    delivered BIGINT NOT NULL,
    failed    BIGINT NOT NULL,
    dead      BIGINT NOT NULL,
    status    BIGINT NOT NULL,
    reason    TEXT NOT NULL,
    took      BIGINT NOT NULL
);
CREATE INDEX webhook_round_webhook ON webhook_round (webhook, id);

-- ---- Targets ---------------------------------------------------------------

-- The systems that accounts are delivered to. lease_until is kept when the operator
-- ends a claim, because requests of its holder may still be under way until then.
CREATE TABLE target (
    code         TEXT COLLATE "C" PRIMARY KEY,
    url          TEXT NOT NULL,
    secrets      JSON NOT NULL, -- the inputs the secrets are derived from, not the secrets
    secret_env   TEXT NOT NULL,
    shape        TEXT NOT NULL, -- a jq program; '': none
    at_once      BIGINT NOT NULL CHECK (at_once > 0),
    takes_back   BOOLEAN NOT NULL,
    state        TEXT NOT NULL CHECK (state IN ('active', 'paused')),
    created_at   BIGINT NOT NULL,
    due_at       BIGINT NOT NULL,
    attempts     BIGINT NOT NULL DEFAULT 0,
    failing_at   BIGINT,
    status       BIGINT NOT NULL DEFAULT 0,
    reason       TEXT NOT NULL DEFAULT '',
    delivered    BIGINT NOT NULL DEFAULT 0,
    delivered_at BIGINT,
    rounds       BIGINT NOT NULL DEFAULT 0, -- how many rounds were saved
    uncertain_at BIGINT, -- when a claim was last taken over from a holder that had not reported
    lease_token  TEXT,
    lease_until  BIGINT
) WITH (fillfactor = 50);

-- What is to be delivered to a target, in the order of its account. A row is written
-- in the transaction that creates the account or posts to it. It is open until it is
-- delivered, and the later ones of the account wait for it.
CREATE TABLE target_delivery (
    id          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    target      TEXT COLLATE "C" NOT NULL,
    account_id  BIGINT NOT NULL,
    supplier_id BIGINT NOT NULL,
    external    TEXT COLLATE "C" NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('account', 'notes', 'transactions', 'statements', 'payment-instructions')),
    items       TEXT NOT NULL, -- which items of the account's lists it has
    figures     TEXT NOT NULL,
    at          BIGINT NOT NULL,
    state       TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'pending', 'delivered', 'refused')),
    held        BOOLEAN NOT NULL DEFAULT FALSE, -- the account is being taken back
    due_at      BIGINT, -- NULL: settled, held or waiting behind another one
    attempts    BIGINT NOT NULL DEFAULT 0,
    status      BIGINT NOT NULL DEFAULT 0,
    reply       TEXT NOT NULL DEFAULT '', -- what the target said, or why it was not reached
    target_id   TEXT NOT NULL DEFAULT '',
    settled_at  BIGINT,
    hold_rounds BIGINT, -- the rounds of the target when it was held
    CHECK (due_at IS NULL OR state = 'waiting')
) WITH (fillfactor = 85);
CREATE INDEX target_delivery_due ON target_delivery (target, due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX target_delivery_account ON target_delivery (account_id, id);
CREATE INDEX target_delivery_state ON target_delivery (target, state, id) WHERE state IN ('refused', 'pending');
CREATE INDEX target_delivery_refused ON target_delivery (supplier_id, external, id) WHERE state = 'refused';

-- ---- Mail to customers -----------------------------------------------------

CREATE TABLE mail (
    id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    account_id BIGINT NOT NULL,
    kind       TEXT NOT NULL,
    recipient  TEXT COLLATE "C" NOT NULL,
    queued_at  BIGINT NOT NULL,
    supplier   TEXT COLLATE "C" NOT NULL,
    language   TEXT NOT NULL DEFAULT '',
    state      TEXT NOT NULL DEFAULT 'queued'
        CHECK (state IN ('queued', 'sending', 'sent', 'refused', 'withdrawn', 'bounced')),
    due_at     BIGINT, -- next attempt, or the end of the sender's lease; NULL: settled
    settled_at BIGINT,
    token      TEXT, -- of the sender
    attempts   BIGINT NOT NULL DEFAULT 0,
    uncertain  BOOLEAN NOT NULL DEFAULT FALSE, -- an attempt ended without an answer
    reply      TEXT NOT NULL DEFAULT '',
    purged_at  BIGINT, -- when the recipient was deleted
    CHECK ((due_at IS NOT NULL) = (state IN ('queued', 'sending'))),
    CHECK ((settled_at IS NULL) = (state IN ('queued', 'sending'))),
    CHECK ((token IS NOT NULL) = (state = 'sending'))
);
-- One mail per account, kind and address, ever.
CREATE UNIQUE INDEX mail_once ON mail (account_id, kind, recipient);
CREATE INDEX mail_due ON mail (supplier, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX mail_state ON mail (state, id);
-- Settled mails that are not purged yet.
CREATE INDEX mail_settled ON mail (supplier, settled_at, id) WHERE due_at IS NULL AND purged_at IS NULL;

-- Locking this single row serialises the senders. It holds the shared send rate limit
-- and until when some server has promised to send.
CREATE TABLE mail_sender (
    id         BIGINT PRIMARY KEY CHECK (id = 1),
    free_at    BIGINT NOT NULL,
    open_until BIGINT NOT NULL
);
INSERT INTO mail_sender (id, free_at, open_until) VALUES (1, 0, 0);

-- ---- Audit trail -----------------------------------------------------------

-- What organisations did in one transaction is one row; acts lists it, already
-- compressed.
CREATE TABLE audit (
    id         BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at         BIGINT NOT NULL,
    actor      TEXT NOT NULL,
    action     TEXT NOT NULL,
    subject    TEXT COLLATE "C" NOT NULL,
    detail     TEXT NOT NULL,
    source     TEXT NOT NULL DEFAULT '',
    request_id TEXT NOT NULL DEFAULT '',
    acts       TEXT NOT NULL DEFAULT ''
);
ALTER TABLE audit ALTER COLUMN acts SET STORAGE EXTERNAL;
CREATE INDEX audit_subject ON audit (subject, id) WHERE subject <> '';

-- The hash chain: each link has the hash of its entry and of all entries before it.
-- One chainer at a time writes the links after the entries are committed, because
-- otherwise every audited transaction would wait for every other.
CREATE TABLE audit_link (
    position BIGINT PRIMARY KEY,
    entry    BIGINT NOT NULL UNIQUE,
    hash     TEXT NOT NULL
);

-- The end of the chain. Entries with an id up to through are linked.
CREATE TABLE audit_chain (
    id       BIGINT PRIMARY KEY CHECK (id = 1),
    name     TEXT NOT NULL,
    position BIGINT NOT NULL,
    hash     TEXT NOT NULL,
    through  BIGINT NOT NULL
) WITH (fillfactor = 50);
INSERT INTO audit_chain (id, name, position, hash, through) VALUES (1, gen_random_uuid()::text, 0, '', 0);

-- ---- Search ----------------------------------------------------------------

-- The terms that accounts are found by: a letter for the kind followed by the term,
-- or a keyed hash of both. A search reads a byte range of terms. A refused account that
-- was never staged has the negative id of its refusal.
CREATE TABLE search_term (
    term        TEXT COLLATE "C" NOT NULL,
    supplier_id BIGINT NOT NULL,
    account_id  BIGINT NOT NULL,
    PRIMARY KEY (term, supplier_id, account_id)
);
CREATE INDEX search_term_account ON search_term (account_id, term);

-- The last entry of the audit whose stagings the search indexer has handled.
CREATE TABLE search_index (
    id          BIGINT PRIMARY KEY CHECK (id = 1),
    audit_after BIGINT NOT NULL
);
INSERT INTO search_index (id, audit_after) VALUES (1, 0);

-- ---- Operators of the console ----------------------------------------------

-- Secrets are stored as hashes, except the TOTP secret, which codes are computed from.
CREATE TABLE operator (
    name               TEXT COLLATE "C" PRIMARY KEY,
    role               TEXT NOT NULL CHECK (role IN ('administrator', 'operator', 'support', 'auditor', '')),
    supplier_roles     TEXT NOT NULL, -- NORTH=support SOUTH=operator
    disabled           BOOLEAN NOT NULL,
    password           TEXT NOT NULL,
    totp_secret        TEXT NOT NULL,
    totp_used          BIGINT NOT NULL,
    totp_failures      BIGINT NOT NULL,
    totp_failed_at     BIGINT,
    pending_secret     TEXT NOT NULL, -- of a second factor that is not confirmed yet
    pending_session    TEXT NOT NULL,
    pending_ends_at    BIGINT,
    recovery_codes     BYTEA NOT NULL, -- hashes of 32 bytes, one after the other
    invitation         BYTEA,
    invitation_ends_at BIGINT,
    invited_by         TEXT NOT NULL,
    created_at         BIGINT NOT NULL,
    password_at        BIGINT,
    signed_in_at       BIGINT,
    reset_at           BIGINT, -- until the operator has been told at a sign-in
    CHECK ((invitation IS NULL) = (invitation_ends_at IS NULL))
);
CREATE UNIQUE INDEX operator_invitation ON operator (invitation) WHERE invitation IS NOT NULL;

CREATE TABLE operator_session (
    id         TEXT COLLATE "C" PRIMARY KEY,
    hash       BYTEA NOT NULL UNIQUE,
    operator   TEXT COLLATE "C" NOT NULL REFERENCES operator (name),
    address    TEXT NOT NULL,
    agent      TEXT NOT NULL,
    method     TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    seen_at    BIGINT NOT NULL,
    ends_at    BIGINT NOT NULL
);
CREATE INDEX operator_session_operator ON operator_session (operator);
CREATE INDEX operator_session_end ON operator_session (ends_at);

-- Browsers in which operators have signed in.
CREATE TABLE operator_device (
    operator TEXT COLLATE "C" NOT NULL REFERENCES operator (name),
    hash     BYTEA NOT NULL,
    network  TEXT NOT NULL,
    seen_at  BIGINT NOT NULL,
    PRIMARY KEY (operator, hash)
);

-- Passkeys with which operators sign in. The public key and its counters are in credential.
CREATE TABLE passkey (
    operator   TEXT COLLATE "C" NOT NULL REFERENCES operator (name),
    name       TEXT COLLATE "C" NOT NULL,
    id         BYTEA NOT NULL UNIQUE,
    credential TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    used_at    BIGINT,
    PRIMARY KEY (operator, name)
);

-- Challenges that a passkey has not answered yet. Each is answered once.
CREATE TABLE passkey_challenge (
    hash    BYTEA PRIMARY KEY,
    session TEXT NOT NULL, -- that registers a passkey; empty for a sign-in
    data    TEXT NOT NULL,
    ends_at BIGINT NOT NULL
);
CREATE INDEX passkey_challenge_end ON passkey_challenge (ends_at);

-- One-time links that create the first operator of a new server.
CREATE TABLE set_up_link (
    hash    BYTEA PRIMARY KEY,
    ends_at BIGINT NOT NULL
);

-- ---- The database itself ---------------------------------------------------

-- Each commit leaves a mark for a while. A client that lost the reply to its commit
-- looks the mark up. A void mark says that the commit did not happen.
CREATE TABLE commit_mark (
    id   BYTEA PRIMARY KEY,
    at   BIGINT NOT NULL,
    void BOOLEAN NOT NULL,
    -- The last schema step that the program knows. A later step raises the limit, so that
    -- older programs cannot commit any more; see internal/store/engine/fence.go.
    step BIGINT NOT NULL CONSTRAINT commit_mark_step CHECK (step >= 1)
);
CREATE INDEX commit_mark_at ON commit_mark (at);

-- Where this database runs. A restored copy compares this with its own location, so
-- that it does not bring revoked API keys back to life unnoticed.
CREATE TABLE database_identity (
    id          BIGINT PRIMARY KEY CHECK (id = 1),
    fingerprint TEXT, -- of the server and the database in it; NULL until a server has used it
    copied_at   BIGINT, -- set in a backup; NULL in the original
    backed_up_at BIGINT, -- when the last backup was recorded; NULL: never
    instance    TEXT NOT NULL DEFAULT substr(replace(gen_random_uuid()::text, '-', ''), 1, 16) -- names this installation in its events
);
INSERT INTO database_identity (id) VALUES (1);

-- Has a row from the start of 'landfall copy' into this database until the copy was
-- checked. Until then no server uses it.
CREATE TABLE unfinished_copy (
    at BIGINT PRIMARY KEY
);

-- When a server last looked at the database's clock, and the last jump that was
-- noticed. After the clock was set back, the instants in the tables are moved back
-- table by table; moved counts the tables that are done.
CREATE TABLE database_clock (
    id        BIGINT PRIMARY KEY CHECK (id = 1),
    seen_at   BIGINT NOT NULL,
    jumped_at BIGINT,
    jump      BIGINT NOT NULL, -- negative: it was set back
    moved     BIGINT NOT NULL
);
INSERT INTO database_clock (id, seen_at, jump, moved) VALUES (1, 0, 0, 1000);

-- The servers that use this database, as they report themselves.
CREATE TABLE replica (
    id         TEXT COLLATE "C" PRIMARY KEY,
    host       TEXT NOT NULL,
    version    TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    seen_at    BIGINT NOT NULL,
    key_id     TEXT NOT NULL DEFAULT '', -- encryption key that it writes with; '': none
    doing      TEXT NOT NULL DEFAULT '' -- what it works on, for people
);

-- When the next purge is due, and when the last one completed. A server that purges
-- moves due_at ahead, so that the others wait and one of them takes over if it stops.
CREATE TABLE purge_schedule (
    id       BIGINT PRIMARY KEY CHECK (id = 1),
    due_at   BIGINT NOT NULL,
    ended_at BIGINT
);
INSERT INTO purge_schedule (id, due_at) VALUES (1, 0);

-- Rows that the last purge of their supplier could not read and left as they were.
CREATE TABLE unreadable_row (
    supplier TEXT COLLATE "C" NOT NULL,
    external TEXT COLLATE "C" NOT NULL,
    location TEXT COLLATE "C" NOT NULL, -- table and column
    found_at BIGINT NOT NULL,
    PRIMARY KEY (supplier, external, location)
);

-- The pass that checks all data in the background: when it is due, how far it is, and
-- what the last whole one found. A server that works on it moves due_at ahead.
CREATE TABLE scrub (
    id       BIGINT PRIMARY KEY CHECK (id = 1),
    due_at   BIGINT NOT NULL,
    state    JSON NOT NULL,
    result   JSON NOT NULL,
    ended_at BIGINT
);
INSERT INTO scrub (id, due_at, state, result) VALUES (1, 0, '{}', '{}');

-- The encryption keys in use, by name. record is sealed with the key: it has a random
-- value that all keys of this database are derived with, and says whether everything is
-- encrypted, so that values in the clear are refused. Without one of these keys the
-- database cannot be opened. A row is deleted when nothing is encrypted with its key any
-- more.
CREATE TABLE encryption_key (
    id       TEXT COLLATE "C" PRIMARY KEY,
    record   BYTEA NOT NULL,
    added_at BIGINT NOT NULL
);

-- Progress of encrypting everything with another key.
CREATE TABLE rekey_progress (
    id         BIGINT PRIMARY KEY CHECK (id = 1),
    key_id     TEXT NOT NULL,
    table_name TEXT NOT NULL,
    after_row  JSON NOT NULL, -- key of the last row that was read
    seen       BIGINT NOT NULL,
    encrypted  BIGINT NOT NULL,
    missed     BIGINT NOT NULL, -- rows that changed meanwhile
    unreadable BIGINT NOT NULL, -- values that do not open
    started_at BIGINT NOT NULL
);

-- ---- Guards and planner statistics -----------------------------------------

-- These triggers stand in for the foreign keys that process, staging and account do not
-- have: a supplier or process that other rows refer to stays and keeps its id. Only a
-- process that was skipped before it was ever staged (revision 0) can be deleted.
-- +goose StatementBegin
CREATE FUNCTION refuse_orphans() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a % that others belong to cannot be deleted, and keeps its id', TG_TABLE_NAME;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER supplier_no_delete BEFORE DELETE OR TRUNCATE OR UPDATE OF id ON supplier
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_orphans();
CREATE TRIGGER process_no_delete BEFORE DELETE ON process
    FOR EACH ROW WHEN (OLD.revision > 0) EXECUTE FUNCTION refuse_orphans();
CREATE TRIGGER process_no_truncate BEFORE TRUNCATE OR UPDATE OF id ON process
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_orphans();

-- Until a table is analysed for the first time, PostgreSQL assumes that a supplier has
-- next to no accounts, and may plan to search all of a supplier's rows for each account
-- of a batch. Such a plan would stay in use until autovacuum analyses the table in the
-- middle of a migration. Analyse both tables with sample rows that no other transaction
-- ever sees, so that the first plans are good.
INSERT INTO process (id, supplier_id, external, state, revision, hash, first_staged_at, staged_at)
OVERRIDING SYSTEM VALUE
SELECT -i, 0, i::text, 'staged', 0, '', 0, 0 FROM generate_series(1, 1000) i;
ANALYZE process (supplier_id, external);
DELETE FROM process WHERE id < 0;

INSERT INTO refusal (supplier_id, external, at, failure)
SELECT 0, i::text, 0, '{}' FROM generate_series(1, 1000) i;
ANALYZE refusal (supplier_id, external);
DELETE FROM refusal WHERE supplier_id = 0;
ALTER TABLE refusal ADD FOREIGN KEY (supplier_id) REFERENCES supplier (id);
