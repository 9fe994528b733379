-- +goose Up
-- Dry runs under way that count toward a limit. They hold no process, so the
-- process cannot count for them; a row stays until its attempt or lease ends.
CREATE TABLE rehearsal (
    token       TEXT PRIMARY KEY,
    supplier_id INTEGER NOT NULL REFERENCES supplier (id),
    until       INTEGER NOT NULL
) STRICT;

-- +goose Down
DROP TABLE rehearsal;
