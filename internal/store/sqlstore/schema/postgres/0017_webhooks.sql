-- +goose Up
-- Where events are delivered to. How far a webhook has got is one number; only
-- what failed has rows of its own, and what waits behind it.
CREATE TABLE webhook (
    name         TEXT COLLATE "C" PRIMARY KEY,
    organisation TEXT COLLATE "C" NOT NULL REFERENCES organisation (name),
    url          TEXT NOT NULL,
    types        JSON NOT NULL,
    suppliers    JSON NOT NULL,
    secrets      JSON NOT NULL, -- what they are derived with, not the secrets
    state        TEXT NOT NULL CHECK (state IN ('active', 'gone', 'off')),
    position     BIGINT NOT NULL, -- the last event that was dealt with
    created_at   BIGINT NOT NULL,
    due_at       BIGINT NOT NULL,
    attempts     BIGINT NOT NULL DEFAULT 0,
    failing_at   BIGINT,
    delivered    BIGINT NOT NULL DEFAULT 0,
    delivered_at BIGINT,
    lease_token  TEXT,
    lease_until  BIGINT,
    CHECK ((lease_token IS NULL) = (lease_until IS NULL))
) WITH (fillfactor = 50);
CREATE INDEX webhook_organisation ON webhook (organisation);

CREATE TABLE webhook_delivery (
    webhook  TEXT COLLATE "C" NOT NULL REFERENCES webhook (name) ON DELETE CASCADE,
    event_id BIGINT NOT NULL,
    supplier TEXT COLLATE "C" NOT NULL,
    external TEXT COLLATE "C" NOT NULL,
    state    TEXT NOT NULL CHECK (state IN ('waiting', 'dead')),
    attempts BIGINT NOT NULL,
    first_at BIGINT NOT NULL,
    due_at   BIGINT, -- NULL: behind another one of its account, or dead
    status   BIGINT NOT NULL,
    reason   TEXT NOT NULL,
    PRIMARY KEY (webhook, event_id)
);
CREATE INDEX webhook_delivery_account ON webhook_delivery (webhook, supplier, external, event_id) WHERE state = 'waiting';
CREATE INDEX webhook_delivery_due ON webhook_delivery (webhook, due_at) WHERE due_at IS NOT NULL;

CREATE TABLE webhook_round (
    id        BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    webhook   TEXT COLLATE "C" NOT NULL REFERENCES webhook (name) ON DELETE CASCADE,
    at        BIGINT NOT NULL,
    position  BIGINT NOT NULL,
    delivered BIGINT NOT NULL,
    failed    BIGINT NOT NULL,
    dead      BIGINT NOT NULL,
    status    BIGINT NOT NULL,
    reason    TEXT NOT NULL,
    took      BIGINT NOT NULL
);
CREATE INDEX webhook_round_webhook ON webhook_round (webhook, id);

-- +goose Down
DROP TABLE webhook_round;
DROP TABLE webhook_delivery;
DROP TABLE webhook;
