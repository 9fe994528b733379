-- +goose Up
-- Mails are sent: each has a state, one sender at a time, and a name of its own.
ALTER TABLE mail DROP CONSTRAINT mail_pkey;
ALTER TABLE mail ADD COLUMN id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY;
ALTER TABLE mail DROP COLUMN ordinal;
ALTER TABLE mail ADD COLUMN supplier TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE mail ADD COLUMN language TEXT NOT NULL DEFAULT '';
ALTER TABLE mail ADD COLUMN state TEXT NOT NULL DEFAULT 'queued'
    CHECK (state IN ('queued', 'sending', 'sent', 'refused', 'withdrawn', 'bounced'));
ALTER TABLE mail ADD COLUMN due_at BIGINT; -- the next attempt, or the end of the sender's lease; NULL: settled
ALTER TABLE mail ADD COLUMN settled_at BIGINT;
ALTER TABLE mail ADD COLUMN token TEXT; -- of the sender
ALTER TABLE mail ADD COLUMN attempts BIGINT NOT NULL DEFAULT 0;
ALTER TABLE mail ADD COLUMN uncertain BOOLEAN NOT NULL DEFAULT FALSE; -- an attempt ended without an answer
ALTER TABLE mail ADD COLUMN reply TEXT NOT NULL DEFAULT '';
ALTER TABLE mail ALTER COLUMN recipient TYPE TEXT COLLATE "C";
UPDATE mail SET due_at = queued_at, supplier = s.code
FROM process p JOIN supplier s ON s.id = p.supplier_id WHERE p.id = mail.account_id;
ALTER TABLE mail ALTER COLUMN supplier DROP DEFAULT;
ALTER TABLE mail ADD CHECK ((due_at IS NOT NULL) = (state IN ('queued', 'sending')));
ALTER TABLE mail ADD CHECK ((settled_at IS NULL) = (state IN ('queued', 'sending')));
ALTER TABLE mail ADD CHECK ((token IS NOT NULL) = (state = 'sending'));

-- One for an account and an address, for ever.
CREATE UNIQUE INDEX mail_once ON mail (account_id, kind, recipient);
CREATE INDEX mail_due ON mail (supplier, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX mail_state ON mail (state, id) WHERE due_at IS NULL;

-- Whoever takes mails to send holds the only row meanwhile: it keeps the pace of
-- all senders, and how long a server has promised to send.
CREATE TABLE mail_desk (
    id         BIGINT PRIMARY KEY CHECK (id = 1),
    free_at    BIGINT NOT NULL,
    open_until BIGINT NOT NULL
);
INSERT INTO mail_desk (id, free_at, open_until) VALUES (1, 0, 0);

-- +goose Down
DROP TABLE mail_desk;
DROP INDEX mail_once;
ALTER TABLE mail DROP COLUMN id, DROP COLUMN supplier, DROP COLUMN language, DROP COLUMN state, DROP COLUMN due_at,
    DROP COLUMN settled_at, DROP COLUMN token, DROP COLUMN attempts, DROP COLUMN uncertain, DROP COLUMN reply;
ALTER TABLE mail ADD COLUMN ordinal BIGINT GENERATED ALWAYS AS IDENTITY;
ALTER TABLE mail ALTER COLUMN ordinal DROP IDENTITY;
ALTER TABLE mail ADD PRIMARY KEY (account_id, ordinal);
