-- +goose Up
-- Dry runs under way that count toward a limit. They hold no process, so the
-- process cannot count for them; a row stays until its attempt or lease ends.
CREATE TABLE rehearsal (
    token       TEXT COLLATE "C" PRIMARY KEY,
    supplier_id BIGINT NOT NULL REFERENCES supplier (id),
    until       BIGINT NOT NULL
);

-- +goose Down
DROP TABLE rehearsal;
