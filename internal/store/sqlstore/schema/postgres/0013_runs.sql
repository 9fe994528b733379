-- +goose Up
-- A run: the service creates a supplier's staged accounts by itself.
CREATE TABLE run (
    id                 BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    number             TEXT COLLATE "C" NOT NULL UNIQUE, -- as people know it
    supplier_id        BIGINT NOT NULL REFERENCES supplier (id),
    team               TEXT COLLATE "C" NOT NULL,
    dry_run            BOOLEAN NOT NULL,
    selection          TEXT NOT NULL CHECK (selection IN ('pending', 'failed', 'untried')),
    sample             BIGINT NOT NULL, -- every so manieth; 0: all
    most               BIGINT NOT NULL, -- accounts; 0: all
    at_once            BIGINT NOT NULL, -- accounts side by side; 0: as the service likes
    not_before         BIGINT,
    not_after          BIGINT,
    state              TEXT NOT NULL CHECK (state IN ('WAITING', 'RUNNING', 'PAUSED', 'FINISHED', 'CANCELLED')),
    cancelling         BOOLEAN NOT NULL,
    reason             TEXT NOT NULL, -- of a pause, begun or asked for
    created_at         BIGINT NOT NULL,
    started_at         BIGINT,
    ended_at           BIGINT,
    running_since      BIGINT, -- while it is
    worked             BIGINT NOT NULL, -- microseconds of running before that
    -- How far the choosing of its accounts is: everything staged by the cutoff,
    -- from the cursor on, seen of them being passed and selected chosen.
    cutoff             BIGINT,
    cursor_at          BIGINT NOT NULL,
    cursor_external    TEXT COLLATE "C" NOT NULL,
    seen               BIGINT NOT NULL,
    selected           BIGINT NOT NULL,
    chosen             BOOLEAN NOT NULL,
    created_key_id     TEXT COLLATE "C",
    created_request_id TEXT,
    key_id             TEXT COLLATE "C", -- in whose name it goes on
    request_id         TEXT
);
CREATE UNIQUE INDEX run_live ON run (supplier_id) WHERE state IN ('WAITING', 'RUNNING', 'PAUSED');
CREATE INDEX run_list ON run (supplier_id, id);

-- The accounts of a run and what became of each. Whoever writes an outcome does
-- so in the transaction that makes it true, holding the slice.
CREATE TABLE run_member (
    run_id     BIGINT NOT NULL,
    ordinal    BIGINT NOT NULL,
    process_id BIGINT NOT NULL,
    outcome    TEXT CHECK (outcome IN ('succeeded', 'failed', 'refused')),
    PRIMARY KEY (run_id, ordinal)
) WITH (fillfactor = 70);

-- A part of a run's members, one after the other by ordinal, for one worker at
-- a time. Its sums are written with the outcomes they count, so that no two
-- workers ever wait for the same row.
CREATE TABLE run_slice (
    run_id    BIGINT NOT NULL REFERENCES run (id),
    slice     BIGINT NOT NULL,
    size      BIGINT NOT NULL,
    succeeded BIGINT NOT NULL,
    failed    BIGINT NOT NULL,
    refused   BIGINT NOT NULL,
    token     TEXT, -- of the worker who has it
    until     BIGINT,
    width     BIGINT NOT NULL, -- accounts he may have under way
    next_at   BIGINT NOT NULL, -- not to be taken before
    tries     BIGINT NOT NULL, -- how often it was left for later
    done      BOOLEAN NOT NULL,
    PRIMARY KEY (run_id, slice),
    CHECK (done = (succeeded + failed + refused = size)),
    CHECK ((token IS NULL) = (until IS NULL))
) WITH (fillfactor = 50);
CREATE INDEX run_slice_open ON run_slice (run_id, slice) WHERE done = FALSE;

-- Why accounts failed in a run; the process keeps only its last failure.
CREATE TABLE run_failure (
    run_id   BIGINT NOT NULL,
    external TEXT COLLATE "C" NOT NULL,
    at       BIGINT NOT NULL,
    failure  JSON NOT NULL,
    PRIMARY KEY (run_id, external)
);

-- In which run an account was created; NULL: in none. A run's accounts are its
-- members that succeeded and whose account is still of that run.
ALTER TABLE account ADD COLUMN run TEXT COLLATE "C";

-- +goose Down
ALTER TABLE account DROP COLUMN run;
DROP TABLE run_failure;
DROP TABLE run_slice;
DROP TABLE run_member;
DROP TABLE run;
