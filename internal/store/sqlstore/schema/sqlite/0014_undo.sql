-- +goose Up
-- How long after its creation an account can be taken back.
ALTER TABLE supplier ADD COLUMN undo_window INTEGER NOT NULL DEFAULT 259200000000 CHECK (undo_window >= 0);

-- How often something was added to an account since it was created: only one
-- that is as it was made can be taken back.
ALTER TABLE account ADD COLUMN posting_count INTEGER NOT NULL DEFAULT 0;
UPDATE account SET posting_count = (
    SELECT count(*) FROM process p JOIN supplier s ON s.id = p.supplier_id
        JOIN event e ON e.supplier = s.code AND e.external = p.external
    WHERE p.id = account.id AND e.type LIKE 'post_import.%')
WHERE id IN (
    SELECT p.id FROM event e JOIN supplier s ON s.code = e.supplier
        JOIN process p ON p.supplier_id = s.id AND p.external = e.external
    WHERE e.type LIKE 'post_import.%');

-- What remains of accounts that were taken back. Their numbers stand in letters
-- and contracts, so nobody gets one of them again.
CREATE TABLE undone_account (
    number             TEXT PRIMARY KEY,
    process_id         INTEGER NOT NULL REFERENCES process (id),
    account_created_at INTEGER NOT NULL,
    undone_at          INTEGER NOT NULL,
    actor              TEXT NOT NULL,
    reason             TEXT NOT NULL,
    run_id             TEXT -- when a whole run was taken back
) STRICT, WITHOUT ROWID;
CREATE INDEX undone_account_process ON undone_account (process_id, undone_at);

-- +goose Down
DROP TABLE undone_account;
ALTER TABLE account DROP COLUMN posting_count;
ALTER TABLE supplier DROP COLUMN undo_window;
