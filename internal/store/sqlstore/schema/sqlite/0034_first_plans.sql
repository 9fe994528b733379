-- +goose Up
-- SQLite always looks for an account by all that it knows of it; PostgreSQL is told to.
SELECT 1;

-- +goose Down
SELECT 1;
