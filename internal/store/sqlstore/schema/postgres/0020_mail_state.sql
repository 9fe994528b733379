-- +goose Up
-- Mails are listed by their state, those that wait too, however many others
-- there are.
DROP INDEX mail_state;
CREATE INDEX mail_state ON mail (state, id);

-- +goose Down
DROP INDEX mail_state;
CREATE INDEX mail_state ON mail (state, id) WHERE due_at IS NULL;
