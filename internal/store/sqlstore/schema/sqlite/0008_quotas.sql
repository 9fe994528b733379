-- +goose Up
-- What an organisation may take of the service; 0 means as much as it likes.
ALTER TABLE organisation ADD COLUMN requests_per_second INTEGER NOT NULL DEFAULT 0;
ALTER TABLE organisation ADD COLUMN bytes_per_day INTEGER NOT NULL DEFAULT 0;
ALTER TABLE organisation ADD COLUMN revisions_per_account INTEGER NOT NULL DEFAULT 0;
ALTER TABLE organisation ADD COLUMN tokens_per_minute INTEGER NOT NULL DEFAULT 600;
ALTER TABLE organisation ADD COLUMN concurrent_creations INTEGER NOT NULL DEFAULT 0;

-- How much an organisation has sent on a day, added up by all servers.
CREATE TABLE organisation_usage (
    organisation TEXT NOT NULL REFERENCES organisation (name),
    used_on      TEXT NOT NULL,
    bytes        INTEGER NOT NULL,
    PRIMARY KEY (organisation, used_on)
) STRICT, WITHOUT ROWID;

-- Service tokens that come from one login, each bought with the one before. A
-- family ends as a whole when one of its refresh tokens is used twice, and at
-- the latest at its end. Its tokens never live longer than it does, so there
-- is no reference that would keep either from being forgotten.
CREATE TABLE token_family (
    id       BLOB PRIMARY KEY,
    ends_at  INTEGER NOT NULL,
    ended_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX token_family_end ON token_family (ends_at);
ALTER TABLE service_token ADD COLUMN family BLOB;

-- +goose Down
ALTER TABLE service_token DROP COLUMN family;
DROP TABLE token_family;
DROP TABLE organisation_usage;
ALTER TABLE organisation DROP COLUMN concurrent_creations;
ALTER TABLE organisation DROP COLUMN tokens_per_minute;
ALTER TABLE organisation DROP COLUMN revisions_per_account;
ALTER TABLE organisation DROP COLUMN bytes_per_day;
ALTER TABLE organisation DROP COLUMN requests_per_second;
