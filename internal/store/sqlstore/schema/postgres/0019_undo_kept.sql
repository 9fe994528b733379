-- +goose Up
-- How often an account was kept that somebody wanted to take back, by reason.
CREATE TABLE undo_kept (
    reason TEXT COLLATE "C" PRIMARY KEY,
    times  BIGINT NOT NULL
);

-- +goose Down
DROP TABLE undo_kept;
