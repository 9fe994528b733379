-- +goose Up
-- Before a table was ever analysed PostgreSQL takes it that a supplier has next to no
-- accounts, and may look for each of a batch among all of that supplier's: as good as
-- any other way while the table is empty, and then it goes on like that until its own
-- analysis notices, in the middle of the move. Rows that nobody else sees and that are gone
-- at once tell it what such tables are like.
INSERT INTO process (id, supplier_id, external, state, revision, hash, first_staged_at, staged_at)
OVERRIDING SYSTEM VALUE
SELECT -i, 0, i::text, 'staged', 0, '', 0, 0 FROM generate_series(1, 1000) i WHERE NOT EXISTS (SELECT 1 FROM process);
ANALYZE process (supplier_id, external);
DELETE FROM process WHERE id < 0;

ALTER TABLE refusal DROP CONSTRAINT refusal_supplier_id_fkey;
INSERT INTO refusal (supplier_id, external, at, failure)
SELECT 0, i::text, 0, '{}' FROM generate_series(1, 1000) i WHERE NOT EXISTS (SELECT 1 FROM refusal);
ANALYZE refusal (supplier_id, external);
DELETE FROM refusal WHERE supplier_id = 0;
ALTER TABLE refusal ADD CONSTRAINT refusal_supplier_id_fkey FOREIGN KEY (supplier_id) REFERENCES supplier (id);

-- +goose Down
-- What was learnt does no harm.
SELECT 1;
