package sqlstore

import (
	"cmp"
	"encoding/json"
	"slices"

	"landfall"
)

// note adds notes behind the last one; those without a time were made now.
func (r *accountRows) note(id any, last int64, now any, notes []landfall.Note, by landfall.Author) error {
	for i := range notes {
		n := &notes[i]
		var body, paths any
		if n.Body != "" {
			body = n.Body
		}
		if n.DocumentPaths != nil {
			text, err := json.Marshal(n.DocumentPaths)
			if err != nil {
				return err
			}
			paths = string(text)
		}
		created := now
		if !n.CreatedAt.IsZero() {
			created = n.CreatedAt.UnixMicro()
		}
		r.notes.Add(id, r.sealer.noteDigests(n)[0], last+int64(i+1), body, paths, created, n.Pinned, instantArg(n.UnpinAt),
			textArg(by.KeyID), textArg(by.RequestID))
	}
	return nil
}

// unwrittenDigest is what notes without a body used to be kept under.
const unwrittenDigest = 0

// noteSought is what a note is found by that may be there already.
type noteSought struct {
	digest int64
	second int64 // in which it was made, in microseconds
	timed  bool
}

// seek gives what notes are found by, each once, with what those without a body
// used to be kept under.
func (s *sealer) seek(notes []landfall.Note) []noteSought {
	sought := make([]noteSought, 0, len(notes)+1)
	for i := range notes {
		one := &notes[i]
		for _, digest := range s.noteDigests(one) {
			note := noteSought{digest: digest}
			if at := one.CreatedAt; !at.IsZero() {
				note.second, note.timed = at.Unix()*1_000_000, true
			}
			sought = append(sought, note)
		}
		if one.Body == "" {
			sought = append(sought, noteSought{digest: unwrittenDigest})
		}
	}
	slices.SortFunc(sought, func(a, b noteSought) int {
		return cmp.Or(cmp.Compare(a.digest, b.digest), cmp.Compare(a.second, b.second))
	})
	return slices.Compact(sought)
}
