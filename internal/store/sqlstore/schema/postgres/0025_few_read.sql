-- +goose Up
-- What a posting looks for among the many notes or instructions of an account.
-- Most accounts have few, which are looked through, and have no rows here.
CREATE INDEX note_timed ON note (account_id, digest, created_at) WHERE ordinal > 64;
CREATE INDEX instruction_named ON instruction (account_id, vendor, reference) WHERE ordinal > 16;

-- +goose Down
DROP INDEX instruction_named;
DROP INDEX note_timed;
