-- +goose Up
-- Who did something, from where and in which request. What organisations did
-- in one transaction is one row: acts lists it. The database must not pack it.
ALTER TABLE audit ADD COLUMN source TEXT NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN request_id TEXT NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN acts TEXT NOT NULL DEFAULT '';
ALTER TABLE audit ALTER COLUMN acts SET STORAGE EXTERNAL;
DROP INDEX audit_subject;
CREATE INDEX audit_subject ON audit (subject, id) WHERE subject <> '';

-- The chain: every entry has the hash of itself and of all before it. The links
-- are written behind the entries, by one at a time: whoever acts would otherwise
-- wait for everybody else who does.
CREATE TABLE audit_link (
    place BIGINT PRIMARY KEY,
    entry BIGINT NOT NULL UNIQUE,
    hash  TEXT NOT NULL
);

-- Where the chain ends. Entries with an id up to through have their place.
CREATE TABLE audit_chain (
    id      BIGINT PRIMARY KEY CHECK (id = 1),
    name    TEXT NOT NULL,
    place   BIGINT NOT NULL,
    hash    TEXT NOT NULL,
    through BIGINT NOT NULL
) WITH (fillfactor = 50);
INSERT INTO audit_chain (id, name, place, hash, through) VALUES (1, gen_random_uuid()::text, 0, '', 0);

-- +goose Down
DROP TABLE audit_chain;
DROP TABLE audit_link;
DROP INDEX audit_subject;
DELETE FROM audit WHERE acts <> '';
ALTER TABLE audit DROP COLUMN acts;
ALTER TABLE audit DROP COLUMN request_id;
ALTER TABLE audit DROP COLUMN source;
CREATE INDEX audit_subject ON audit (subject, id);
