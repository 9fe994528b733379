-- +goose Up
-- Which suppliers may use a vendor. A vendor is open to every supplier until it
-- is granted to one; from then on it is only for those it was granted to.
ALTER TABLE vendor ADD COLUMN granted_only BOOLEAN NOT NULL DEFAULT FALSE;

CREATE TABLE vendor_grant (
    vendor      TEXT COLLATE "C" NOT NULL REFERENCES vendor (code) ON DELETE CASCADE,
    supplier_id BIGINT NOT NULL REFERENCES supplier (id),
    PRIMARY KEY (vendor, supplier_id)
);

-- A supplier without a document root reached every other supplier's documents.
-- It gets its code as root, unless that would lie over the root of another one:
-- then it stays without, reaches none, and the server says so at every start.
UPDATE supplier SET document_root = code
WHERE trim(document_root, '/') = '' AND NOT EXISTS (
    SELECT 1 FROM supplier other
    WHERE other.id <> supplier.id AND (
        lower(other.code) = lower(supplier.code) AND trim(other.document_root, '/') = ''
        OR substr(lower(trim(other.document_root, '/')) || '/', 1, length(supplier.code) + 1) = lower(supplier.code) || '/'));

-- +goose Down
DROP TABLE vendor_grant;
ALTER TABLE vendor DROP COLUMN granted_only;
