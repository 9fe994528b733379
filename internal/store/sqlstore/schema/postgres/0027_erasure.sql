-- +goose Up
-- What is personal of an account can be erased for good, and staged documents
-- can go while it stays known that they were there.
ALTER TABLE process ADD COLUMN erased_at BIGINT;
ALTER TABLE staging ADD COLUMN gone_at BIGINT; -- when the document went; it is empty then

-- +goose Down
ALTER TABLE staging DROP COLUMN gone_at;
ALTER TABLE process DROP COLUMN erased_at;
