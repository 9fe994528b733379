-- +goose Up
-- An entry's place in its ledger is its key, so that no place is given twice.
ALTER TABLE ledger_entry
    ADD CHECK (sequence > 0),
    DROP CONSTRAINT ledger_entry_pkey,
    ADD PRIMARY KEY (account_id, sequence);
CREATE INDEX ledger_entry_transaction ON ledger_entry (account_id, transaction_id, sequence);

-- Every list has an index of its own rows alone, whatever the others are: one
-- pending account among a million imported is the first entry of its index.
DROP INDEX process_list;
DROP INDEX process_failed;
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
DROP INDEX ledger_entry_transaction;
ALTER TABLE ledger_entry DROP CONSTRAINT ledger_entry_pkey, ADD PRIMARY KEY (account_id, transaction_id, sequence);
