-- +goose Up
-- What the staged document of a process comes to, counted when it was staged.
-- The other two columns hold for one statement's answer what stood there
-- before it, so that a change is counted from what it really changed.
ALTER TABLE process ADD COLUMN figures TEXT;
ALTER TABLE process ADD COLUMN former_figures TEXT;
ALTER TABLE process ADD COLUMN failed_before BOOLEAN;

-- How the figures of a supplier's accounts changed, by how the accounts stand:
-- rows are only added, in the transaction of the change, so that nobody waits
-- for anybody; now and then many become one. Their sum is always exact.
CREATE TABLE tally (
    id          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    supplier_id BIGINT NOT NULL,
    standing    TEXT NOT NULL CHECK (standing IN ('pending', 'failed', 'skipped', 'unstaged', 'created', 'deviating')),
    figures     TEXT NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
CREATE INDEX tally_supplier ON tally (supplier_id, id);

-- What was sent for an account and is not on it, or is on it and was not sent.
CREATE TABLE deviation (
    id          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    supplier_id BIGINT NOT NULL,
    external    TEXT COLLATE "C" NOT NULL,
    figures     TEXT NOT NULL
);
CREATE INDEX deviation_account ON deviation (supplier_id, external, id);

-- Processes staged before figures were kept, until they have been counted:
-- those up to the second number, of which those up to the first are done.
CREATE TABLE uncounted (
    after BIGINT NOT NULL,
    until BIGINT NOT NULL
);
INSERT INTO uncounted SELECT 0, max(id) FROM process HAVING max(id) > 0;

-- What a supplier's source says it has. The newest counts, earlier ones stay.
CREATE TABLE control_totals (
    id          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    supplier_id BIGINT NOT NULL REFERENCES supplier (id),
    set_at      BIGINT NOT NULL,
    totals      JSON NOT NULL,
    key_id      TEXT,
    request_id  TEXT
);
CREATE INDEX control_totals_supplier ON control_totals (supplier_id, id);

-- Reconciliations that were signed off. They never change.
CREATE TABLE sign_off (
    id          BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    supplier_id BIGINT NOT NULL REFERENCES supplier (id),
    signed_at   BIGINT NOT NULL,
    actor       TEXT NOT NULL,
    report      TEXT NOT NULL, -- JSON, byte for byte as it was sealed
    report_hash BYTEA NOT NULL,
    page        TEXT NOT NULL, -- the same for people
    page_hash   BYTEA NOT NULL
);
CREATE INDEX sign_off_supplier ON sign_off (supplier_id, id);

-- +goose StatementBegin
CREATE FUNCTION refuse_sealed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a signed reconciliation never changes';
END
$$;
-- +goose StatementEnd
CREATE TRIGGER sign_off_sealed BEFORE UPDATE OR DELETE OR TRUNCATE ON sign_off
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_sealed();

-- +goose Down
DROP TABLE sign_off;
DROP FUNCTION refuse_sealed;
DROP TABLE control_totals;
DROP TABLE uncounted;
DROP TABLE deviation;
DROP TABLE tally;
ALTER TABLE process DROP COLUMN failed_before;
ALTER TABLE process DROP COLUMN former_figures;
ALTER TABLE process DROP COLUMN figures;
