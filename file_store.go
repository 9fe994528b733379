package landfall

import "context"

// The codes of paths that were looked up in the file store.
const (
	CodeFileMissing          = "path_does_not_exist_in_file_store"
	CodeFileStoreUnavailable = "file_store_unavailable"
)

// FileStore knows where the files are that payloads refer to. It never reads
// or writes one. Paths are those the rules accepted, relative to the
// supplier's document root, with or without a leading slash.
type FileStore interface {
	// Location says where a file is expected: bucket, supplier's root,
	// path. It is "" for a path that would leave the root.
	Location(supplier Supplier, path string) string

	// Check asks whether a file exists, whatever the supplier's settings
	// say about asking. Missing is an *Error of kind Invalid with
	// CodeFileMissing. Not being able to find out is a different thing: an
	// *Error of kind Unavailable with CodeFileStoreUnavailable, worth
	// repeating. It ends within a few seconds and must not be called inside a
	// database transaction.
	Check(ctx context.Context, supplier Supplier, path string) error
}
