package accountview

import (
	"slices"
	"time"
	"unicode/utf8"

	"landfall"
)

// Note is a remark on the account. Who may not read it still sees that it is
// there, how long it is, and which documents belong to it.
type Note struct {
	CreatedAt  NullString `json:"created_at"`
	Pinned     bool       `json:"is_pinned"`
	PinnedNow  bool       `json:"pinned_now"`
	UnpinAt    NullString `json:"unpin_at"`
	Characters int        `json:"characters"`
	Body       *string    `json:"body,omitempty"` // personal
	Documents  []string   `json:"documents"`
	TooLong    bool       `json:"-"` // for a page
}

// newNotes gives them as support sees them: those pinned now on top, and the
// newest first among equals.
func newNotes(given []landfall.Note, options Options) []Note {
	sorted := slices.Clone(given)
	slices.SortStableFunc(sorted, func(x, y landfall.Note) int {
		return compareNotes(x, y, options.Now)
	})
	return convert(sorted, func(n landfall.Note) Note {
		return newNote(landfall.NumberedNote{Note: n, Bytes: len(n.Body)}, options)
	})
}

// newNote says how long a text is without showing it; one that is too long for a
// portrait is cut and says so.
func newNote(n landfall.NumberedNote, options Options) Note {
	shown := Note{
		CreatedAt: formatInstant(n.CreatedAt), Pinned: n.Pinned, PinnedNow: n.PinnedAt(options.Now), UnpinAt: formatInstant(n.UnpinAt),
		Characters: utf8.RuneCountInString(n.Body), Documents: convert(n.DocumentPaths, options.locate),
	}
	if n.Bytes > len(n.Body) {
		shown.Characters, shown.TooLong = n.Bytes, true
	}
	if options.Personal && n.HasBody {
		shown.Body = &n.Body
	}
	return shown
}

// compareNotes orders two notes; a pin that has ended counts for nothing.
func compareNotes(x, y landfall.Note, now time.Time) int {
	switch pinned := x.PinnedAt(now); {
	case pinned == y.PinnedAt(now):
		return y.CreatedAt.Compare(x.CreatedAt)
	case pinned:
		return -1
	}
	return 1
}

// locate says where a document is expected, and the path when nowhere is.
func (o Options) locate(path string) string {
	if path == "" || o.DocumentURL == nil {
		return path
	}
	if place := o.DocumentURL(path); place != "" {
		return place
	}
	return path
}
