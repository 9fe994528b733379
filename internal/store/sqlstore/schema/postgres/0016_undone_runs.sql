-- +goose Up
-- run_id is the run in which an account had been created. A run's accounts are
-- those that still stand and those that were taken back.
CREATE INDEX undone_account_run ON undone_account (run_id) WHERE run_id IS NOT NULL;

-- +goose Down
DROP INDEX undone_account_run;
