package landfall

import "context"

// The codes of document paths that were looked up.
const (
	CodeDocumentMissing      = "path_does_not_exist_in_file_store"
	CodeFileStoreUnavailable = "file_store_unavailable"
)

// Documents knows where the files are that payloads refer to. It never reads
// or writes one. Paths are those the rules accepted, relative to the
// supplier's document root, with or without a leading slash.
type Documents interface {
	// Location says where a document is expected: bucket, supplier's root,
	// path. It is "" for a path that would leave the root.
	Location(supplier Supplier, path string) string

	// Check asks whether a document exists, whatever the supplier's settings
	// say about asking. Missing is an *Error of kind Invalid with
	// CodeDocumentMissing. Not being able to find out is a different thing: an
	// *Error of kind Unavailable with CodeFileStoreUnavailable, worth
	// repeating. It ends within a few seconds and must not be called inside a
	// database transaction.
	Check(ctx context.Context, supplier Supplier, path string) error
}
