-- +goose Up
-- To SQLite a foreign key is a look at a page that it has at hand: this one stays.
SELECT 1;

-- +goose Down
SELECT 1;
