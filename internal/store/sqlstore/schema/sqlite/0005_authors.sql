-- +goose Up
-- Whose key wrote something through the API, and in which request. A key never
-- changes its organisation and is never forgotten, so it names that too. What
-- came with an account's creation was written by whoever completed it.
ALTER TABLE staging ADD COLUMN key_id TEXT;
ALTER TABLE staging ADD COLUMN request_id TEXT;
ALTER TABLE event ADD COLUMN key_id TEXT;
ALTER TABLE event ADD COLUMN request_id TEXT;
ALTER TABLE ledger_entry ADD COLUMN key_id TEXT;
ALTER TABLE ledger_entry ADD COLUMN request_id TEXT;
ALTER TABLE note ADD COLUMN key_id TEXT;
ALTER TABLE note ADD COLUMN request_id TEXT;
ALTER TABLE historical_statement ADD COLUMN key_id TEXT;
ALTER TABLE historical_statement ADD COLUMN request_id TEXT;
ALTER TABLE instruction ADD COLUMN key_id TEXT;
ALTER TABLE instruction ADD COLUMN request_id TEXT;

-- When a key was last used, give or take a minute.
ALTER TABLE api_key ADD COLUMN used_at INTEGER;

-- +goose Down
ALTER TABLE api_key DROP COLUMN used_at;
ALTER TABLE instruction DROP COLUMN request_id;
ALTER TABLE instruction DROP COLUMN key_id;
ALTER TABLE historical_statement DROP COLUMN request_id;
ALTER TABLE historical_statement DROP COLUMN key_id;
ALTER TABLE note DROP COLUMN request_id;
ALTER TABLE note DROP COLUMN key_id;
ALTER TABLE ledger_entry DROP COLUMN request_id;
ALTER TABLE ledger_entry DROP COLUMN key_id;
ALTER TABLE event DROP COLUMN request_id;
ALTER TABLE event DROP COLUMN key_id;
ALTER TABLE staging DROP COLUMN request_id;
ALTER TABLE staging DROP COLUMN key_id;
