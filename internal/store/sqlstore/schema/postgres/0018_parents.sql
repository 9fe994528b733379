-- +goose Up
-- A foreign key asks for every new row whether its parent is there, and locks
-- that parent: two fifths of what staging an account cost. Both parents are
-- found in the very transaction that names them, so it is enough that they
-- cannot go: only a mark of an account that was never staged ever does.
ALTER TABLE staging DROP CONSTRAINT staging_process_id_fkey;
ALTER TABLE process DROP CONSTRAINT process_supplier_id_fkey;

-- +goose StatementBegin
CREATE FUNCTION refuse_orphans() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a % that others belong to stays, and keeps its id', TG_TABLE_NAME;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER supplier_stays BEFORE DELETE OR TRUNCATE OR UPDATE OF id ON supplier
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_orphans();
CREATE TRIGGER process_stays BEFORE DELETE ON process
    FOR EACH ROW WHEN (OLD.revision > 0) EXECUTE FUNCTION refuse_orphans();
CREATE TRIGGER process_stays_whole BEFORE TRUNCATE OR UPDATE OF id ON process
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_orphans();

-- +goose Down
DROP TRIGGER process_stays_whole ON process;
DROP TRIGGER process_stays ON process;
DROP TRIGGER supplier_stays ON supplier;
DROP FUNCTION refuse_orphans;
ALTER TABLE process ADD CONSTRAINT process_supplier_id_fkey FOREIGN KEY (supplier_id) REFERENCES supplier (id);
ALTER TABLE staging ADD CONSTRAINT staging_process_id_fkey FOREIGN KEY (process_id) REFERENCES process (id);
