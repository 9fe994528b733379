-- +goose Up
-- What a process becomes. An account's key is that of its process, so that its
-- children can be written in the same breath; the staged document it was made
-- from stays where it is. Days are YYYY-MM-DD, money is in minor units.
ALTER TABLE process ADD COLUMN failure JSON; -- why the last attempt failed
ALTER TABLE process ADD COLUMN failed_at BIGINT;
CREATE UNIQUE INDEX process_account_number ON process (account_number) WHERE account_number IS NOT NULL;
CREATE INDEX process_claimed ON process (supplier_id) WHERE state = 'claimed';
CREATE INDEX process_failed ON process (supplier_id, first_staged_at, external) WHERE failed_at IS NOT NULL;

CREATE TABLE account (
    id                        BIGINT PRIMARY KEY REFERENCES process (id),
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
    open_from_on              TEXT NOT NULL, -- the first day of the open statement period
    balance                   BIGINT NOT NULL, -- always the sum of the ledger
    ledger_length             BIGINT NOT NULL,
    note_count                BIGINT NOT NULL,
    statement_count           BIGINT NOT NULL,
    instruction_count         BIGINT NOT NULL
) WITH (fillfactor = 85);

-- The tables below name no foreign key: their rows are only written together
-- with their account or under its lock, and looking it up for each of them
-- would cost as much as writing them.
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

-- The billing address has ordinal 0, supply addresses count from 1.
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
    address     BIGINT NOT NULL, -- its ordinal
    identifier  TEXT NOT NULL,
    supply_type TEXT NOT NULL,
    start_on    TEXT,
    end_on      TEXT,
    PRIMARY KEY (account_id, ordinal)
);

CREATE TABLE agreement (
    account_id   BIGINT NOT NULL,
    supply_point BIGINT NOT NULL, -- its ordinal
    ordinal      BIGINT NOT NULL,
    product_code TEXT NOT NULL,
    from_on      TEXT,
    to_on        TEXT,
    agreed_at    BIGINT,
    PRIMARY KEY (account_id, supply_point, ordinal)
);

CREATE TABLE meter (
    account_id    BIGINT NOT NULL,
    supply_point  BIGINT NOT NULL, -- its ordinal
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

-- Posting looks entries up by the transaction's id, so the key starts with it
-- and serves both purposes.
CREATE TABLE ledger_entry (
    account_id     BIGINT NOT NULL,
    transaction_id TEXT COLLATE "C" NOT NULL,
    sequence       BIGINT NOT NULL,
    kind           TEXT NOT NULL CHECK (kind IN ('opening', 'transaction')),
    closed         BOOLEAN NOT NULL,
    signed         BIGINT NOT NULL,
    balance        BIGINT NOT NULL, -- after this entry
    type           TEXT NOT NULL,
    entered_on     TEXT NOT NULL,
    original_on    TEXT,
    reason         TEXT NOT NULL,
    note           TEXT NOT NULL,
    document       JSON, -- the transaction as sent
    PRIMARY KEY (account_id, transaction_id, sequence)
);

-- Bodies are too long for an index, so their digests stand in the key.
CREATE TABLE note (
    account_id     BIGINT NOT NULL,
    digest         BIGINT NOT NULL,
    ordinal        BIGINT NOT NULL,
    body           TEXT, -- NULL: documents alone
    document_paths JSON,
    created_at     BIGINT NOT NULL,
    pinned         BOOLEAN NOT NULL,
    unpin_at       BIGINT,
    PRIMARY KEY (account_id, digest, ordinal)
);

CREATE TABLE historical_statement (
    account_id   BIGINT NOT NULL,
    statement_id TEXT COLLATE "C" NOT NULL,
    ordinal      BIGINT NOT NULL,
    from_on      TEXT,
    to_on        TEXT,
    issued_on    TEXT,
    number       TEXT NOT NULL,
    gross_amount BIGINT,
    path         TEXT NOT NULL,
    PRIMARY KEY (account_id, statement_id, ordinal)
);

-- The last four columns are what the vendor said.
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
    PRIMARY KEY (account_id, ordinal)
);

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

-- Messages to customers that wait to be sent.
CREATE TABLE mail (
    account_id BIGINT NOT NULL,
    ordinal    BIGINT NOT NULL,
    kind       TEXT NOT NULL,
    recipient  TEXT NOT NULL,
    queued_at  BIGINT NOT NULL,
    PRIMARY KEY (account_id, ordinal)
);

CREATE TABLE vendor (
    code       TEXT COLLATE "C" PRIMARY KEY,
    adapter    TEXT NOT NULL,
    base_url   TEXT NOT NULL,
    secret_env TEXT NOT NULL,
    networks   JSON NOT NULL,
    settings   JSON NOT NULL,
    created_at BIGINT NOT NULL
);

-- Whoever counts the claims of the whole service holds the only row meanwhile.
CREATE TABLE claim_counter (
    id BIGINT PRIMARY KEY CHECK (id = 1)
);
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
