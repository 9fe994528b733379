-- +goose Up
-- Who may sign in to the console, and who has. Secrets are hashes here, except
-- that of the second factor: its codes are computed from it.
CREATE TABLE operator (
    name               TEXT COLLATE "C" PRIMARY KEY,
    role               TEXT NOT NULL CHECK (role IN ('operator', 'support')),
    disabled           BOOLEAN NOT NULL,
    password           TEXT NOT NULL,
    second             TEXT NOT NULL,
    second_used        BIGINT NOT NULL,
    invitation         BYTEA,
    invitation_ends_at BIGINT,
    created_at         BIGINT NOT NULL,
    password_at        BIGINT,
    signed_in_at       BIGINT,
    CHECK ((invitation IS NULL) = (invitation_ends_at IS NULL))
);
CREATE UNIQUE INDEX operator_invitation ON operator (invitation) WHERE invitation IS NOT NULL;

CREATE TABLE operator_session (
    id         TEXT COLLATE "C" PRIMARY KEY,
    hash       BYTEA NOT NULL UNIQUE,
    operator   TEXT COLLATE "C" NOT NULL REFERENCES operator (name),
    address    TEXT NOT NULL,
    agent      TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    seen_at    BIGINT NOT NULL,
    ends_at    BIGINT NOT NULL
);
CREATE INDEX operator_session_operator ON operator_session (operator);
CREATE INDEX operator_session_end ON operator_session (ends_at);

-- +goose Down
DROP TABLE operator_session;
DROP TABLE operator;
