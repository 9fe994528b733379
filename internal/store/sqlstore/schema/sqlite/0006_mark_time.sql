-- +goose Up

-- Marks are swept by the time the database gave them, oldest first.
CREATE INDEX commit_mark_at ON commit_mark (at);

-- +goose Down
DROP INDEX commit_mark_at;
