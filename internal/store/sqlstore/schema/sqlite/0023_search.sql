-- +goose Up
-- What accounts are found by: a letter for the kind and the term, or a keyed
-- hash of the two. A search asks for the terms between two, by their bytes.
CREATE TABLE search_term (
    account_id INTEGER NOT NULL,
    term       TEXT NOT NULL,
    PRIMARY KEY (account_id, term)
) STRICT, WITHOUT ROWID;
CREATE INDEX search_term_found ON search_term (term, account_id);

-- How far the terms are entered: of accounts from before up to a last one, and
-- since then by the log of events.
CREATE TABLE search_clerk (
    id            INTEGER PRIMARY KEY CHECK (id = 1),
    account_after INTEGER NOT NULL,
    account_until INTEGER NOT NULL,
    event_after   INTEGER NOT NULL
) STRICT;
INSERT INTO search_clerk (id, account_after, account_until, event_after)
SELECT 1, 0, (SELECT coalesce(max(id), 0) FROM account), (SELECT coalesce(max(id), 0) FROM event);

-- Pages of long lists. Most accounts have no such lists, and no such rows.
CREATE INDEX note_page ON note (account_id, ordinal) WHERE ordinal > 200;
CREATE INDEX note_pinned ON note (account_id, ordinal) WHERE pinned = TRUE;
CREATE INDEX historical_statement_page ON historical_statement (account_id, ordinal) WHERE ordinal > 200;

-- +goose Down
DROP INDEX historical_statement_page;
DROP INDEX note_pinned;
DROP INDEX note_page;
DROP TABLE search_clerk;
DROP TABLE search_term;
