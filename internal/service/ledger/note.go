package ledger

import (
	"time"

	"landfall"
)

// NoteResult is the result for one posted note.
type NoteResult struct {
	Note landfall.Note  // with its time on the account
	Had  *landfall.Note // the same note if it exists already; nil: the note is new
}

// Created reports whether the note is new to the account.
func (r NoteResult) Created() bool { return r.Had == nil }

// NotePost is a list of notes to be added to an account. Fingerprints are slow
// with many notes and documents, so they are computed when it is made, before
// anything is locked.
type NotePost struct {
	notes  []landfall.Note
	prints [][32]byte
}

// PrepareNotes prepares a list of notes for posting.
func PrepareNotes(notes []landfall.Note) NotePost {
	post := NotePost{notes: notes, prints: make([][32]byte, len(notes))}
	for i := range notes {
		post.prints[i] = notes[i].Fingerprint()
	}
	return post
}

// Onto decides which of the notes are new to an account with the existing ones.
// A note exists already if another has the same fingerprint and, if the posted
// note has a time, the same time. With an external_id the time does not matter. This rule is not symmetric: a note without a
// time matches any time. So no unique index can express it, and order matters.
// Earlier notes of the same post count too.
func (p NotePost) Onto(existing []landfall.Note, now time.Time) ([]NoteResult, []landfall.Note) {
	known := make(knownNotes, len(existing)+len(p.notes))
	for i := range existing {
		known.add(existing[i].Fingerprint(), &existing[i])
	}
	results := make([]NoteResult, 0, len(p.notes))
	var fresh []landfall.Note
	for i, note := range p.notes {
		at := note.CreatedAt
		if note.ExternalID != "" {
			at = time.Time{}
		}
		had := known.find(p.prints[i], at)
		switch {
		case had != nil:
			note.CreatedAt = had.CreatedAt
		case note.CreatedAt.IsZero():
			note.CreatedAt = now.UTC().Truncate(time.Second)
		}
		if had == nil {
			known.add(p.prints[i], &note)
			fresh = append(fresh, note)
		}
		results = append(results, NoteResult{Note: note, Had: had})
	}
	return results, fresh
}

// knownNotes are the notes of an account by fingerprint: for each, the first
// note and the first note of every time. A lookup takes constant time.
type knownNotes map[[32]byte]*noteTimes

// noteTimes are the notes with one fingerprint. The same text at two times is
// two notes.
type noteTimes struct {
	first *landfall.Note
	all   map[int64]*landfall.Note // by seconds
}

func (k knownNotes) add(fingerprint [32]byte, note *landfall.Note) {
	times := k[fingerprint]
	if times == nil {
		times = &noteTimes{first: note, all: map[int64]*landfall.Note{}}
		k[fingerprint] = times
	}
	if at := note.CreatedAt.Unix(); times.all[at] == nil {
		times.all[at] = note
	}
}

func (k knownNotes) find(fingerprint [32]byte, at time.Time) *landfall.Note {
	times := k[fingerprint]
	switch {
	case times == nil:
		return nil
	case at.IsZero():
		return times.first
	}
	return times.all[at.Unix()]
}
