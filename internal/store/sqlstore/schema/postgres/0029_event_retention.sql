-- +goose Up
-- How long events of a supplier are kept, in microseconds; 0 means for ever.
ALTER TABLE supplier ADD COLUMN keep_events BIGINT NOT NULL DEFAULT 0 CHECK (keep_events >= 0);

-- Up to where events of a supplier were purged, and the latest time of them.
-- Whoever follows the log is told when that is behind his place.
CREATE TABLE event_gone (
    supplier TEXT COLLATE "C" PRIMARY KEY,
    through  BIGINT NOT NULL,
    at       BIGINT NOT NULL
);

-- An event that is still to be delivered is not purged.
CREATE INDEX webhook_delivery_event ON webhook_delivery (event_id);

-- When everything was last gone through to its end.
ALTER TABLE purge_round ADD COLUMN ended_at BIGINT;

-- +goose Down
ALTER TABLE purge_round DROP COLUMN ended_at;
DROP INDEX webhook_delivery_event;
DROP TABLE event_gone;
ALTER TABLE supplier DROP COLUMN keep_events;
