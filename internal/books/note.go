package books

import (
	"slices"
	"strings"
	"time"

	"landfall"
)

// NoteResult is what became of one posted note.
type NoteResult struct {
	Note    landfall.Note // with the time it has on the account
	Created bool          // false: the account had it already
}

// PostNotes decides which of the posted notes are new to an account that has
// the existing ones. A note is there already when one has the same body and,
// if the posted one says when it was made, the same time. That rule is not
// symmetric: a note without a time matches any time, so no unique index can
// express it, and order matters. Notes earlier in the same post count too.
func PostNotes(existing, posted []landfall.Note, now time.Time) ([]NoteResult, []landfall.Note) {
	known := slices.Clone(existing)
	results := make([]NoteResult, 0, len(posted))
	for _, note := range posted {
		if i := slices.IndexFunc(known, func(other landfall.Note) bool { return sameNote(other, note) }); i >= 0 {
			note.CreatedAt = known[i].CreatedAt
			results = append(results, NoteResult{Note: note})
			continue
		}
		if note.CreatedAt.IsZero() {
			note.CreatedAt = now.UTC().Truncate(time.Second)
		}
		known = append(known, note)
		results = append(results, NoteResult{Note: note, Created: true})
	}
	return results, known[len(existing):]
}

// sameNote says whether a posted note is one the account has. Notes that
// consist of documents alone are told apart by the set of their paths: by their
// empty bodies the second one would be lost.
func sameNote(known, posted landfall.Note) bool {
	if known.HasBody != posted.HasBody || known.Body != posted.Body {
		return false
	}
	if !posted.HasBody && !sameSet(known.DocumentPaths, posted.DocumentPaths) {
		return false
	}
	return posted.CreatedAt.IsZero() || posted.CreatedAt.Equal(known.CreatedAt)
}

// sameSet compares what the paths name: one slash in front means nothing.
func sameSet(a, b []string) bool { return slices.Equal(named(a), named(b)) }

func named(paths []string) []string {
	names := make([]string, 0, len(paths))
	for _, path := range paths {
		names = append(names, strings.TrimPrefix(path, "/"))
	}
	slices.Sort(names)
	return slices.Compact(names)
}
