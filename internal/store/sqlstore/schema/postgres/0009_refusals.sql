-- +goose Up
-- The last refusal of a staging that named its account: codes and places, no
-- values. It goes when the account is staged. There is one at most for each
-- account, so that nobody can fill the disk by being refused.
CREATE TABLE refusal (
    supplier_id BIGINT NOT NULL REFERENCES supplier (id),
    external    TEXT COLLATE "C" NOT NULL,
    at          BIGINT NOT NULL,
    failure     JSON NOT NULL,
    key_id      TEXT COLLATE "C",
    request_id  TEXT,
    PRIMARY KEY (supplier_id, external)
) WITH (fillfactor = 85);

-- +goose Down
DROP TABLE refusal;
