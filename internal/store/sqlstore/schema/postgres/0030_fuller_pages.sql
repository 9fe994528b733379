-- +goose Up
-- A twentieth of each page is room enough for accounts that are staged again; more
-- than that is carried along by millions that never are.
ALTER TABLE process SET (fillfactor = 95);

-- +goose Down
ALTER TABLE process SET (fillfactor = 85);
