-- +goose Up
-- How often an account was kept that somebody wanted to take back, by reason.
CREATE TABLE undo_kept (
    reason TEXT PRIMARY KEY,
    times  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE undo_kept;
