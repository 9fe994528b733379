-- +goose Up
-- How full pages become is PostgreSQL's concern.
SELECT 1;

-- +goose Down
SELECT 1;
