package ledger

import (
	"time"

	"landfall"
)

// NoteResult is what became of one posted note.
type NoteResult struct {
	Note landfall.Note  // with the time it has on the account
	Had  *landfall.Note // what the account had already; nil: the note is new
}

// Created says that the account did not have it.
func (r NoteResult) Created() bool { return r.Had == nil }

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
		known.add(existing[i].Fingerprint(), &existing[i])
	}
	results := make([]NoteResult, 0, len(p.notes))
	var fresh []landfall.Note
	for i, note := range p.notes {
		had := known.find(p.prints[i], note.CreatedAt)
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

// knownNotes are the notes of an account by fingerprint: the first one and, for
// those that come with a time, the first of every time there is. Looking one up
// takes as long with a thousand notes as with one.
type knownNotes map[[32]byte]*noteTimes

// noteTimes are the notes of one text. The same words said twice are two notes.
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
