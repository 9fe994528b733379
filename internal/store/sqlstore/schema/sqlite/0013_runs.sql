-- +goose Up
-- A run: the service creates a supplier's staged accounts by itself.
CREATE TABLE run (
    id                 INTEGER PRIMARY KEY,
    number             TEXT NOT NULL UNIQUE, -- as people know it
    supplier_id        INTEGER NOT NULL REFERENCES supplier (id),
    team               TEXT NOT NULL,
    dry_run            INTEGER NOT NULL CHECK (dry_run IN (0, 1)),
    selection          TEXT NOT NULL CHECK (selection IN ('pending', 'failed', 'untried')),
    sample             INTEGER NOT NULL, -- every so manieth; 0: all
    most               INTEGER NOT NULL, -- accounts; 0: all
    at_once            INTEGER NOT NULL, -- accounts side by side; 0: as the service likes
    not_before         INTEGER,
    not_after          INTEGER,
    state              TEXT NOT NULL CHECK (state IN ('WAITING', 'RUNNING', 'PAUSED', 'FINISHED', 'CANCELLED')),
    cancelling         INTEGER NOT NULL CHECK (cancelling IN (0, 1)),
    reason             TEXT NOT NULL, -- of a pause, begun or asked for
    created_at         INTEGER NOT NULL,
    started_at         INTEGER,
    ended_at           INTEGER,
    running_since      INTEGER, -- while it is
    worked             INTEGER NOT NULL, -- microseconds of running before that
    -- How far the choosing of its accounts is: everything staged by the cutoff,
    -- from the cursor on, seen of them being passed and selected chosen.
    cutoff             INTEGER,
    cursor_at          INTEGER NOT NULL,
    cursor_external    TEXT NOT NULL,
    seen               INTEGER NOT NULL,
    selected           INTEGER NOT NULL,
    chosen             INTEGER NOT NULL CHECK (chosen IN (0, 1)),
    created_key_id     TEXT,
    created_request_id TEXT,
    key_id             TEXT, -- in whose name it goes on
    request_id         TEXT
) STRICT;
CREATE UNIQUE INDEX run_live ON run (supplier_id) WHERE state IN ('WAITING', 'RUNNING', 'PAUSED');
CREATE INDEX run_list ON run (supplier_id, id);

-- The accounts of a run and what became of each. Whoever writes an outcome does
-- so in the transaction that makes it true, holding the slice.
CREATE TABLE run_member (
    run_id     INTEGER NOT NULL,
    ordinal    INTEGER NOT NULL,
    process_id INTEGER NOT NULL,
    outcome    TEXT CHECK (outcome IN ('succeeded', 'failed', 'refused')),
    PRIMARY KEY (run_id, ordinal)
) STRICT, WITHOUT ROWID;

-- A part of a run's members, one after the other by ordinal, for one worker at
-- a time. Its sums are written with the outcomes they count, so that no two
-- workers ever wait for the same row.
CREATE TABLE run_slice (
    run_id    INTEGER NOT NULL REFERENCES run (id),
    slice     INTEGER NOT NULL,
    size      INTEGER NOT NULL,
    succeeded INTEGER NOT NULL,
    failed    INTEGER NOT NULL,
    refused   INTEGER NOT NULL,
    token     TEXT, -- of the worker who has it
    until     INTEGER,
    width     INTEGER NOT NULL, -- accounts he may have under way
    next_at   INTEGER NOT NULL, -- not to be taken before
    tries     INTEGER NOT NULL, -- how often it was left for later
    done      INTEGER NOT NULL CHECK (done IN (0, 1)),
    PRIMARY KEY (run_id, slice),
    CHECK (done = (succeeded + failed + refused = size)),
    CHECK ((token IS NULL) = (until IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX run_slice_open ON run_slice (run_id, slice) WHERE done = FALSE;

-- Why accounts failed in a run; the process keeps only its last failure.
CREATE TABLE run_failure (
    run_id   INTEGER NOT NULL,
    external TEXT NOT NULL,
    at       INTEGER NOT NULL,
    failure  TEXT NOT NULL CHECK (json_valid(failure)),
    PRIMARY KEY (run_id, external)
) STRICT, WITHOUT ROWID;

-- In which run an account was created; NULL: in none. A run's accounts are its
-- members that succeeded and whose account is still of that run.
ALTER TABLE account ADD COLUMN run TEXT;

-- +goose Down
ALTER TABLE account DROP COLUMN run;
DROP TABLE run_failure;
DROP TABLE run_slice;
DROP TABLE run_member;
DROP TABLE run;
