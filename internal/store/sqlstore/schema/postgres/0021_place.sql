-- +goose Up
-- Where this database lives. A copy of it that is put elsewhere finds out here
-- that it is one, before it takes up again keys that were revoked since.
CREATE TABLE place (
    id          BIGINT PRIMARY KEY CHECK (id = 1),
    fingerprint TEXT,    -- of the server and the database in it; NULL until it is served
    copied_at   BIGINT   -- set in a backup; NULL where it is served
);
INSERT INTO place (id) VALUES (1);

-- +goose Down
DROP TABLE place;
