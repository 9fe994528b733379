-- +goose Up
-- json_valid(NULL) was 0 before SQLite 3.41: to the tools of older systems a
-- healthy file looked corrupt, and rows were lost when it was restored from a
-- dump. The columns are made anew, since SQLite cannot change a condition.
DROP INDEX process_failed;
ALTER TABLE process RENAME COLUMN failure TO former_failure;
ALTER TABLE process ADD COLUMN failure TEXT CHECK (failure IS NULL OR json_valid(failure)); -- why the last attempt failed
UPDATE process SET failure = former_failure WHERE former_failure IS NOT NULL;
ALTER TABLE process DROP COLUMN former_failure;

-- An entry's place in its ledger is its key, so that no place is given twice.
ALTER TABLE ledger_entry RENAME TO former_ledger_entry;
CREATE TABLE ledger_entry (
    account_id     INTEGER NOT NULL,
    transaction_id TEXT NOT NULL,
    sequence       INTEGER NOT NULL CHECK (sequence > 0),
    kind           TEXT NOT NULL CHECK (kind IN ('opening', 'transaction')),
    closed         INTEGER NOT NULL CHECK (closed IN (0, 1)),
    signed         INTEGER NOT NULL,
    balance        INTEGER NOT NULL, -- after this entry
    type           TEXT NOT NULL,
    entered_on     TEXT NOT NULL,
    original_on    TEXT,
    reason         TEXT NOT NULL,
    note           TEXT NOT NULL,
    document       TEXT CHECK (document IS NULL OR json_valid(document)), -- the transaction as sent
    PRIMARY KEY (account_id, sequence)
) STRICT, WITHOUT ROWID;
INSERT INTO ledger_entry SELECT * FROM former_ledger_entry ORDER BY account_id, sequence;
DROP TABLE former_ledger_entry;
CREATE INDEX ledger_entry_transaction ON ledger_entry (account_id, transaction_id, sequence);

ALTER TABLE note RENAME TO former_note;
CREATE TABLE note (
    account_id     INTEGER NOT NULL,
    digest         INTEGER NOT NULL,
    ordinal        INTEGER NOT NULL,
    body           TEXT, -- NULL: documents alone
    document_paths TEXT CHECK (document_paths IS NULL OR json_valid(document_paths)),
    created_at     INTEGER NOT NULL,
    pinned         INTEGER NOT NULL CHECK (pinned IN (0, 1)),
    unpin_at       INTEGER,
    PRIMARY KEY (account_id, digest, ordinal)
) STRICT, WITHOUT ROWID;
INSERT INTO note SELECT * FROM former_note ORDER BY account_id, digest, ordinal;
DROP TABLE former_note;

-- Every list has an index of its own rows alone, whatever the others are: one
-- pending account among a million imported is the first entry of its index.
DROP INDEX process_list;
CREATE INDEX process_pending ON process (supplier_id, first_staged_at, external)
    WHERE account_number IS NULL AND skip_reason IS NULL;
CREATE INDEX process_imported ON process (supplier_id, first_staged_at, external) WHERE account_number IS NOT NULL;
CREATE INDEX process_skipped ON process (supplier_id, first_staged_at, external) WHERE skip_reason IS NOT NULL;
CREATE INDEX process_failed ON process (supplier_id, external) WHERE failed_at IS NOT NULL AND skip_reason IS NULL;

-- An account is completed once.
CREATE UNIQUE INDEX event_completed ON event (account_number) WHERE type = 'account_import.completed';

-- +goose Down
DROP INDEX event_completed;
DROP INDEX process_failed;
DROP INDEX process_skipped;
DROP INDEX process_imported;
DROP INDEX process_pending;
CREATE INDEX process_list ON process (supplier_id, first_staged_at, external);
CREATE INDEX process_failed ON process (supplier_id, first_staged_at, external) WHERE failed_at IS NOT NULL;
