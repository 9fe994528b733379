-- +goose Up
-- Documents are packed before they come here, and only their first byte says
-- how: those of before stay as they were. The database must not look inside.
ALTER TABLE staging RENAME TO former_staging;
CREATE TABLE staging (
    process_id INTEGER NOT NULL REFERENCES process (id),
    revision   INTEGER NOT NULL,
    hash       BLOB NOT NULL, -- of the document as it was sent
    staged_at  INTEGER NOT NULL,
    document   BLOB NOT NULL,
    key_id     TEXT,
    request_id TEXT,
    PRIMARY KEY (process_id, revision)
) STRICT;
INSERT INTO staging SELECT process_id, revision, hash, staged_at, CAST(document AS BLOB), key_id, request_id
    FROM former_staging ORDER BY rowid;
DROP TABLE former_staging;

-- +goose Down
-- A packed document cannot be unpacked here.
