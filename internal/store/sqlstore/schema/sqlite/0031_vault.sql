-- +goose Up
-- The keys something here is sealed with, by their names. Each has sealed the
-- secret that what is looked up by equality and keyed digests depend on: whoever
-- has none of them cannot open this database. One goes when nothing is sealed
-- with it any more.
CREATE TABLE vault_key (
    id       TEXT PRIMARY KEY,
    secret   BLOB NOT NULL,
    added_at INTEGER NOT NULL
) STRICT;

-- How far everything is sealed anew, and with which key.
CREATE TABLE rekey_round (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    key_id     TEXT NOT NULL,
    place      TEXT NOT NULL, -- the table
    after      TEXT NOT NULL CHECK (json_valid(after)), -- the key of its last row that was looked at
    looked     INTEGER NOT NULL,
    sealed     INTEGER NOT NULL,
    missed     INTEGER NOT NULL, -- rows that changed meanwhile
    started_at INTEGER NOT NULL
) STRICT;

-- +goose Down
DROP TABLE rekey_round;
DROP TABLE vault_key;
