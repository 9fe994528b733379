package landfall

import (
	"crypto/sha256"
	"slices"
	"strings"
	"time"
)

// Note is a remark on an account, for support to read.
type Note struct {
	Body          string
	HasBody       bool // a note may consist of documents only; an empty body is no body
	DocumentPaths []string
	CreatedAt     time.Time // zero: not sent; the time of creation counts
	Pinned        bool
	UnpinAt       time.Time // zero: stays pinned
	ExternalID    string    // of the source system; "" when none
	Extra         string    // JSON object of the fields that packs add; "" when none
}

// PinnedAt reports whether the note is pinned at an instant.
func (n Note) PinnedAt(now time.Time) bool {
	return n.Pinned && (n.UnpinAt.IsZero() || now.Before(n.UnpinAt))
}

// Fingerprint identifies a note: by its identifier in the source system; without
// one, by its body; without a body, by the set of its documents, because
// otherwise all notes without a body would be the same. A leading slash in a path
// is ignored.
func (n Note) Fingerprint() [32]byte {
	if n.ExternalID != "" {
		return sha256.Sum256([]byte("\x00\x00" + n.ExternalID))
	}
	if n.Body != "" {
		return sha256.Sum256([]byte(n.Body))
	}
	// Neither bodies nor paths contain U+0000, so no two sets, and no set and no body,
	// have the same text.
	return sha256.Sum256([]byte("\x00" + strings.Join(n.documents(), "\x00")))
}

// SameDocuments reports whether two notes have the same set of documents.
func (n Note) SameDocuments(other Note) bool { return slices.Equal(n.documents(), other.documents()) }

// documents returns the set of a note's documents, sorted.
func (n Note) documents() []string {
	paths := make([]string, len(n.DocumentPaths))
	for i, path := range n.DocumentPaths {
		paths[i] = strings.TrimPrefix(path, "/")
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// MovedNoteStart is how the body of a note starts that the service itself adds
// when it moved transactions into the open statement period.
const MovedNoteStart = "Imported transactions were moved into the open statement period:"
