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
	HasBody       bool // a note may consist of documents alone; an empty body is none
	DocumentPaths []string
	CreatedAt     time.Time // zero: not given, the time of creation counts
	Pinned        bool
	UnpinAt       time.Time // zero: stays pinned
}

// PinnedAt reports whether support sees the note on top at an instant.
func (n Note) PinnedAt(now time.Time) bool {
	return n.Pinned && (n.UnpinAt.IsZero() || now.Before(n.UnpinAt))
}

// Fingerprint stands for what a note is told apart by: its body or, when it
// has none, the set of its documents. By their empty bodies all notes that
// consist of documents would be one. A slash in front of a path means nothing.
func (n Note) Fingerprint() [32]byte {
	if n.Body != "" {
		return sha256.Sum256([]byte(n.Body))
	}
	// Neither bodies nor paths hold U+0000, so no two sets, and no set and no
	// body, are spelled alike.
	return sha256.Sum256([]byte("\x00" + strings.Join(n.documents(), "\x00")))
}

// SameDocuments reports whether two notes have the same set of documents.
func (n Note) SameDocuments(other Note) bool { return slices.Equal(n.documents(), other.documents()) }

// documents gives the set of a note's documents, in an order of its own.
func (n Note) documents() []string {
	paths := make([]string, len(n.DocumentPaths))
	for i, path := range n.DocumentPaths {
		paths[i] = strings.TrimPrefix(path, "/")
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}
