-- +goose Up
-- Instants are microseconds since 1970 UTC. Names are compared byte by byte.
CREATE TABLE organisation (
    name       TEXT PRIMARY KEY,
    disabled   INTEGER NOT NULL CHECK (disabled IN (0, 1)),
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE team (
    name       TEXT PRIMARY KEY,
    created_at INTEGER NOT NULL
) STRICT;

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
    created_at           INTEGER NOT NULL
) STRICT;

CREATE TABLE supplier_grant (
    supplier_id  INTEGER NOT NULL REFERENCES supplier (id),
    organisation TEXT NOT NULL REFERENCES organisation (name),
    PRIMARY KEY (supplier_id, organisation)
) STRICT, WITHOUT ROWID;

CREATE TABLE api_key (
    id           TEXT PRIMARY KEY,
    organisation TEXT NOT NULL REFERENCES organisation (name),
    role         TEXT NOT NULL CHECK (role IN ('importer', 'viewer')),
    secret_hash  BLOB NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    revoked_at   INTEGER
) STRICT;

CREATE TABLE service_token (
    hash       BLOB PRIMARY KEY,
    purpose    TEXT NOT NULL CHECK (purpose IN ('access', 'refresh')),
    key_id     TEXT NOT NULL REFERENCES api_key (id),
    expires_at INTEGER NOT NULL,
    spent_at   INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX service_token_expiry ON service_token (expires_at);

-- One small row per account on its way; the documents live in staging.
CREATE TABLE process (
    id                 INTEGER PRIMARY KEY,
    supplier_id        INTEGER NOT NULL REFERENCES supplier (id),
    external           TEXT NOT NULL,
    state              TEXT NOT NULL CHECK (state IN ('staged', 'claimed', 'imported', 'skipped')),
    revision           INTEGER NOT NULL,
    hash               BLOB NOT NULL,
    first_staged_at    INTEGER NOT NULL,
    staged_at          INTEGER NOT NULL,
    account_number     TEXT,
    account_created_at INTEGER,
    skip_reason        TEXT,
    claim_token        TEXT,
    claim_until        INTEGER,
    UNIQUE (supplier_id, external),
    CHECK ((state = 'imported') = (account_number IS NOT NULL)),
    CHECK ((state = 'imported') = (account_created_at IS NOT NULL)),
    CHECK ((state = 'skipped') = (skip_reason IS NOT NULL)),
    CHECK ((state = 'claimed') = (claim_token IS NOT NULL)),
    CHECK ((state = 'claimed') = (claim_until IS NOT NULL))
) STRICT;
CREATE INDEX process_list ON process (supplier_id, first_staged_at, external);

-- That a document is JSON is seen to before it gets here.
CREATE TABLE staging (
    process_id INTEGER NOT NULL REFERENCES process (id),
    revision   INTEGER NOT NULL,
    hash       BLOB NOT NULL,
    staged_at  INTEGER NOT NULL,
    document   TEXT NOT NULL,
    PRIMARY KEY (process_id, revision)
) STRICT;

CREATE TABLE event (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    type           TEXT NOT NULL,
    supplier       TEXT NOT NULL,
    external       TEXT NOT NULL,
    account_number TEXT NOT NULL,
    at             INTEGER NOT NULL,
    details        TEXT NOT NULL CHECK (json_valid(details))
) STRICT;
CREATE INDEX event_process ON event (supplier, external, id);

CREATE TABLE audit (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    at      INTEGER NOT NULL,
    actor   TEXT NOT NULL,
    action  TEXT NOT NULL,
    subject TEXT NOT NULL,
    detail  TEXT NOT NULL
) STRICT;
CREATE INDEX audit_subject ON audit (subject, id);

-- Every commit leaves its mark here for a while: whoever lost the answer to a
-- commit finds out with it. A void mark stands for a commit that never was.
CREATE TABLE commit_mark (
    id   BLOB PRIMARY KEY,
    at   INTEGER NOT NULL,
    void INTEGER NOT NULL CHECK (void IN (0, 1))
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE commit_mark;
DROP TABLE audit;
DROP TABLE event;
DROP TABLE staging;
DROP TABLE process;
DROP TABLE service_token;
DROP TABLE api_key;
DROP TABLE supplier_grant;
DROP TABLE supplier;
DROP TABLE team;
DROP TABLE organisation;
