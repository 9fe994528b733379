-- +goose Up
-- To SQLite a foreign key is a look at a page that it has at hand: those stay.
SELECT 1;

-- +goose Down
SELECT 1;
