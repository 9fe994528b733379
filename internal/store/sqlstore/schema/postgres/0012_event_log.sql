-- +goose Up
-- Whoever follows the log reads one supplier's events in order. A grant is
-- looked for by who has it, too.
CREATE INDEX event_supplier ON event (supplier, id);
CREATE INDEX supplier_grant_organisation ON supplier_grant (organisation);

-- +goose Down
DROP INDEX supplier_grant_organisation;
DROP INDEX event_supplier;
