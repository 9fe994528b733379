-- +goose Up
-- What the staged document of a process comes to, counted when it was staged.
-- The other two columns hold for one statement's answer what stood there
-- before it, so that a change is counted from what it really changed.
ALTER TABLE process ADD COLUMN figures TEXT;
ALTER TABLE process ADD COLUMN former_figures TEXT;
ALTER TABLE process ADD COLUMN failed_before INTEGER;

-- How the figures of a supplier's accounts changed, by how the accounts stand:
-- rows are only added, in the transaction of the change, so that nobody waits
-- for anybody; now and then many become one. Their sum is always exact.
CREATE TABLE tally (
    id          INTEGER PRIMARY KEY,
    supplier_id INTEGER NOT NULL,
    standing    TEXT NOT NULL CHECK (standing IN ('pending', 'failed', 'skipped', 'unstaged', 'created', 'deviating')),
    figures     TEXT NOT NULL
) STRICT;
CREATE INDEX tally_supplier ON tally (supplier_id, id);

-- What was sent for an account and is not on it, or is on it and was not sent.
CREATE TABLE deviation (
    id          INTEGER PRIMARY KEY,
    supplier_id INTEGER NOT NULL,
    external    TEXT NOT NULL,
    figures     TEXT NOT NULL
) STRICT;
CREATE INDEX deviation_account ON deviation (supplier_id, external, id);

-- Processes staged before figures were kept, until they have been counted:
-- those up to the second number, of which those up to the first are done.
CREATE TABLE uncounted (
    after INTEGER NOT NULL,
    until INTEGER NOT NULL
) STRICT;
INSERT INTO uncounted SELECT 0, max(id) FROM process HAVING max(id) > 0;

-- What a supplier's source says it has. The newest counts, earlier ones stay.
CREATE TABLE control_totals (
    id          INTEGER PRIMARY KEY,
    supplier_id INTEGER NOT NULL REFERENCES supplier (id),
    set_at      INTEGER NOT NULL,
    totals      TEXT NOT NULL CHECK (json_valid(totals)),
    key_id      TEXT,
    request_id  TEXT
) STRICT;
CREATE INDEX control_totals_supplier ON control_totals (supplier_id, id);

-- Reconciliations that were signed off. They never change.
CREATE TABLE sign_off (
    id          INTEGER PRIMARY KEY,
    supplier_id INTEGER NOT NULL REFERENCES supplier (id),
    signed_at   INTEGER NOT NULL,
    actor       TEXT NOT NULL,
    report      TEXT NOT NULL, -- JSON, byte for byte as it was sealed
    report_hash BLOB NOT NULL,
    page        TEXT NOT NULL, -- the same for people
    page_hash   BLOB NOT NULL
) STRICT;
CREATE INDEX sign_off_supplier ON sign_off (supplier_id, id);

-- +goose StatementBegin
CREATE TRIGGER sign_off_sealed BEFORE UPDATE ON sign_off
BEGIN
    SELECT raise(ABORT, 'a signed reconciliation never changes');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER sign_off_kept BEFORE DELETE ON sign_off
BEGIN
    SELECT raise(ABORT, 'a signed reconciliation never changes');
END;
-- +goose StatementEnd

-- +goose Down
DROP TABLE sign_off;
DROP TABLE control_totals;
DROP TABLE uncounted;
DROP TABLE deviation;
DROP TABLE tally;
ALTER TABLE process DROP COLUMN failed_before;
ALTER TABLE process DROP COLUMN former_figures;
ALTER TABLE process DROP COLUMN figures;
