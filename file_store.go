package landfall

import "context"

// The error codes of the file store.
const (
	CodeFileMissing          = "path_does_not_exist_in_file_store"
	CodeFileStoreUnavailable = "file_store_unavailable"
)

// FileStore looks up the files that payloads refer to. It never reads or writes
// one. Paths are those the rules accepted, relative to the supplier's document
// root, with or without a leading slash.
type FileStore interface {
	// Location returns where a file is expected: bucket, supplier's root, path. It
	// is "" for a path outside the root.
	Location(supplier Supplier, path string) string

	// Check checks that a file exists, whatever the supplier's settings say about
	// verification. A missing file is an *Error of kind Invalid with
	// CodeFileMissing. When the file store cannot be asked, it returns an *Error of
	// kind Unavailable with CodeFileStoreUnavailable, and the call may be repeated.
	// It returns within a few seconds and must not be called inside a database
	// transaction.
	Check(ctx context.Context, supplier Supplier, path string) error
}
