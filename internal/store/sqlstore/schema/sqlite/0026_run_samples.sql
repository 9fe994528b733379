-- +goose Up
-- How far runs were over time, a row every few seconds for each that is live.
CREATE TABLE run_sample (
    run_id INTEGER NOT NULL REFERENCES run (id),
    at     INTEGER NOT NULL,
    state  TEXT NOT NULL,
    done   INTEGER NOT NULL,
    PRIMARY KEY (run_id, at)
) STRICT, WITHOUT ROWID;

-- The servers over this database, as they report themselves.
CREATE TABLE replica (
    id         TEXT PRIMARY KEY,
    host       TEXT NOT NULL,
    version    TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL
) STRICT;

-- +goose Down
DROP TABLE replica;
DROP TABLE run_sample;
