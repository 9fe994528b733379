package sqlstore

import (
	"cmp"
	"encoding/json"
	"slices"

	"landfall"
)

// note adds notes after the last one. A note without a time was made now.
func (r *accountRows) note(id any, last int64, now any, notes []landfall.Note, by rowAuthor) error {
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
		extra, err := noteExtra(n)
		if err != nil {
			return err
		}
		r.notes.Add(id, r.sealer.noteDigests(n)[0], last+int64(i+1), body, paths, created, n.Pinned, instantArg(n.UnpinAt),
			extra, by.keyID, by.requestID, by.delivery)
	}
	return nil
}

// storedExtra is the JSON of what a note has besides its columns.
type storedExtra struct {
	ExternalID string          `json:"external_id,omitempty"`
	Fields     json.RawMessage `json:"fields,omitempty"` // of packs
}

// noteExtra returns what readExtra reads; nil is NULL.
func noteExtra(n *landfall.Note) (any, error) {
	if n.ExternalID == "" && n.Extra == "" {
		return nil, nil
	}
	text, err := json.Marshal(storedExtra{n.ExternalID, json.RawMessage(n.Extra)})
	return string(text), err
}

func readExtra(stored []byte, n *landfall.Note) error {
	if len(stored) == 0 {
		return nil
	}
	var extra storedExtra
	err := json.Unmarshal(stored, &extra)
	n.ExternalID, n.Extra = extra.ExternalID, string(extra.Fields)
	return err
}

// emptyNoteDigest is the digest under which notes without a body used to be
// stored.
const emptyNoteDigest = 0

// noteLookup identifies a note that may be stored already.
type noteLookup struct {
	digest int64
	second int64 // when it was made, in microseconds, cut to the second
	timed  bool
}

// noteLookups returns what to look for to find notes, without duplicates. For a
// note without a body it includes the digest formerly used for those.
func (s *sealer) noteLookups(notes []landfall.Note) []noteLookup {
	sought := make([]noteLookup, 0, len(notes)+1)
	for i := range notes {
		one := &notes[i]
		for _, digest := range s.noteDigests(one) {
			note := noteLookup{digest: digest}
			if at := one.CreatedAt; !at.IsZero() && one.ExternalID == "" {
				note.second, note.timed = at.Unix()*1_000_000, true
			}
			sought = append(sought, note)
		}
		if one.Body == "" && one.ExternalID == "" {
			sought = append(sought, noteLookup{digest: emptyNoteDigest})
		}
	}
	slices.SortFunc(sought, func(a, b noteLookup) int {
		return cmp.Or(cmp.Compare(a.digest, b.digest), cmp.Compare(a.second, b.second))
	})
	return slices.Compact(sought)
}
