-- +goose Up
-- Instants are microseconds since 1970 UTC. Names are compared byte by byte,
-- whatever the database's own sort order is.
CREATE TABLE organisation (
    name       TEXT COLLATE "C" PRIMARY KEY,
    disabled   BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL
);

CREATE TABLE team (
    name       TEXT COLLATE "C" PRIMARY KEY,
    created_at BIGINT NOT NULL
);

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
    created_at           BIGINT NOT NULL
);

CREATE TABLE supplier_grant (
    supplier_id  BIGINT NOT NULL REFERENCES supplier (id),
    organisation TEXT COLLATE "C" NOT NULL REFERENCES organisation (name),
    PRIMARY KEY (supplier_id, organisation)
);

CREATE TABLE api_key (
    id           TEXT COLLATE "C" PRIMARY KEY,
    organisation TEXT COLLATE "C" NOT NULL REFERENCES organisation (name),
    role         TEXT NOT NULL CHECK (role IN ('importer', 'viewer')),
    secret_hash  BYTEA NOT NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT,
    revoked_at   BIGINT
);

CREATE TABLE service_token (
    hash       BYTEA PRIMARY KEY,
    purpose    TEXT NOT NULL CHECK (purpose IN ('access', 'refresh')),
    key_id     TEXT COLLATE "C" NOT NULL REFERENCES api_key (id),
    expires_at BIGINT NOT NULL,
    spent_at   BIGINT
);
CREATE INDEX service_token_expiry ON service_token (expires_at);

-- One small row per account on its way; the documents live in staging. The
-- room left in each page lets a re-staging update its row in place.
CREATE TABLE process (
    id                 BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    supplier_id        BIGINT NOT NULL REFERENCES supplier (id),
    external           TEXT COLLATE "C" NOT NULL,
    state              TEXT NOT NULL CHECK (state IN ('staged', 'claimed', 'imported', 'skipped')),
    revision           BIGINT NOT NULL,
    hash               BYTEA NOT NULL,
    first_staged_at    BIGINT NOT NULL,
    staged_at          BIGINT NOT NULL,
    account_number     TEXT COLLATE "C",
    account_created_at BIGINT,
    skip_reason        TEXT,
    claim_token        TEXT,
    claim_until        BIGINT,
    UNIQUE (supplier_id, external),
    CHECK ((state = 'imported') = (account_number IS NOT NULL)),
    CHECK ((state = 'imported') = (account_created_at IS NOT NULL)),
    CHECK ((state = 'skipped') = (skip_reason IS NOT NULL)),
    CHECK ((state = 'claimed') = (claim_token IS NOT NULL)),
    CHECK ((state = 'claimed') = (claim_until IS NOT NULL))
) WITH (fillfactor = 85);
CREATE INDEX process_list ON process (supplier_id, first_staged_at, external);

-- Documents up to a page stay in the row as they are: compressing each one
-- would cost more than the rest of the staging.
CREATE TABLE staging (
    process_id BIGINT NOT NULL REFERENCES process (id),
    revision   BIGINT NOT NULL,
    hash       BYTEA NOT NULL,
    staged_at  BIGINT NOT NULL,
    document   JSON NOT NULL,
    PRIMARY KEY (process_id, revision)
) WITH (toast_tuple_target = 8160);

-- +goose StatementBegin
DO $$
BEGIN
    ALTER TABLE staging ALTER COLUMN document SET COMPRESSION lz4;
EXCEPTION WHEN feature_not_supported THEN
    NULL; -- A server built without lz4 keeps its usual compression.
END
$$;
-- +goose StatementEnd

CREATE TABLE event (
    id             BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    type           TEXT NOT NULL,
    supplier       TEXT COLLATE "C" NOT NULL,
    external       TEXT COLLATE "C" NOT NULL,
    account_number TEXT COLLATE "C" NOT NULL,
    at             BIGINT NOT NULL,
    details        JSON NOT NULL
);
CREATE INDEX event_process ON event (supplier, external, id);

CREATE TABLE audit (
    id      BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at      BIGINT NOT NULL,
    actor   TEXT NOT NULL,
    action  TEXT NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    detail  TEXT NOT NULL
);
CREATE INDEX audit_subject ON audit (subject, id);

-- Every commit leaves its mark here for a while: whoever lost the answer to a
-- commit finds out with it. A void mark stands for a commit that never was.
CREATE TABLE commit_mark (
    id   BYTEA PRIMARY KEY,
    at   BIGINT NOT NULL,
    void BOOLEAN NOT NULL
);

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
