package accountview

import (
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"

	"landfall"
)

// Note is a note on the account. Without personal data it has its length and
// documents.
type Note struct {
	CreatedAt  NullString `json:"created_at"`
	Pinned     bool       `json:"is_pinned"`
	PinnedNow  bool       `json:"pinned_now"`
	UnpinAt    NullString `json:"unpin_at"`
	Characters int        `json:"characters"`
	Body       *string    `json:"body,omitempty"` // personal
	Documents  []string   `json:"documents"`
	ExternalID string     `json:"external_id,omitempty"`
	PackFields Extra      `json:"pack_fields,omitempty"` // personal
	TooLong    bool       `json:"-"`                     // too long for a page
}

// newNotes returns pinned notes first, then the newest.
func newNotes(notes []landfall.Note, options Options) []Note {
	sorted := slices.Clone(notes)
	slices.SortStableFunc(sorted, func(x, y landfall.Note) int {
		return compareNotes(x, y, options.Now)
	})
	return convert(sorted, func(n landfall.Note) Note {
		return newNote(landfall.NumberedNote{Note: n, Bytes: len(n.Body)}, options)
	})
}

// newNote has the length of the text even without the text. The store cuts texts
// that are too long for a page.
func newNote(n landfall.NumberedNote, options Options) Note {
	shown := Note{
		CreatedAt: formatInstant(n.CreatedAt), Pinned: n.Pinned, PinnedNow: n.PinnedAt(options.Now), UnpinAt: formatInstant(n.UnpinAt),
		Characters: utf8.RuneCountInString(n.Body), Documents: convert(n.DocumentPaths, options.locate),
		ExternalID: n.ExternalID, PackFields: options.extra(n.Extra),
	}
	if n.Bytes > len(n.Body) {
		shown.Characters, shown.TooLong = n.Bytes, true
	}
	if options.Personal && n.HasBody {
		shown.Body = &n.Body
	}
	return shown
}

// Extra is the JSON of the fields that packs add to an object.
type Extra json.RawMessage

// MarshalJSON writes the fields.
func (e Extra) MarshalJSON() ([]byte, error) { return e, nil }

// String returns the JSON, or what is to be said instead of it.
func (e Extra) String() string {
	switch string(e) {
	case hiddenExtra:
		return "hidden"
	case landfall.ExtraTooLong:
		return "too long to show here"
	}
	return string(e)
}

// hiddenExtra replaces fields that may be personal.
const hiddenExtra = `"hidden"`

// extra returns the fields of packs, which may be personal.
func (o Options) extra(fields string) Extra {
	if fields == "" || o.Personal {
		return Extra(fields)
	}
	return Extra(hiddenExtra)
}

// compareNotes sorts pinned notes first, then by time.
func compareNotes(x, y landfall.Note, now time.Time) int {
	switch pinned := x.PinnedAt(now); {
	case pinned == y.PinnedAt(now):
		return y.CreatedAt.Compare(x.CreatedAt)
	case pinned:
		return -1
	}
	return 1
}

// locate returns the URL of a document, or its path. Both often contain a name or an
// address.
func (o Options) locate(path string) string {
	if !o.Personal || path == "" || o.DocumentURL == nil {
		return o.mask(MaskAll)(path)
	}
	if location := o.DocumentURL(path); location != "" {
		return location
	}
	return path
}
