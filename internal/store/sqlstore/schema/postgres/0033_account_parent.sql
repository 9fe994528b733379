-- +goose Up
-- Whoever writes an account has turned its process in the same transaction, and a
-- process that was ever staged cannot go: asking for it once more, a query for every
-- account, was a twentieth of what creating one cost.
ALTER TABLE account DROP CONSTRAINT account_id_fkey;

-- +goose Down
ALTER TABLE account ADD CONSTRAINT account_id_fkey FOREIGN KEY (id) REFERENCES process (id);
