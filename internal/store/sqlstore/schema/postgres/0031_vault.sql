-- +goose Up
-- The keys something here is sealed with, by their names. Each has sealed the
-- secret that what is looked up by equality and keyed digests depend on: whoever
-- has none of them cannot open this database. One goes when nothing is sealed
-- with it any more.
CREATE TABLE vault_key (
    id       TEXT COLLATE "C" PRIMARY KEY,
    secret   BYTEA NOT NULL,
    added_at BIGINT NOT NULL
);

-- How far everything is sealed anew, and with which key.
CREATE TABLE rekey_round (
    id         BIGINT PRIMARY KEY CHECK (id = 1),
    key_id     TEXT NOT NULL,
    place      TEXT NOT NULL, -- the table
    after      JSON NOT NULL, -- the key of its last row that was looked at
    looked     BIGINT NOT NULL,
    sealed     BIGINT NOT NULL,
    missed     BIGINT NOT NULL, -- rows that changed meanwhile
    started_at BIGINT NOT NULL
);

-- +goose Down
DROP TABLE rekey_round;
DROP TABLE vault_key;
