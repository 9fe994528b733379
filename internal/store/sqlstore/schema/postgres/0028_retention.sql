-- +goose Up
-- How long things of a supplier are kept, in microseconds; 0 means for ever.
ALTER TABLE supplier ADD COLUMN keep_staged BIGINT NOT NULL DEFAULT 0 CHECK (keep_staged >= 0);
ALTER TABLE supplier ADD COLUMN keep_failures BIGINT NOT NULL DEFAULT 0 CHECK (keep_failures >= 0);
ALTER TABLE supplier ADD COLUMN keep_mails BIGINT NOT NULL DEFAULT 0 CHECK (keep_mails >= 0);

-- When it was forgotten whom a mail went to. Mails come into the index when they
-- are settled and leave it when they are purged.
ALTER TABLE mail ADD COLUMN gone_at BIGINT;
CREATE INDEX mail_kept ON mail (supplier, settled_at, id) WHERE due_at IS NULL AND gone_at IS NULL;

-- When a server goes through everything again. While one does, the time is moved
-- on: the others wait, and one of them takes over should it come.
CREATE TABLE purge_round (
    id     BIGINT PRIMARY KEY CHECK (id = 1),
    due_at BIGINT NOT NULL
);
INSERT INTO purge_round (id, due_at) VALUES (1, 0);

-- +goose Down
DROP TABLE purge_round;
DROP INDEX mail_kept;
ALTER TABLE mail DROP COLUMN gone_at;
ALTER TABLE supplier DROP COLUMN keep_mails;
ALTER TABLE supplier DROP COLUMN keep_failures;
ALTER TABLE supplier DROP COLUMN keep_staged;
