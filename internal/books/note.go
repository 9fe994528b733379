package books

import (
	"time"

	"landfall"
)

// NoteResult is what became of one posted note.
type NoteResult struct {
	Note    landfall.Note // with the time it has on the account
	Created bool          // false: the account had it already
}

// NotePost is a list of notes on its way onto an account. What takes long with
// many notes and many documents is done when it is made, before anything is
// locked.
type NotePost struct {
	notes  []landfall.Note
	prints [][32]byte
}

// PrepareNotes makes a list of notes ready to be posted.
func PrepareNotes(notes []landfall.Note) NotePost {
	post := NotePost{notes: notes, prints: make([][32]byte, len(notes))}
	for i := range notes {
		post.prints[i] = notes[i].Fingerprint()
	}
	return post
}

// Onto decides which of the notes are new to an account that has the existing
// ones. A note is there already when one has the same fingerprint and, if the
// posted one says when it was made, the same time. That rule is not symmetric:
// a note without a time matches any time, so no unique index can express it,
// and order matters. Notes earlier in the same post count too.
func (p NotePost) Onto(existing []landfall.Note, now time.Time) ([]NoteResult, []landfall.Note) {
	known := make(knownNotes, len(existing)+len(p.notes))
	for i := range existing {
		known.add(existing[i].Fingerprint(), existing[i].CreatedAt)
	}
	results := make([]NoteResult, 0, len(p.notes))
	var fresh []landfall.Note
	for i, note := range p.notes {
		at, there := known.find(p.prints[i], note.CreatedAt)
		if !there {
			if at = note.CreatedAt; at.IsZero() {
				at = now.UTC().Truncate(time.Second)
			}
			known.add(p.prints[i], at)
		}
		note.CreatedAt = at
		if !there {
			fresh = append(fresh, note)
		}
		results = append(results, NoteResult{Note: note, Created: !there})
	}
	return results, fresh
}

// knownNotes are the notes of an account by fingerprint: the time of the first
// one and, for those that come with a time, every time there is. Looking one
// up takes as long with a thousand notes as with one.
type knownNotes map[[32]byte]*noteTimes

// noteTimes are the times of one text. The same words said twice are two notes.
type noteTimes struct {
	first time.Time
	all   map[int64]bool // seconds
}

// add keeps the first time apart: a note sent again without one means that one.
func (k knownNotes) add(fingerprint [32]byte, at time.Time) {
	times := k[fingerprint]
	if times == nil {
		times = &noteTimes{first: at, all: map[int64]bool{}}
		k[fingerprint] = times
	}
	times.all[at.Unix()] = true
}

// find compares to the second, which is as exact as notes are written down.
func (k knownNotes) find(fingerprint [32]byte, at time.Time) (time.Time, bool) {
	times := k[fingerprint]
	switch {
	case times == nil:
		return time.Time{}, false
	case at.IsZero():
		return times.first, true
	}
	return at, times.all[at.Unix()]
}
