-- +goose Up
-- Where events are delivered to. How far a webhook has got is one number; only
-- what failed has rows of its own, and what waits behind it.
CREATE TABLE webhook (
    name         TEXT PRIMARY KEY,
    organisation TEXT NOT NULL REFERENCES organisation (name),
    url          TEXT NOT NULL,
    types        TEXT NOT NULL CHECK (json_valid(types)),
    suppliers    TEXT NOT NULL CHECK (json_valid(suppliers)),
    secrets      TEXT NOT NULL CHECK (json_valid(secrets)), -- what they are derived with, not the secrets
    state        TEXT NOT NULL CHECK (state IN ('active', 'gone', 'off')),
    position     INTEGER NOT NULL, -- the last event that was dealt with
    created_at   INTEGER NOT NULL,
    due_at       INTEGER NOT NULL,
    attempts     INTEGER NOT NULL DEFAULT 0,
    failing_at   INTEGER,
    delivered    INTEGER NOT NULL DEFAULT 0,
    delivered_at INTEGER,
    lease_token  TEXT,
    lease_until  INTEGER,
    CHECK ((lease_token IS NULL) = (lease_until IS NULL))
) STRICT;
CREATE INDEX webhook_organisation ON webhook (organisation);

CREATE TABLE webhook_delivery (
    webhook  TEXT NOT NULL REFERENCES webhook (name) ON DELETE CASCADE,
    event_id INTEGER NOT NULL,
    supplier TEXT NOT NULL,
    external TEXT NOT NULL,
    state    TEXT NOT NULL CHECK (state IN ('waiting', 'dead')),
    attempts INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    due_at   INTEGER, -- NULL: behind another one of its account, or dead
    status   INTEGER NOT NULL,
    reason   TEXT NOT NULL,
    PRIMARY KEY (webhook, event_id)
) STRICT;
CREATE INDEX webhook_delivery_account ON webhook_delivery (webhook, supplier, external, event_id) WHERE state = 'waiting';
CREATE INDEX webhook_delivery_due ON webhook_delivery (webhook, due_at) WHERE due_at IS NOT NULL;

CREATE TABLE webhook_round (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook   TEXT NOT NULL REFERENCES webhook (name) ON DELETE CASCADE,
    at        INTEGER NOT NULL,
    position  INTEGER NOT NULL,
    delivered INTEGER NOT NULL,
    failed    INTEGER NOT NULL,
    dead      INTEGER NOT NULL,
    status    INTEGER NOT NULL,
    reason    TEXT NOT NULL,
    took      INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_round_webhook ON webhook_round (webhook, id);

-- +goose Down
DROP TABLE webhook_round;
DROP TABLE webhook_delivery;
DROP TABLE webhook;
