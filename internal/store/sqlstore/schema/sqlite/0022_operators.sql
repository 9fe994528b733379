-- +goose Up
-- Who may sign in to the console, and who has. Secrets are hashes here, except
-- that of the second factor: its codes are computed from it.
CREATE TABLE operator (
    name               TEXT PRIMARY KEY,
    role               TEXT NOT NULL CHECK (role IN ('operator', 'support')),
    disabled           INTEGER NOT NULL CHECK (disabled IN (0, 1)),
    password           TEXT NOT NULL,
    second             TEXT NOT NULL,
    second_used        INTEGER NOT NULL,
    invitation         BLOB,
    invitation_ends_at INTEGER,
    created_at         INTEGER NOT NULL,
    password_at        INTEGER,
    signed_in_at       INTEGER,
    CHECK ((invitation IS NULL) = (invitation_ends_at IS NULL))
) STRICT;
CREATE UNIQUE INDEX operator_invitation ON operator (invitation) WHERE invitation IS NOT NULL;

CREATE TABLE operator_session (
    id         TEXT PRIMARY KEY,
    hash       BLOB NOT NULL UNIQUE,
    operator   TEXT NOT NULL REFERENCES operator (name),
    address    TEXT NOT NULL,
    agent      TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL,
    ends_at    INTEGER NOT NULL
) STRICT;
CREATE INDEX operator_session_operator ON operator_session (operator);
CREATE INDEX operator_session_end ON operator_session (ends_at);

-- +goose Down
DROP TABLE operator_session;
DROP TABLE operator;
