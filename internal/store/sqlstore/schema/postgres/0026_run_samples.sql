-- +goose Up
-- How far runs were over time, a row every few seconds for each that is live.
CREATE TABLE run_sample (
    run_id BIGINT NOT NULL REFERENCES run (id),
    at     BIGINT NOT NULL,
    state  TEXT NOT NULL,
    done   BIGINT NOT NULL,
    PRIMARY KEY (run_id, at)
);

-- The servers over this database, as they report themselves.
CREATE TABLE replica (
    id         TEXT COLLATE "C" PRIMARY KEY,
    host       TEXT NOT NULL,
    version    TEXT NOT NULL,
    started_at BIGINT NOT NULL,
    seen_at    BIGINT NOT NULL
);

-- +goose Down
DROP TABLE replica;
DROP TABLE run_sample;
