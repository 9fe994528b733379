-- +goose Up
-- Documents are packed before they come here, and only their first byte says
-- how: those of before stay as they were. The database must neither look inside
-- nor pack them again.
ALTER TABLE staging ALTER COLUMN document TYPE BYTEA USING convert_to(document::text, 'UTF8');
ALTER TABLE staging ALTER COLUMN document SET STORAGE EXTERNAL;

-- +goose Down
-- A packed document cannot be unpacked here.
