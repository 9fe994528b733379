package landfall

import "time"

// Note is a remark on an account, for support to read.
type Note struct {
	Body          string
	HasBody       bool // a note may consist of documents alone
	DocumentPaths []string
	CreatedAt     time.Time // zero: not given, the time of creation counts
	Pinned        bool
	UnpinAt       time.Time // zero: stays pinned
}

// ShownPinned reports whether support sees the note on top at an instant.
func (n Note) ShownPinned(now time.Time) bool {
	return n.Pinned && (n.UnpinAt.IsZero() || now.Before(n.UnpinAt))
}
