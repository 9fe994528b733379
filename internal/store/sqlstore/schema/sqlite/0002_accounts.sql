-- +goose Up
-- What a process becomes. An account's key is that of its process, so that its
-- children can be written in the same breath; the staged document it was made
-- from stays where it is. Days are YYYY-MM-DD, money is in minor units.
ALTER TABLE process ADD COLUMN failure TEXT CHECK (json_valid(failure)); -- why the last attempt failed
ALTER TABLE process ADD COLUMN failed_at INTEGER;
CREATE UNIQUE INDEX process_account_number ON process (account_number) WHERE account_number IS NOT NULL;
CREATE INDEX process_claimed ON process (supplier_id) WHERE state = 'claimed';
CREATE INDEX process_failed ON process (supplier_id, first_staged_at, external) WHERE failed_at IS NOT NULL;

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
    open_from_on              TEXT NOT NULL, -- the first day of the open statement period
    balance                   INTEGER NOT NULL, -- always the sum of the ledger
    ledger_length             INTEGER NOT NULL,
    note_count                INTEGER NOT NULL,
    statement_count           INTEGER NOT NULL,
    instruction_count         INTEGER NOT NULL
) STRICT;

-- The tables below name no foreign key: their rows are only written together
-- with their account or under its lock, and looking it up for each of them
-- would cost as much as writing them.
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

-- The billing address has ordinal 0, supply addresses count from 1.
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
    address     INTEGER NOT NULL, -- its ordinal
    identifier  TEXT NOT NULL,
    supply_type TEXT NOT NULL,
    start_on    TEXT,
    end_on      TEXT,
    PRIMARY KEY (account_id, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE agreement (
    account_id   INTEGER NOT NULL,
    supply_point INTEGER NOT NULL, -- its ordinal
    ordinal      INTEGER NOT NULL,
    product_code TEXT NOT NULL,
    from_on      TEXT,
    to_on        TEXT,
    agreed_at    INTEGER,
    PRIMARY KEY (account_id, supply_point, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE meter (
    account_id    INTEGER NOT NULL,
    supply_point  INTEGER NOT NULL, -- its ordinal
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

-- Posting looks entries up by the transaction's id, so the key starts with it
-- and serves both purposes.
CREATE TABLE ledger_entry (
    account_id     INTEGER NOT NULL,
    transaction_id TEXT NOT NULL,
    sequence       INTEGER NOT NULL,
    kind           TEXT NOT NULL CHECK (kind IN ('opening', 'transaction')),
    closed         INTEGER NOT NULL CHECK (closed IN (0, 1)),
    signed         INTEGER NOT NULL,
    balance        INTEGER NOT NULL, -- after this entry
    type           TEXT NOT NULL,
    entered_on     TEXT NOT NULL,
    original_on    TEXT,
    reason         TEXT NOT NULL,
    note           TEXT NOT NULL,
    document       TEXT CHECK (json_valid(document)), -- the transaction as sent
    PRIMARY KEY (account_id, transaction_id, sequence)
) STRICT, WITHOUT ROWID;

-- Bodies are too long for an index, so their digests stand in the key.
CREATE TABLE note (
    account_id     INTEGER NOT NULL,
    digest         INTEGER NOT NULL,
    ordinal        INTEGER NOT NULL,
    body           TEXT, -- NULL: documents alone
    document_paths TEXT CHECK (json_valid(document_paths)),
    created_at     INTEGER NOT NULL,
    pinned         INTEGER NOT NULL CHECK (pinned IN (0, 1)),
    unpin_at       INTEGER,
    PRIMARY KEY (account_id, digest, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE historical_statement (
    account_id   INTEGER NOT NULL,
    statement_id TEXT NOT NULL,
    ordinal      INTEGER NOT NULL,
    from_on      TEXT,
    to_on        TEXT,
    issued_on    TEXT,
    number       TEXT NOT NULL,
    gross_amount INTEGER,
    path         TEXT NOT NULL,
    PRIMARY KEY (account_id, statement_id, ordinal)
) STRICT, WITHOUT ROWID;

-- The last four columns are what the vendor said.
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
    PRIMARY KEY (account_id, ordinal)
) STRICT, WITHOUT ROWID;

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

-- Messages to customers that wait to be sent.
CREATE TABLE mail (
    account_id INTEGER NOT NULL,
    ordinal    INTEGER NOT NULL,
    kind       TEXT NOT NULL,
    recipient  TEXT NOT NULL,
    queued_at  INTEGER NOT NULL,
    PRIMARY KEY (account_id, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE vendor (
    code       TEXT PRIMARY KEY,
    adapter    TEXT NOT NULL,
    base_url   TEXT NOT NULL,
    secret_env TEXT NOT NULL,
    networks   TEXT NOT NULL CHECK (json_valid(networks)),
    settings   TEXT NOT NULL CHECK (json_valid(settings)),
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Whoever counts the claims of the whole service holds the only row meanwhile.
CREATE TABLE claim_counter (
    id INTEGER PRIMARY KEY CHECK (id = 1)
) STRICT;
INSERT INTO claim_counter (id) VALUES (1);

-- +goose Down
DROP TABLE claim_counter;
DROP TABLE vendor;
DROP TABLE mail;
DROP TABLE payment_schedule;
DROP TABLE instruction;
DROP TABLE historical_statement;
DROP TABLE note;
DROP TABLE ledger_entry;
DROP TABLE statement_period;
DROP TABLE meter;
DROP TABLE agreement;
DROP TABLE supply_point;
DROP TABLE address;
DROP TABLE customer;
DROP TABLE account;
DROP INDEX process_failed;
DROP INDEX process_claimed;
DROP INDEX process_account_number;
ALTER TABLE process DROP COLUMN failed_at;
ALTER TABLE process DROP COLUMN failure;
