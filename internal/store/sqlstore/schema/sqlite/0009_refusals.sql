-- +goose Up
-- The last refusal of a staging that named its account: codes and places, no
-- values. It goes when the account is staged. There is one at most for each
-- account, so that nobody can fill the disk by being refused.
CREATE TABLE refusal (
    supplier_id INTEGER NOT NULL REFERENCES supplier (id),
    external    TEXT NOT NULL,
    at          INTEGER NOT NULL,
    failure     TEXT NOT NULL CHECK (json_valid(failure)),
    key_id      TEXT,
    request_id  TEXT,
    PRIMARY KEY (supplier_id, external)
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE refusal;
