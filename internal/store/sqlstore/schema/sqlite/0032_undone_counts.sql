-- +goose Up
-- How many accounts of a run were taken back, counted with the taking back: the
-- page of a run of a million would otherwise count them each time it is read.
ALTER TABLE run ADD COLUMN undone INTEGER NOT NULL DEFAULT 0;
UPDATE run SET undone = (SELECT count(*) FROM undone_account u WHERE u.run_id = run.number)
WHERE number IN (SELECT run_id FROM undone_account WHERE run_id IS NOT NULL);

-- +goose Down
ALTER TABLE run DROP COLUMN undone;
