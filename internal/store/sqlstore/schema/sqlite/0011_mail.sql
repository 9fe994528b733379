-- +goose Up
-- Mails are sent: each has a state, one sender at a time, and a name of its own.
ALTER TABLE mail RENAME TO former_mail;
CREATE TABLE mail (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    account_id INTEGER NOT NULL,
    kind       TEXT NOT NULL,
    recipient  TEXT NOT NULL,
    queued_at  INTEGER NOT NULL,
    supplier   TEXT NOT NULL,
    language   TEXT NOT NULL DEFAULT '',
    state      TEXT NOT NULL DEFAULT 'queued'
        CHECK (state IN ('queued', 'sending', 'sent', 'refused', 'withdrawn', 'bounced')),
    due_at     INTEGER, -- the next attempt, or the end of the sender's lease; NULL: settled
    settled_at INTEGER,
    token      TEXT, -- of the sender
    attempts   INTEGER NOT NULL DEFAULT 0,
    uncertain  INTEGER NOT NULL DEFAULT 0 CHECK (uncertain IN (0, 1)), -- an attempt ended without an answer
    reply      TEXT NOT NULL DEFAULT '',
    CHECK ((due_at IS NOT NULL) = (state IN ('queued', 'sending'))),
    CHECK ((settled_at IS NULL) = (state IN ('queued', 'sending'))),
    CHECK ((token IS NOT NULL) = (state = 'sending'))
) STRICT;
INSERT INTO mail (account_id, kind, recipient, queued_at, supplier, due_at)
SELECT m.account_id, m.kind, m.recipient, m.queued_at, s.code, m.queued_at
FROM former_mail m JOIN process p ON p.id = m.account_id JOIN supplier s ON s.id = p.supplier_id
ORDER BY m.queued_at, m.account_id, m.ordinal;
DROP TABLE former_mail;

-- One for an account and an address, for ever.
CREATE UNIQUE INDEX mail_once ON mail (account_id, kind, recipient);
CREATE INDEX mail_due ON mail (supplier, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX mail_state ON mail (state, id) WHERE due_at IS NULL;

-- Whoever takes mails to send holds the only row meanwhile: it keeps the pace of
-- all senders, and how long a server has promised to send.
CREATE TABLE mail_desk (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    free_at    INTEGER NOT NULL,
    open_until INTEGER NOT NULL
) STRICT;
INSERT INTO mail_desk (id, free_at, open_until) VALUES (1, 0, 0);

-- +goose Down
DROP TABLE mail_desk;
ALTER TABLE mail RENAME TO later_mail;
CREATE TABLE mail (
    account_id INTEGER NOT NULL,
    ordinal    INTEGER NOT NULL,
    kind       TEXT NOT NULL,
    recipient  TEXT NOT NULL,
    queued_at  INTEGER NOT NULL,
    PRIMARY KEY (account_id, ordinal)
) STRICT, WITHOUT ROWID;
INSERT INTO mail SELECT account_id, id, kind, recipient, queued_at FROM later_mail;
DROP TABLE later_mail;
